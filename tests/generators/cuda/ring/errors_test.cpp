// What the ring skeleton cannot honour is refused, and the words say which requirement failed and what would do.
#include <gtest/gtest.h>

#include <functional>

#include "dsl/error.h"
#include "dsl/legality.h"
#include "dsl/problem.h"
#include "dsl/schedule.h"
#include "generators/cuda/lower.h"
#include "generators/cuda/predict.h"
#include "generators/rejection.h"
#include "schedules/devices.h"
#include "tests/generators/cuda/stream/algorithms.h"

namespace kiln::tests {
namespace {

constexpr const char* kProblem = "dot_by_columns(m=256, n=512, k=1024)";
constexpr const char* kWhole = "y.tile(n, m, no, mo, ni, mi, 128, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative)\nc.compute_at(y, no)\n"
                               "c.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 4).tensorize(ki, wgmma)\n";

std::string words_for(const Algorithm& algorithm, const std::string& problem, const std::string& schedule, const Capability& capability = kWgmma) {
  try {
    const auto program = generators::cuda::lower(algorithm, parse_schedule(schedule), resolve(parse_problem_text(problem), algorithm), capability);
    const auto unfit = generators::cuda::find_unfit(program, *schedules::device_named("h200").gpu);
    return unfit ? unfit->text : "accepted";
  } catch (const ScheduleError& error) {
    return error.what();
  }
}

std::string_view reason_for(const Algorithm& algorithm, const std::string& problem, const std::string& schedule) {
  try {
    generators::cuda::lower(algorithm, parse_schedule(schedule), resolve(parse_problem_text(problem), algorithm));
    return "none";
  } catch (const ScheduleError& error) {
    return print(generators::rejection_of(error).reason);
  }
}

// A whole schedule with one part of its text replaced.
std::string with(const std::string& part, const std::string& by) {
  std::string schedule = kWhole;
  const std::size_t at = schedule.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return schedule.replace(at, part.size(), by);
}

struct Refused {
  const char *part, *by, *words;
};

TEST(RingErrors, devices_without_wgmma) {
  const Algorithm product = dot_by_columns();
  EXPECT_EQ(words_for(product, kProblem, kWhole, {8, 0}), "c: tensorize(…, wgmma) is for devices of compute capability 9.0, and this one has 8.0");
  EXPECT_EQ(words_for(product, kProblem, kWhole, {10, 0}), "c: tensorize(…, wgmma) is for devices of compute capability 9.0, and this one has 10.0");
}

TEST(RingErrors, say_what_was_asked_and_what_would_do) {
  const std::vector<Refused> all = {
      {"(1, 2, cooperative)", "(2, 2, cooperative)", "`y.warps(2, 2, cooperative)`: one warpgroup copies for all, found 2"},
      {"(1, 2, cooperative)", "(1, 4, cooperative)", "`y.warps(1, 4, cooperative)`: 1 to 3 warpgroups multiply, found 4"},
      {"(1, 2, cooperative)", "(1, 3, pingpong)", "`y.warps(1, 3, pingpong)`: two consumers take tiles in turn, found 3"},
      {"(1, 2, cooperative)", "(1, 2, shared)",
       "line 1, column 84: argument 3 of warps(producers, consumers, roles) is how warps share tiles, found 'shared'; they are cooperative, pingpong"},
      {".warps(1, 2, cooperative)", "", "y: who copies and who multiplies is not said: write y.warps(1, 2, cooperative)"},
      {".warps(1, 2, cooperative)", ".warps(1, 2, cooperative).warps(1, 2, cooperative)",
       "`y.warps(1, 2, cooperative)`: warps is said of y already; say it once"},
      {".warps(1, 2, cooperative)", ".warps(1, 2, cooperative).store_through(shared, 3)",
       "`y.store_through(shared, 3)`: 1, 2 or 4 buffers take results to memory, found 3"},
      {".warps(1, 2, cooperative)", ".warps(1, 2, cooperative).blocks_per_sm(2)",
       "y: 2 blocks of 384 threads on an SM leave consumers too few registers; several blocks have one consumer each"},
      {".warps(1, 2, cooperative)", ".warps(1, 2, cooperative).raster(ni, 8)", "`y.raster(ni, 8)`: 'ni' makes no blocks; name a loop of gpu_blocks"},
      {".warps(1, 2, cooperative)", ".warps(1, 2, cooperative).raster(mo, 100)", "`y.raster(mo, 100)`: a group has 1 to 64 tiles, found 100"},
      {".warps(1, 2, cooperative)", ".warps(1, 2, cooperative).l2_promotion(z, 64)",
       "`y.l2_promotion(z, 64)`: there is no input 'z'; the inputs are x, w, bias"},
      {".warps(1, 2, cooperative)", ".warps(1, 2, cooperative).l2_promotion(bias, 64)", "y: l2_promotion(bias, …): only x and w are copied in tiles"},
      {".warps(1, 2, cooperative)", ".warps(1, 2, cooperative).l2_promotion(x, 32)",
       "`y.l2_promotion(x, 32)`: L2 fetches 64, 128 or 256 bytes at once, found 32"},
      {".warps(1, 2, cooperative)", ".warps(1, 2, cooperative).evict(w, last)",
       "line 1, column 106: argument 2 of evict(argument, eviction) is an eviction, found 'last'; they are first, normal"},
      {".warps(1, 2, cooperative)", ".warps(1, 2, cooperative).evict(w, first).evict(w, normal)",
       "`y.evict(w, normal)`: evict of w is said already; say it once"},
      {".warps(1, 2, cooperative)", ".warps(1, 2, cooperative).vector(8)",
       "y: rows, dots, strips, vector, accesses, cluster, fix and cache have no place beside a tensorized sum; c is one"},
      {"128, 128, Guard", "128, 64, Guard", "y: a tile of 64 rows; 2 consumers take 64 each at a time: a multiple of 128"},
      {"128, 128, Guard", "96, 128, Guard", "y: a tile of 96 columns; the columns of a term of w are neighbours, and come 64 at a time"},
      {"128, 128, Guard", "128, 512, Guard", "y: a tile of 512×128; 256 a side are the most that one copy and one wgmma take"},
      {"128, 128, Guard", "256, 256, Guard",
       "dot_by_columns_y: a tile of m=256 n=256 takes 256 registers of a consumer's thread; of its 240 at most 208 can be. With m=256 the largest n that fits is 208."},
      {"128, 128, GuardWithIf", "96, 128", "splitting 'n' of y by 96 may leave a rest, which a kernel masks: write GuardWithIf"},
      {".tile(n, m, no, mo, ni, mi, 128, 128, GuardWithIf).gpu_blocks(no, mo)", ".split(n, no, ni, 128).gpu_blocks(no)",
       "splitting 'n' of y by 128 may leave a rest, which a kernel masks: write GuardWithIf"},
      {"ki, 64)", "ki, 32)", "y: a step of 32 terms; whole lines of 128 bytes are copied, 64 terms or 128, 192, 256"},
      {"ki, 64)", "ki, 512)", "y: a step of 512 terms; whole lines of 128 bytes are copied, 64 terms or 128, 192, 256"},
      {"shared, 4)", "shared, 1)", "`c.update(0).stage_in(ko, shared, 1)`: a ring has 2 to 16 stages, found 1"},
      {"shared, 4)", "shared, 8)",
       "dot_by_columns_y: a ring of 8 x 32,768 bytes needs 296,064 bytes of shared memory with all that stands beside it; one block may use 232,448. With tile m=128 n=128 k=64 the largest number of stages that fits is 6."},
      {"stage_in(ko, shared, 4).", "",
       "y: a ring needs the sum tensorized and what it reads staged: write c.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 4).tensorize(ki, wgmma)"},
      {".tensorize(ki, wgmma)", "",
       "y: a ring needs the sum tensorized and what it reads staged: write c.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 4).tensorize(ki, wgmma)"},
      {"stage_in(ko,", "stage_in(ki,",
       "y: the tensor cores take the inner part of the terms and stages lie at the outer one, 'ki' and 'ko': write c.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 4).tensorize(ki, wgmma)"},
      {"tensorize(ki,", "tensorize(ko,",
       "y: the tensor cores take the inner part of the terms and stages lie at the outer one, 'ki' and 'ko': write c.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 4).tensorize(ki, wgmma)"},
      {"tensorize(ki,", "tensorize(n,", "`c.update(0).tensorize(n, wgmma)`: 'n' is no reduction loop; the tensor cores add up the terms of one"},
      {"tensorize(ki, wgmma)", "tensorize(ki, mma)",
       "line 3, column 72: argument 2 of tensorize(loop, instruction) is an instruction, found 'mma'; they are wgmma"},
      {"wgmma)", "wgmma).split_reduction(ko, 9, fixed)", "`c.update(0).split_reduction(ko, 9, fixed)`: 2 to 8 blocks share the terms, found 9"},
      {"wgmma)", "wgmma).split_reduction(ki, 2, fixed)", "y: split_reduction(ki, …): blocks share the outer part of the terms, 'ko'"},
      {"wgmma)", "wgmma).vectorize(n, 8)",
       "y: of c's loops the terms are split once and nothing else is said: write c.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 4).tensorize(ki, wgmma)"},
      {"c.compute_at(y, no)", "c.compute_at(y, ni)", "y cannot be made one kernel: c is computed at (y, ni); in this kernel it can be computed at (y, no)"},
      {"c.compute_at(y, no)", "c.compute_root()",
       "c cannot be made one kernel: it reads x by some of its loops in an order that no kernel has; whole elements, a column, a row or a turned matrix can be read"},
      {".warps(1, 2, cooperative)\nc.compute_at(y, no)\nc.update(0).split(k, ko, ki, 64)", ".warps(1, 2, cooperative).persistent()\nc.compute_at(y, no)\nc.update(0).split(k, ko, ki, 64).split_reduction(ko, 2, fixed)",
       "y: split_reduction: the blocks of a cluster share one tile and end; persistent() goes on to others"},
      {".warps(1, 2, cooperative)\nc.compute_at(y, no)\nc.update(0).split(k, ko, ki, 64)", ".warps(1, 2, pingpong)\nc.compute_at(y, no)\nc.update(0).split(k, ko, ki, 64).split_reduction(ko, 2, fixed)",
       "y: split_reduction: the consumers of all blocks meet at one tile; pingpong gives each another"},
      {".warps(1, 2, cooperative)", ".warps(1, 2, cooperative).swap_operands().swap_operands()",
       "`y.swap_operands()`: swap_operands is said of y already; say it once"},
  };
  EXPECT_EQ(words_for(dot_by_columns(), kProblem, kWhole), "accepted");
  for (const Refused& one : all) EXPECT_EQ(words_for(dot_by_columns(), kProblem, with(one.part, one.by)), one.words) << one.by;
}

TEST(RingErrors, of_parts_whose_sums_find_no_room_say_how_many_stages_would_do) {
  const char* schedule = "y.tile(n, m, no, mo, ni, mi, 256, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, cooperative)\nc.compute_at(y, no)\n"
                         "c.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 2).tensorize(ki, wgmma).split_reduction(ko, 2, fixed)\n";
  EXPECT_EQ(words_for(dot_by_columns(), kProblem, schedule),
            "y: split_reduction: the sums of a tile take 131072 bytes and meet where the ring was, which has 98304; 3 stages would do");
}

TEST(RingErrors, of_kernels_without_a_tensorized_sum_name_it) {
  EXPECT_EQ(words_for(gate(), "gate(m=4, n=64)", "y.rows(1, 32).warps(1, 2, cooperative)\n"),
            "y: warps, swap_operands, store_through, persistent, raster, l2_promotion and evict are of kernels that tensorize a sum, and this one does not");
  EXPECT_EQ(words_for(norm(), "norm(m=4, n=64)", "y.rows(1, 32)\nscale.compute_at(y, m)\nsquares.compute_at(y, m)\nsquares.update(0).tensorize(k, wgmma)\n"),
            "`squares.update(0).tensorize(k, wgmma)`: squares is no sum of products for each element of a kernel");
}

// Strict contracts fix the order of additions, which the tensor cores do not keep.
TEST(RingErrors, of_strict_sums_say_so) {
  Algorithm algorithm = dot_by_columns();
  algorithm.contract = Contract::strict;
  EXPECT_EQ(words_for(algorithm, kProblem, kWhole),
            "`c.update(0).tensorize(ki, wgmma)`: the tensor cores add the terms of 'ki' in sums of their own, and the contract of dot_by_columns is strict: the same bits under every schedule; leave "
            "the sum to threads");
}

TEST(RingErrors, of_plain_sums_where_the_contract_is_not_free_say_so) {
  const std::string plain = with("wgmma)", "wgmma, plain)");
  const Algorithm codes = dot_of_codes();
  const char* words = "`c.update(0).tensorize(ki, wgmma, plain)`: the tensor cores keep the sums over 'ki' in 14 bits, and the contract of dot_of_codes is bounded: within the error budget; without "
                      "`plain` sums of 128 terms are added up outside them";
  EXPECT_EQ(words_for(codes, "dot_of_codes(m=256, n=512, k=1024)", plain), words);
  const auto illegal = find_illegal(parse_schedule(plain), codes, nullptr);
  ASSERT_TRUE(illegal);
  EXPECT_EQ(print(generators::rejection_of(*illegal).reason), "numerics");
  EXPECT_EQ(reason_for(codes, "dot_of_codes(m=256, n=512, k=1024)", plain), "numerics");
  EXPECT_EQ(reason_for(codes, "dot_of_codes(m=256, n=512, k=1024)", kWhole), "schedule_error");
  Algorithm free = dot_of_codes();
  free.contract = Contract::free;
  EXPECT_EQ(print(effect_of(parse_schedule(plain), free)), "approximates");
  free = dot_by_columns();
  free.contract = Contract::free;
  EXPECT_EQ(words_for(free, kProblem, plain), "y: tensorize(…, plain) is of sums of 8-bit floats, and x is of bf16: sums of all others stay in the tensor cores as it is");
  EXPECT_EQ(words_for(free, kProblem, with("wgmma)", "wgmma, promoted)")),
            "line 3, column 79: argument 3 of tensorize(loop, instruction, sums) is how an instruction adds, found 'promoted'; they are plain");
}

TEST(RingErrors, of_extents_that_no_copy_takes_name_the_matrix) {
  EXPECT_EQ(words_for(dot_by_columns(), "dot_by_columns(m=256, n=500, k=1024)", kWhole), "y: 'n' has 500 elements, no multiple of 8: rows of w would not start at 16 bytes");
  EXPECT_EQ(words_for(dot_by_terms(), "dot_by_terms(m=256, n=512, k=1020)", kWhole), "y: 'k' has 1020 elements, no multiple of 8: rows of x would not start at 16 bytes");
}

TEST(RingErrors, of_8_bit_floats_name_what_the_tensor_cores_take) {
  const char* problem = "dot_of_codes(m=256, n=512, k=1024)";
  EXPECT_EQ(words_for(dot_of_codes(), problem, with("ki, 64)", "ki, 128)")), "accepted");
  EXPECT_EQ(words_for(dot_of_codes(), problem, kWhole), "y: a step of 64 terms; whole lines of 128 bytes are copied, 128 terms or 256");
  const std::string in_turn = "y.tile(n, m, no, mo, ni, mi, 128, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, pingpong)\nc.compute_at(y, no)\n"
                              "c.update(0).split(k, ko, ki, 128).stage_in(ko, shared, 4).tensorize(ki, wgmma)\n";
  EXPECT_EQ(words_for(dot_of_codes(), problem, in_turn),
            "y: sums of 8-bit floats are added up outside the tensor cores every 128 terms: consumers that share a tile fill each other's waits, pingpong leaves them");
  Algorithm free = dot_of_codes();
  free.contract = Contract::free;
  const std::string plain = std::string(in_turn).replace(in_turn.find("wgmma)"), 6, "wgmma, plain)");
  EXPECT_EQ(words_for(free, problem, plain), "accepted");
  EXPECT_EQ(words_for(free, problem, in_turn), words_for(dot_of_codes(), problem, in_turn));
  EXPECT_EQ(words_for(dot_of_codes(), "dot_of_codes(m=256, n=512, k=1000)", with("ki, 64)", "ki, 128)")),
            "y: 'k' has 1000 elements, no multiple of 16: rows of x would not start at 16 bytes");
}

TEST(RingErrors, of_devices_without_the_instruction_name_it) {
  const Algorithm algorithm = dot_by_columns();
  const auto program = generators::cuda::lower(algorithm, parse_schedule(kWhole), resolve(parse_problem_text(kProblem), algorithm));
  EXPECT_EQ(generators::cuda::find_unfit(program, *schedules::device_named("sm_80").gpu)->text, "dot_by_columns_y: wgmma is an instruction of compute capability 9.0; sm_80 has 8.0");
}

}  // namespace
}  // namespace kiln::tests
