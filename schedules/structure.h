// What a space asks of an algorithm: which stages are real work, how they read each other, how large their loops are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/problem.h"

namespace kiln::schedules {

// How a schedule refers to a stage: `B.in()` for the wrapper of an input, else the stage's name.
std::string reference(const Algorithm& algorithm, const std::string& stage);

// A name for a new loop: `base`, with underscores behind it while it is among the names taken, or while one of the stage's loops bears it.
std::string new_name(std::string base, const std::vector<std::string>& taken);
std::string new_loop(const Stage& stage, const std::string& base);

// An output with updates keeps its sums in the caller's memory. The same algorithm with a stage behind each such output, its wrapper `C.in()`, which
// stores what the other computed: what schedules may then place as they place any stage. Outputs that others read, or that scatter, stay as they are.
Algorithm with_stored_outputs(const Algorithm& algorithm);

// Of such a wrapper, the output that it stores; nothing for other stages.
std::optional<std::string> stored_output(const Algorithm& algorithm, const std::string& stage);

// A stage's name as knobs bear it: without brackets.
std::string knob_suffix(const std::string& stage);

// The extents of an output stage's loops under the problem, innermost first.
std::vector<std::int64_t> output_extents(const Algorithm& algorithm, const Problem& problem, const std::string& output);

// The value of an expression over constants and the extents of arguments; nothing when it depends on more.
std::optional<std::int64_t> evaluate(const Expression& expression, const Algorithm& algorithm, const Problem& problem);

// The widest type of any stage: what vectors of a loop over several stages are measured by, as bf16 read, f32 computed, bytes written.
DType widest_type(const Algorithm& algorithm);

// Elements of this type in the device's widest register, at least 1.
std::int64_t lanes_of(const Device& device, DType type);

// The widest power of two that is at most `lanes` and `extent`, then the one below it: the vector widths worth trying on a loop of that extent.
std::vector<std::int64_t> vector_widths(std::int64_t lanes, std::int64_t extent);

// The numbers of `candidates` that are at most `most`; 1 when there are none.
std::vector<std::int64_t> at_most(std::vector<std::int64_t> candidates, std::int64_t most);

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Whether every index of the load is the consumer's loop of the same position: the stage is read point by point.
bool is_pointwise_load(const Expression& load, const Stage& consumer);

// product(n, m) += a(k, m) * b(n, k), read point by point by pure stages up to the one output. The output is another stage: a product that is
// itself the output has nowhere to keep its sums in registers (see with_stored_outputs). Or the same in pairs of k:
// += a(2 * k + pair, m) * b(pair, n, k) over pairs of two, where b is a stage that lays two rows side by side.
struct Contraction {
  std::string output, output_n, output_m;     // the output stage and its loops
  std::string product, product_n, product_m;  // the stage with the reduction and its loops
  std::string k;                              // the reduction variable; of a product in pairs the one that counts them
  std::string pair;                           // the reduction variable within a pair; empty: not in pairs
  std::string b;                              // the stage read as b
  std::string b_inner, b_pair;                // its dimension along n, and within a pair
  DType type;                                 // of the accumulator
  std::int64_t extent_m = 1, extent_n = 1, extent_k = 1;
  bool in_pairs() const { return !pair.empty(); }
};
std::optional<Contraction> find_contraction(const Algorithm& algorithm, const Problem& problem);

}  // namespace kiln::schedules
