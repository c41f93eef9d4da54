// What `prefetch` may ask for, checked when all loops and places are known: Halide drops a prefetch whose loop or reads it does not find.
#pragma once

#include <optional>

#include "dsl/legality.h"
#include "dsl/loop_nest.h"

namespace kiln {

// The earliest prefetch whose loops are gone or whose buffer is not read inside them, does not exist yet there, or is fetched there already.
std::optional<Illegal> find_misfetched(const LoopNest& nest);

}  // namespace kiln
