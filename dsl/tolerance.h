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
//            + epsilon of every narrower float type that a cast rounds to on the way, each once
//            + 8 * 2^-13 * sqrt(steps), where a reduction adds products of two decoded codes of E4M3, also by way of other floats;
//   outlier_fraction = the declared one; undeclared 1e-5 where a float is cast to an integer or its bits are read as one, and for integer outputs
//   also where floats are compared.
// The last term: the tensor cores add such products 32 at a time, each step with 13 bits under the largest term or the sum so far, whichever is larger, and cut
// off the rest. That is a sum in floats of epsilon 2^-13 with an error for each step, not for each term; `steps` are those of 128 terms, after which sums are
// added up elsewhere, 4 of them (2^-9), or of all terms under the contract `free`, which lets them stay: K / 32. For terms of one order, as normal numbers are.
// By the hardware's arithmetic (the emulator's is the same to the bit) the largest error, measured as above, is 1.0e-3 promoted (1.5e-3 where all are positive),
// so 2^-9 has a factor of 2.0 (1.3) to spare at every K; of plain sums 3.8e-3 at K = 1024 (allowed 5.5e-3, and half as much where they must be promoted) and
// 7.8e-3 at 4096 (allowed 1.1e-2). Plain sums of positive terms lose in proportion to K, 6.6 % at 4096, and are not allowed by any contract.
std::vector<Tolerance> tolerances(const Algorithm& algorithm, const Problem& problem);

}  // namespace kiln
