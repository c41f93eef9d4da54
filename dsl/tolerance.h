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
//            + epsilon of a narrower float type that casts of a stage round to, once for each such stage: a value near the edge between two may be rounded
//              the other way in each of them, and the worst of millions of elements is
//            + 8 * 2^-13 * sqrt(steps), where a reduction adds products of two decoded codes of E4M3, also by way of other floats, see below;
//   outlier_fraction = the declared one; undeclared 1e-5 where a float is cast to an integer or its bits are read as one, and for integer outputs
//   also where floats are compared.
// The last term: the tensor cores add such products 32 at a time, each step with 13 bits under the largest term or the sum so far, whichever is larger, and cut
// off the rest. That is a sum in floats of epsilon 2^-13 with an error for each step, not for each term. `steps` are those of 128 terms, after which sums are
// added up elsewhere: 4, so 2^-9. Under the contract `free` sums may stay: steps are those of all terms, and the whole is doubled, since what every step cuts
// off one sum has one sign. For terms of one order, as normal numbers are (normal_codes), with scales that differ by a third: the largest error among a million
// sums by the hardware's arithmetic (the emulator's is the same to the bit), as a share of what is allowed:
//   promoted   0.8 at K = 128, 0.5 at 1024, 0.4 at 4096; of positive terms 0.9, 0.5, 0.4
//   plain      0.4 at K = 1024, 0.5 at 4096, 0.4 at 16384; where sums must be promoted 2.4, 5.5 and 9, so that a lost promotion shows from 1024 terms on,
//              unless the output is rounded to 16 bits, whose own term is larger
// Plain sums of positive terms lose in proportion to K, 6.6 % at 4096: no contract allows that.
std::vector<Tolerance> tolerances(const Algorithm& algorithm, const Problem& problem);

}  // namespace kiln
