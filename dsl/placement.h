// Where each stage is computed and stored, seen from the places that read it; and how many iterations its loops have there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dsl/legality.h"
#include "dsl/loop_nest.h"

namespace kiln {

// One of the loops around a place.
struct EnclosingLoop {
  int stage = 0;
  int definition = 0;
  int variable = 0;
  bool operator==(const EnclosingLoop&) const = default;
};

// Checks compute_at, store_at, hoist_storage and fold_storage against every read, as Halide does: the loop must enclose them all, through inlined
// stages and those computed further in. Returns why one cannot stand and which places can, with the earliest directive that asked for one.
std::optional<Illegal> find_misplaced(const LoopNest& nest);

// The iterations of a stage's dimensions at the place where it is computed, known while compiling; an upper bound where a tail guards.
std::vector<std::optional<std::int64_t>> constant_extents(const LoopNest& nest, int stage);

// How far each of a definition's own loops reaches while only the loops inside place `inside` of its order run, where that is known.
std::vector<std::optional<std::int64_t>> spans_within(const Definition& definition, int inside);

}  // namespace kiln
