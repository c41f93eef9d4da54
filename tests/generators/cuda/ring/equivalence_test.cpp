// What the ring skeleton's kernels compute, in the emulator, equals the reference: every kind, ragged extents, eight orders in which threads take turns.
#include <gtest/gtest.h>

#include <utility>

#include "dsl/schedule.h"
#include "generators/cuda/emulated/emulated.h"
#include "schedules/devices.h"
#include "schedules/spaces.h"
#include "tests/generators/cuda/ring/instances.h"
#include "tests/generators/cuda/stream/emulated_subject.h"
#include "tests/generators/cuda/stream/oracle.h"
#include "tests/support/random_schedule.h"

namespace kiln::tests {
namespace {

namespace cuda = generators::cuda;

constexpr std::uint64_t kSeed = 20261130;
constexpr unsigned kOrders = 8;

void expect_equal(const std::string& problem, const Schedule& schedule, unsigned orders) {
  SCOPED_TRACE(problem + "\n" + print(schedule));
  const Oracle& known = oracle(problem);
  const EmulatedSubject subject(known.algorithm, problem, known.reference, kSeed);
  const cuda::Program program = cuda::lower(known.algorithm, schedule, subject.problem());
  const cuda::LaunchRecord record = launch_record(program);
  ASSERT_TRUE(cuda::Emulated::takes(record, subject.extents()));
  const cuda::Emulated emulated(program.text(), record);
  for (unsigned order = 0; order < orders; ++order) EXPECT_EQ(subject.difference(emulated, order), "") << "order " << order << "\n" << program.text();
}

// Some seconds in the emulator.
bool is_small(const std::string& problem, const Schedule& schedule) {
  constexpr std::int64_t kMostThreads = 4096;
  const Oracle& known = oracle(problem);
  const Problem resolved = resolve(parse_problem_text(problem), known.algorithm);
  const cuda::LaunchRecord record = launch_record(cuda::lower(known.algorithm, schedule, resolved));
  const cuda::Extents extents = [&](const Axis& place) { return extent_of(resolved, known.algorithm, place.argument, place.dimension); };
  return cuda::Emulated::takes(record, extents) && cuda::blocks(record.kernels.front(), extents, 2) * record.kernels.front().threads <= kMostThreads;
}

// The bytes of the output; of a text in which `unrounded`, where it is said, is not rounded.
std::vector<std::byte> bits_of(const EmulatedSubject& subject, const Algorithm& algorithm, const std::string& schedule, unsigned order, const std::string& unrounded = "") {
  const cuda::Program program = cuda::lower(algorithm, parse_schedule(schedule), subject.problem());
  std::string text = program.text();
  if (!unrounded.empty()) {
    const std::string rounding = "round_bf16(" + unrounded + ")";
    EXPECT_NE(text.find(rounding), std::string::npos) << text;
    text.replace(text.find(rounding), rounding.size(), unrounded);
  }
  const cuda::Emulated emulated(text, launch_record(program));
  cuda::Emulated::Call call = subject.call();
  EXPECT_EQ(emulated.run(call, order), "") << schedule;
  return call.outputs.begin()->second;
}

// A product is summed in the order of its terms wherever it is computed, and rounded where the algorithm rounds: kernels of all boundaries give the same bits.
// `rounded`: sums whose rounding the first schedule's text shows.
void expect_same_bits(const std::string& problem, const std::vector<std::string>& schedules, const std::vector<std::string>& rounded) {
  const Oracle& known = oracle(problem);
  const EmulatedSubject subject(known.algorithm, problem, known.reference, kSeed);
  const std::vector<std::byte> bits = bits_of(subject, known.algorithm, schedules.front(), 0);
  for (const std::string& schedule : schedules)
    for (unsigned order = 0; order < 2; ++order) EXPECT_EQ(bits_of(subject, known.algorithm, schedule, order), bits) << schedule;
  // Within the tolerance, which allows for an ulp at each rounding: the bits alone show that one is left out.
  for (const std::string& sum : rounded) EXPECT_NE(bits_of(subject, known.algorithm, schedules.front(), 0, sum), bits) << sum;
}

TEST(RingEquivalence, of_two_products_in_one_kernel_and_apart_are_the_same_bits) {
  expect_same_bits("matmul_swiglu(m=150, n=136, k=328, bf16)", gated_schedules(), {"gate_sum", "up_sum"});
}

TEST(RingEquivalence, of_a_layer_in_two_kernels_and_in_four_are_the_same_bits) {
  expect_same_bits("ffn(m=150, h=136, n=200, k=264, bf16)", layer_schedules(), {"gate_sum", "up_sum"});
}

class RingKinds : public testing::TestWithParam<RingInstance> {};

TEST_P(RingKinds, equals_the_reference_in_whatever_order_threads_take_turns) { expect_equal(GetParam().problem, parse_schedule(GetParam().schedule), kOrders); }

// Of a GPU with so few multiprocessors, blocks of a small problem go on to other tiles.
Device gpu_with(int sms) {
  Device gpu = schedules::device_named("h200");
  gpu.gpu->sms = sms;
  return gpu;
}

TEST(RingEquivalence, of_what_the_space_holds_equals_the_reference) {
  constexpr int kDraws = 5, kTries = 400;
  schedules::Random random(test_seed(kSeed));
  for (const auto& [problem, sms] : {std::pair{"matmul(m=136, n=200, k=328, bf16, has_bias=true)", 2}, {"matmul(m=136, n=264, k=328, bf16, weights=kn)", 2}, {"matmul(m=29, n=200, k=712, bf16)", 132}, {"matmul_fp8(m=136, n=200, k=656)", 2},
                                     {"matmul_fp8(m=136, n=200, k=656, accumulation=plain)", 2}, {"matmul_swiglu(m=136, n=200, k=328, bf16)", 2},
                                     {"matmul_swiglu(m=29, n=200, k=328, bf16, weights=kn)", 2}, {"ffn(m=72, h=136, n=72, k=136, bf16)", 2},
                                     {"matmul_swiglu(m=29, n=200, k=328, bf16, products=f32)", 2}, {"coded_product(m=136, n=208, k=328)", 2}}) {
    const Oracle& known = oracle(problem);
    const Problem resolved = resolve(parse_problem_text(problem), known.algorithm);
    const auto space = schedules::space_for(known.algorithm, resolved, gpu_with(sms));
    ASSERT_TRUE(space);
    ASSERT_EQ(space->unsatisfiable(), std::nullopt);
    for (int drawn = 0, tries = 0; drawn < kDraws; ++tries) {
      ASSERT_LT(tries, kTries) << problem;
      const Schedule schedule = space->schedule(space->sample(random));
      if (!is_small(problem, schedule)) continue;
      expect_equal(problem, schedule, 2);
      ++drawn;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, RingKinds, testing::ValuesIn(ring_instances()), [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace kiln::tests
