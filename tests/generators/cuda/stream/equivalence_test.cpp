// What the stream skeleton's kernels compute, in the emulator, equals the reference: every shape, ragged extents, eight orders in which threads take turns.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "dsl/float8.h"
#include "dsl/schedule.h"
#include "generators/cuda/emulated/emulated.h"
#include "schedules/devices.h"
#include "schedules/spaces.h"
#include "tests/generators/cuda/stream/algorithms.h"
#include "tests/generators/cuda/stream/emulated_subject.h"
#include "tests/generators/cuda/stream/instances.h"
#include "tests/generators/cuda/stream/oracle.h"
#include "tests/support/random_schedule.h"

namespace kiln::tests {
namespace {

namespace cuda = generators::cuda;

constexpr std::uint64_t kSeed = 20261130;
constexpr unsigned kOrders = 8;

struct Case {
  std::string problem, schedule;
};

constexpr const char* kFlat = "y.fuse(n, m, i).split(i, b, i, 1024, GuardWithIf).split(i, t, v, 4).gpu_blocks(b).gpu_threads(t).vectorize(v)\n";
constexpr const char* kNorm = "\nscale.compute_at(y, m)\nsquares.compute_at(y, m)\n";
constexpr const char* kCoded = "\nscales.compute_with(y, m)\nrow.compute_at(y, m)\npeak.compute_at(y, m)\n";
constexpr const char* kSoft = "\nscale.compute_at(y, m)\nsum.compute_at(y, m)\npeak.compute_at(y, m)\n";

std::vector<Case> cases() {
  return {
      {"swiglu(m=7, n=333)", kFlat},
      {"swiglu(m=1, n=1)", kFlat},
      {"swiglu(m=3, n=1024)", "y.fuse(n, m, i).split(i, b, i, 512, GuardWithIf).split(i, a, i, 256).split(i, t, v, 2).gpu_blocks(b).unroll(a).gpu_threads(t).vectorize(v)\n"},
      {"swiglu(m=5, n=52)", "y.rows(3, 32).vector(4)\n"},
      {"rmsnorm(m=7, n=132)", std::string("y.rows(2, 32).vector(4)") + kNorm},
      {"rmsnorm(m=3, n=1000)", std::string("y.rows(1, 128)") + kNorm},
      {"rmsnorm(m=1, n=1024)", std::string("y.rows(1, 64).vector(4).fix(n).blocks_per_sm(2)") + kNorm},
      {"rmsnorm(m=3, n=2040)", std::string("y.rows(1, 64).vector(4).cluster(4)") + kNorm},
      {"rmsnorm(m=2, n=33)", std::string("y.rows(1, 32).vector(1)") + kNorm},
      {"rmsnorm(m=5, n=96)", "y.rows(1, 32)\nscale.compute_at(y, m)\nsquares.compute_root().rows(2, 64)\n"},
      {"softmax(m=5, n=500)", std::string("y.rows(1, 64).vector(4)") + kSoft},
      {"softmax(m=5, n=300)", std::string("y.rows(2, 96).vector(2)\ne.compute_at(y, m)") + kSoft},
      {"swiglu_quant(m=3, n=331)", "y.fuse(n, m, i).split(i, b, i, 1024, GuardWithIf).split(i, t, v, 8).gpu_blocks(b).gpu_threads(t).vectorize(v)\n"},
      {"swiglu_quant(m=3, n=330, bf16)", "y.rows(1, 96).vector(2)\n"},
      {"swiglu_quant(m=3, n=336, bf16, scale=row)", std::string("y.rows(1, 32).vector(16).fix(n)") + kCoded},
      {"swiglu_quant(m=2, n=4096, bf16, scale=row)", std::string("y.rows(1, 128).vector(8).cluster(4)") + kCoded},
      {"rmsnorm(m=5, n=136)", "y.rows(2, 32).vector(4).dependent_launch()\nscale.compute_at(y, m)\nsquares.compute_root().rows(2, 32).vector(4).dependent_launch()\n"},
      {"swiglu(m=5, n=52)", std::string(kFlat) + "gate.compute_root().rows(2, 32).vector(4)\n"},
      {"softmax(m=3, n=260)", "y.rows(1, 64).vector(4).dependent_launch()\nscale.compute_at(y, m)\nsum.compute_root().rows(2, 32).vector(4)\n"
                              "e.compute_root().rows(1, 96).vector(2).dependent_launch()\npeak.compute_root().rows(1, 64)\n"},
      {"swiglu_quant(m=3, n=272, bf16, scale=row)", "y.rows(1, 64).vector(8).dependent_launch()\nscales.compute_with(y, m)\nrow.compute_at(y, m)\n"
                                                    "peak.compute_root().rows(2, 32).vector(8)\n"},
      {"softmax(m=2, n=4096)", std::string("y.rows(1, 256).vector(4).cluster(2).dependent_launch()") + kSoft},
  };
}

// Where the schedule's launches are within what the emulator takes.
bool expect_equal(const std::string& problem, const Schedule& schedule, const Capability& capability = {9, 0}) {
  SCOPED_TRACE(problem + "\n" + print(schedule));
  const Oracle& known = oracle(problem);
  const EmulatedSubject subject(known.algorithm, problem, known.reference, kSeed);
  const cuda::Program program = cuda::lower(known.algorithm, schedule, subject.problem(), capability);
  const cuda::LaunchRecord record = launch_record(program);
  if (!cuda::Emulated::takes(record, subject.extents())) return false;
  const cuda::Emulated emulated(program.text(), record);
  for (unsigned order = 0; order < kOrders; ++order) EXPECT_EQ(subject.difference(emulated, order), "") << "order " << order;
  return true;
}

TEST(StreamEquivalence, every_shape_equals_the_reference_in_whatever_order_threads_take_turns) {
  for (const auto& [problem, schedule] : cases()) EXPECT_TRUE(expect_equal(problem, parse_schedule(schedule))) << problem;
}

// What the tests on a device run.
TEST(StreamEquivalence, every_kind_equals_the_reference) {
  for (const StreamInstance& instance : stream_instances()) EXPECT_TRUE(expect_equal(instance.problem, parse_schedule(instance.schedule))) << instance.name;
}

// Seeds of each operator's space, and points drawn from it.
TEST(StreamEquivalence, of_what_spaces_hold_equals_the_reference) {
  constexpr int kDraws = 4, kTries = 200;
  for (const std::string problem :
       {"swiglu(m=5, n=392, bf16)", "swiglu_quant(m=3, n=272, bf16)", "swiglu_quant(m=3, n=1040, bf16, scale=row)", "rmsnorm(m=3, n=1032, bf16)", "softmax(m=3, n=2056, bf16)",
        "transpose(m=140, n=76)", "matvec(m=2, n=24, k=264, bf16)", "matvec(m=1, n=72, k=136, bf16, weights=kn)"}) {
    SCOPED_TRACE(problem);
    const Oracle& known = oracle(problem);
    const Problem resolved = resolve(parse_problem_text(problem), known.algorithm);
    const auto space = schedules::space_for(known.algorithm, resolved, schedules::device_named("h200"));
    ASSERT_TRUE(space);
    ASSERT_FALSE(space->seeds().empty()) << space->unsatisfiable().value_or("");
    schedules::Random random(test_seed(kSeed));
    int run = 0;
    for (const schedules::Seed& seed : space->seeds()) run += expect_equal(problem, space->schedule(seed.point));
    EXPECT_GT(run, 0);
    for (int drawn = 0, tries = 0; drawn < kDraws && tries < kTries; ++tries) drawn += expect_equal(problem, space->schedule(space->sample(random)));
  }
}

TEST(StreamEquivalence, of_what_is_for_an_older_device_equals_the_reference) {
  const Device& older = schedules::device_named("a100");
  for (const std::string problem : {"swiglu_quant(m=3, n=272, bf16)", "swiglu_quant(m=3, n=1040, bf16, scale=row)", "softmax(m=3, n=2056, bf16)"}) {
    const Oracle& known = oracle(problem);
    const schedules::Space space = schedules::space_for(known.algorithm, resolve(parse_problem_text(problem), known.algorithm), older).value();
    int run = 0;
    for (const schedules::Seed& seed : space.seeds()) run += expect_equal(problem, space.schedule(seed.point), capability_of(*older.gpu));
    EXPECT_GT(run, 0) << problem;
  }
}

// Both forms of the operator: what Halide makes of the encoding is recognised, and no integer operation is left of it.
TEST(StreamEquivalence, swiglu_quant_is_converted_by_the_hardware) {
  for (const std::string problem : {"swiglu_quant(m=3, n=272, bf16)", "swiglu_quant(m=3, n=272, scale=row)"}) {
    const Oracle& known = oracle(problem);
    const Problem resolved = resolve(parse_problem_text(problem), known.algorithm);
    const schedules::Space space = schedules::space_for(known.algorithm, resolved, schedules::device_named("h200")).value();
    for (const schedules::Seed& seed : space.seeds()) {
      const std::string text = cuda::lower(known.algorithm, space.schedule(seed.point), resolved).text();
      EXPECT_NE(text.find("put_e4m3(y_v.w, y_lanes);"), std::string::npos) << text;
      EXPECT_EQ(text.find("__float_as_uint"), std::string::npos) << text;
    }
  }
}

// Every bf16, infinities and NaNs too, stored by vectors and one by one.
void expect_codes_right(const Capability& capability) {
  constexpr std::size_t kAll = 0x10000, kLast = 3;  // more than whole vectors
  const Algorithm algorithm = codes();
  const Problem problem = resolve(parse_problem_text(fmt::format("codes(m=1, n={})", kAll + kLast)), algorithm);
  cuda::Emulated::Call call;
  call.extents = [&](const Axis& place) { return extent_of(problem, algorithm, place.argument, place.dimension); };
  call.inputs["x"].resize(4 * (kAll + kLast));
  call.outputs["y"].resize(kAll + kLast);
  std::vector<float> values(kAll + kLast, 1.0625f);  // a tie
  for (std::size_t i = 0; i < kAll; ++i) {
    const auto bits = static_cast<std::uint32_t>(i << 16);
    std::memcpy(&values[i], &bits, sizeof bits);
  }
  std::memcpy(call.inputs["x"].data(), values.data(), 4 * values.size());
  const char* schedule = "y.fuse(n, m, i).split(i, b, i, 2048, GuardWithIf).split(i, t, v, 8).gpu_blocks(b).gpu_threads(t).vectorize(v)\n";
  const cuda::Program program = cuda::lower(algorithm, parse_schedule(schedule), problem, capability);
  EXPECT_EQ(cuda::Emulated(program.text(), launch_record(program)).run(call, 1), "");
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(static_cast<unsigned>(call.outputs["y"][i]), encode_float8(kE4M3FN, static_cast<double>(values[i]))) << values[i];
}

TEST(StreamEquivalence, codes_of_e4m3_have_the_reference_s_bits) { expect_codes_right({9, 0}); }
TEST(StreamEquivalence, codes_of_e4m3_have_the_reference_s_bits_where_there_is_no_instruction_for_them) { expect_codes_right({8, 0}); }

}  // namespace
}  // namespace kiln::tests
