// What the stream skeleton's kernels compute, in the emulator, equals the reference: every shape, ragged extents, eight orders in which threads take turns.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dsl/read_algorithm.h"
#include "dsl/schedule.h"
#include "generators/cuda/emulated/emulated.h"
#include "generators/host/host.h"
#include "generators/operators/operators.h"
#include "tests/generators/cuda/stream/emulated_subject.h"

namespace kiln::tests {
namespace {

namespace host = generators::host;

constexpr std::uint64_t kSeed = 20261130;
constexpr unsigned kOrders = 8;

struct Case {
  std::string problem, schedule;
};

constexpr const char* kFlat = "y.fuse(n, m, i).split(i, b, i, 1024, GuardWithIf).split(i, t, v, 4).gpu_blocks(b).gpu_threads(t).vectorize(v)\n";
constexpr const char* kNorm = "\nscale.compute_at(y, m)\nsquares.compute_at(y, m)\n";
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
      {"softmax(m=2, n=4096)", std::string("y.rows(1, 256).vector(4).cluster(2).dependent_launch()") + kSoft},
  };
}

// Algorithm and reference of an operator, once.
class Oracle {
 public:
  explicit Oracle(const std::string& name)
      : device_(host::probe_cpu()), algorithm(read_algorithm(name, {}, host::target_string(device_, host::Isa::native, Contract::bounded))),
        reference(host::build_reference(algorithm, device_)) {}

 private:
  Device device_;

 public:
  const Algorithm algorithm;
  const host::Loaded reference;
};

const Oracle& oracle(const std::string& problem) {
  static std::map<std::string, std::unique_ptr<Oracle>> known;
  std::unique_ptr<Oracle>& found = known[problem.substr(0, problem.find('('))];
  if (!found) found = std::make_unique<Oracle>(problem.substr(0, problem.find('(')));
  return *found;
}

TEST(StreamEquivalence, every_shape_equals_the_reference_in_whatever_order_threads_take_turns) {
  ASSERT_FALSE(generators::shipped_operators().empty());
  for (const auto& [problem, schedule] : cases()) {
    SCOPED_TRACE(problem + "\n" + schedule);
    const Oracle& known = oracle(problem);
    const EmulatedSubject subject(known.algorithm, problem, known.reference, kSeed);
    const generators::cuda::Program program = generators::cuda::lower(known.algorithm, parse_schedule(schedule), subject.problem());
    const generators::cuda::Emulated emulated(program.text(), launch_record(program));
    for (unsigned order = 0; order < kOrders; ++order) EXPECT_EQ(subject.difference(emulated, order), "");
  }
}

}  // namespace
}  // namespace kiln::tests
