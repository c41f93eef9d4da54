// What an expression over the extents of a call's arguments is worth for a problem: the length of a reduction, a requirement of the author.
#pragma once

#include <cstdint>
#include <optional>

#include "dsl/algorithm.h"
#include "dsl/problem.h"

namespace kiln {

// The integer (or 0 and 1 of a condition) that the expression is for these extents, with all mins 0; nothing where it depends on more than them.
std::optional<std::int64_t> evaluate_extents(const Expression& expression, const Algorithm& algorithm, const Problem& problem);

}  // namespace kiln
