// How far an output may be from the reference: derived from the algorithm and the problem, never from a candidate.
#pragma once

#include <cstdint>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/problem.h"

namespace kiln {

// error <= relative * max(|reference|, rms(reference)) + ulp(reference, output type) / 2 for floats; integers are equal. At most `outlier_fraction`
// of the elements may miss that.
struct Tolerance {
  double relative = 0;
  double outlier_fraction = 0;
  bool operator==(const Tolerance&) const = default;
};

// One per output argument, in the order of the output arguments. For what feeds the output (stages it loads, directly or not):
//   relative = 8 * max over float arithmetic of epsilon(type) * sqrt(K), K the points of its reduction domain (1 outside reductions; an extent
//              that cannot be known before the call, because it depends on data or loops, counts as the largest extent of any argument)
//            + epsilon of every narrower float type that a cast rounds to on the way, each once;
//   outlier_fraction = the declared one; undeclared 1e-5 where a float is cast to an integer or its bits are read as one, and for integer outputs
//   also where floats are compared.
std::vector<Tolerance> tolerances(const Algorithm& algorithm, const Problem& problem);

}  // namespace kiln
