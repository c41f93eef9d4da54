// A number in the memory of its type.
#pragma once

#include <cstddef>

#include "dsl/dtype.h"

namespace kiln {

// `value` as `type` at `at`, rounded to nearest even: as many bytes as the type has.
void store_element(std::byte* at, DType type, double value);

}  // namespace kiln
