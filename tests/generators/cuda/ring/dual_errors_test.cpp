// What a ring of two products cannot honour is refused, and the words say which requirement failed and what would do.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "dsl/error.h"
#include "dsl/problem.h"
#include "dsl/schedule.h"
#include "generators/cuda/lower.h"
#include "generators/cuda/predict.h"
#include "schedules/devices.h"
#include "tests/generators/cuda/stream/algorithms.h"

namespace kiln::tests {
namespace {

constexpr const char* kProblem = "gated_by_columns(m=256, n=512, k=1024)";
constexpr const char* kWhole =
    "y.tile(n, m, no, mo, ni, mi, 128, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative)\n"
    "gate_sum.compute_at(y, no)\ngate_sum.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 4).tensorize(ki, wgmma)\n"
    "up_sum.compute_at(y, no)\nup_sum.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 4).tensorize(ki, wgmma)\n";

std::string words_for(const Algorithm& algorithm, const std::string& problem, const std::string& schedule) {
  try {
    const auto program = generators::cuda::lower(algorithm, parse_schedule(schedule), resolve(parse_problem_text(problem), algorithm));
    const auto unfit = generators::cuda::find_unfit(program, *schedules::device_named("h200").gpu);
    return unfit ? unfit->text : "accepted";
  } catch (const ScheduleError& error) {
    return error.what();
  }
}

std::string with(const std::string& part, const std::string& by) {
  std::string schedule = kWhole;
  const std::size_t at = schedule.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return schedule.replace(at, part.size(), by);
}

ExpressionPtr replaced(const ExpressionPtr& expression, const std::string& from, const std::string& to) {
  std::string text = print(*expression);
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
  return parse_expression(text);
}

void replace(Stage& stage, const std::string& from, const std::string& to) {
  for (ExpressionPtr& value : stage.values) value = replaced(value, from, to);
  for (Update& update : stage.updates) {
    for (ExpressionPtr& value : update.values) value = replaced(value, from, to);
    for (ReductionVariable& variable : update.reduction) variable.extent = replaced(variable.extent, from, to);
  }
}

Stage& stage_of(Algorithm& algorithm, const std::string& name) {
  return *std::find_if(algorithm.stages.begin(), algorithm.stages.end(), [&](const Stage& stage) { return stage.name == name; });
}

// The algorithm with parts of a stage's texts replaced.
Algorithm changed(Algorithm algorithm, const std::string& stage, const std::string& from, const std::string& to) {
  replace(stage_of(algorithm, stage), from, to);
  return algorithm;
}

// And a sum more, as `sum` is but of other columns, which is added to y.
Algorithm with_another_sum(Algorithm algorithm, const std::string& sum, const std::string& columns) {
  Argument argument = *std::find_if(algorithm.arguments.begin(), algorithm.arguments.end(), [&](const Argument& one) { return one.name == columns; });
  argument.name = "w_more";
  algorithm.arguments.insert(algorithm.arguments.begin(), argument);
  for (auto& [symbol, places] : algorithm.symbols)
    for (std::size_t i = places.size(); i-- > 0;)
      if (places[i].argument == columns) places.push_back({"w_more", places[i].dimension});
  for (const std::string& name : {columns + ".in", sum}) {
    Stage more = stage_of(algorithm, name);
    more.name = name == sum ? "more_sum" : "w_more.in";
    for (const auto& [from, to] : {std::pair{columns, "w_more"}, {columns + ".in", "w_more.in"}, {sum, "more_sum"}}) replace(more, " " + from + " ", std::string(" ") + to + " ");
    algorithm.stages.insert(algorithm.stages.begin() + (name == sum ? 1 : 0), more);
  }
  Stage& y = algorithm.stages.back();
  y.values = {parse_expression("(cast bf16 (add f32 (load f32 more_sum 0 n m) (cast f32 " + print(*y.values[0]) + ")))")};
  return algorithm;
}

std::string tensorized(const std::string& sum, const std::string& depth) {
  return sum + ".compute_at(y, no)\n" + sum + ".update(0).split(k, ko, ki, " + depth + ").stage_in(ko, shared, 4).tensorize(ki, wgmma)\n";
}

struct Refused {
  const char *part, *by, *words;
};

TEST(DualErrors, say_what_was_asked_and_what_would_do) {
  const std::vector<Refused> all = {
      {"128, 128, Guard", "256, 128, Guard", "y: a tile of 256 columns of 2 products; one wgmma takes 256 of both together: 128 each"},
      {"128, 128, Guard", "96, 128, Guard", "y: a tile of 96 columns; the columns of a term of wg are neighbours, and come 64 at a time"},
      {"128, 128, Guard", "128, 256, Guard",
       "gated_by_columns_y: a tile of m=256 n=256 takes 256 registers of a consumer's thread; of its 240 at most 208 can be. With m=256 the largest n that fits is 208. n counts the "
       "columns of both products."},
      {"up_sum.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 4)", "up_sum.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 3)",
       "y: gate_sum and up_sum share a ring: their terms are split by one factor and staged as often, found 64 in 4 stages and 64 in 3"},
      {"up_sum.update(0).split(k, ko, ki, 64)", "up_sum.update(0).split(k, ko, ki, 128)",
       "y: gate_sum and up_sum share a ring: their terms are split by one factor and staged as often, found 64 in 4 stages and 128 in 4"},
      {"up_sum.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 4).tensorize(ki, wgmma)\n", "",
       "y: a ring needs the sum tensorized and what it reads staged: write up_sum.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 4).tensorize(ki, wgmma)"},
      {"up_sum.compute_at(y, no)\nup_sum.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 4).tensorize(ki, wgmma)\n", "",
       "y cannot be made one kernel: up_sum would be summed anew for each element that reads it; give it compute_at(y, no) or compute_root()"},
      {"shared, 4).tensorize(ki, wgmma)\nup_sum", "shared, 4).tensorize(ki, wgmma).split_reduction(ko, 2, fixed)\nup_sum",
       "y: split_reduction: the blocks of a cluster add up the sums of one product; this kernel has two"},
      {"cooperative)", "cooperative).evict(wg, first)", "y: wg and wu come through the ring as one operand: say the same l2_promotion and evict of each"},
      {"cooperative)", "cooperative).l2_promotion(wu, 128)", "y: wg and wu come through the ring as one operand: say the same l2_promotion and evict of each"},
      {"128, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative)", "256, 16, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative).swap_operands()",
       "y: a tile of 256 columns of 2 products; consumers that share it take 64 each: 128"},
  };
  EXPECT_EQ(words_for(gated_by_columns(), kProblem, kWhole), "accepted");
  for (const Refused& one : all) EXPECT_EQ(words_for(gated_by_columns(), kProblem, with(one.part, one.by)), one.words) << one.by;
}

TEST(DualErrors, of_products_that_share_no_kernel) {
  const Algorithm gated = gated_by_columns();
  EXPECT_EQ(words_for(changed(gated, "up_sum", "wu.in", "wg.in"), kProblem, kWhole), "y: x is multiplied by wg twice");
  EXPECT_EQ(words_for(changed(gated, "up_sum", "(load bf16 wu.in 0 n (reduction i32 k))", "(load bf16 wu.in 0 (reduction i32 k) n)"), "gated_by_columns(m=256, n=512, k=512)", kWhole),
            "y: the neighbours in wu are terms and in wg columns; matrices that share a kernel lie in one order");
  EXPECT_EQ(words_for(changed(gated, "up_sum", "x.in", "wu.in"), "gated_by_columns(m=512, n=512, k=512)", kWhole),
            "y: x and wu are both read by row and term; products that share a kernel are of the rows of one matrix");
}

// One instruction takes the columns of both.
TEST(DualErrors, of_an_instruction_for_which_a_block_begins_with_too_few_registers) {
  const std::string wide = "y.tile(n, m, no, mo, ni, mi, 128, 192, GuardWithIf).gpu_blocks(no, mo).warps(1, 3, cooperative)\n" + tensorized("gate_sum", "64") + tensorized("up_sum", "64");
  EXPECT_EQ(words_for(gated_by_columns(), kProblem, wide),
            "gated_by_columns_y: a wgmma of n=256 needs 154 registers a thread; a block of 512 threads starts with 128 (C7602). The largest n that fits is 200. n counts the columns of both products.");
}

// The word of either counts.
TEST(DualErrors, of_plain_sums_of_what_is_no_code) {
  Algorithm gated = gated_by_columns();
  gated.contract = Contract::free;
  const std::string tile = "y.tile(n, m, no, mo, ni, mi, 64, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative)\n";
  const auto plainly = [](std::string text) { return text.replace(text.find("wgmma"), 5, "wgmma, plain"); };
  const char* words = "y: tensorize(…, plain) is of sums of 8-bit floats, and x is of bf16: sums of all others stay in the tensor cores as it is";
  EXPECT_EQ(words_for(gated, kProblem, tile + plainly(tensorized("gate_sum", "64")) + tensorized("up_sum", "64")), words);
  EXPECT_EQ(words_for(gated, kProblem, tile + tensorized("gate_sum", "64") + plainly(tensorized("up_sum", "64"))), words);
}

TEST(DualErrors, of_sums_that_no_kernel_keeps_beside_each_other) {
  EXPECT_EQ(words_for(with_another_sum(gated_by_columns(), "up_sum", "wu"), kProblem, kWhole + tensorized("more_sum", "64")), "y: 3 products are summed for each element; 2 at most share a kernel");
  const std::string of_codes = "y.tile(n, m, no, mo, ni, mi, 64, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative)\n" + tensorized("c", "128") + tensorized("more_sum", "128");
  EXPECT_EQ(words_for(with_another_sum(dot_of_codes(), "c", "w"), "dot_of_codes(m=256, n=512, k=1024)", of_codes),
            "y: w_more and w are of 8-bit floats, of which a kernel sums one product; compute each at root");
  EXPECT_EQ(words_for(changed(gated_by_columns(), "up_sum", "x.extent.0", "x.extent.1"), "gated_by_columns(m=512, n=512, k=512)", kWhole),
            "y cannot be made one kernel: gate_sum adds up 'k' and up_sum 'k', which are not known to be as long; the sums of a kernel's elements have the same terms");
}

// Tensor cores alone make two sums at once.
TEST(DualErrors, without_tensor_cores_a_kernel_has_one_sum) {
  const char* strips = "y.strips(8, 32)\ngate_sum.compute_at(y, n)\nup_sum.compute_at(y, n)\n";
  EXPECT_EQ(words_for(gated_by_columns(), "gated_by_columns(m=2, n=512, k=1024)", strips),
            "y: gate_sum and up_sum are both summed for each element, which only tensor cores do in one kernel; without tensorize, compute_root() what is made of one of them");
}

}  // namespace
}  // namespace kiln::tests
