// Problems beside the timed one on which a candidate is checked: extents that no tile divides.
#pragma once

#include <vector>

#include "dsl/algorithm.h"
#include "dsl/problem.h"

namespace kiln::autotune {

// In the order in which they are worth trying; the first whose bounds the reference and the candidate accept is used:
//   1. every extent above 8 becomes the largest prime below it, at most 251: small, so the reference is quick;
//   2. every extent above 8 becomes one less: for tiles larger than those primes;
//   3. only extents that no input has a dimension of become one less: always within the inputs, whatever ties them to the outputs.
// Extents up to 8 (channels, taps) stay: generators fix them. An extent that the author requires something of, "k is even", is lowered further until
// that holds. Repeated or unchanged problems are left out.
std::vector<Problem> ragged_problems(const Problem& problem, const Algorithm& algorithm);

// `wished` with each extent lowered until what the author requires of it holds, or as `problem` has it where no smaller one will do. A requirement of
// several extents is left alone: which one to lower is not ours to guess.
Problem within_requirements(Problem wished, const Problem& problem, const Algorithm& algorithm);

}  // namespace kiln::autotune
