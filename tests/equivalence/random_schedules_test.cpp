// Whatever legality accepts computes the same: random legal schedules of every shipped operator, on extents of 1, primes and one off a tile.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <random>

#include "autotune/measure/compare.h"
#include "autotune/measure/inputs.h"
#include "autotune/measure/tolerance.h"
#include "dsl/read_algorithm.h"
#include "generators/host/call.h"
#include "generators/host/host.h"
#include "generators/host/loaded.h"
#include "generators/operators/operators.h"
#include "tests/support/random_schedule.h"

namespace kiln::tests {
namespace {

namespace host = generators::host;

constexpr std::uint64_t kSeed = 20260929;
constexpr int kRunsWanted = 110;          // equal results an operator; five operators make more than 500
constexpr int kMostAttempts = 600;
constexpr std::size_t kGuardBytes = 4096;  // before and after each buffer, checked after the call

const std::map<std::string, std::vector<std::string>>& problems() {
  static const std::map<std::string, std::vector<std::string>> kProblems = {
      {"conv", {"conv(co=8, ci=3, w=17, h=5)", "conv(co=16, ci=5, w=7, h=1)", "conv(co=1, ci=1, w=31, h=9)"}},
      {"matmul", {"matmul(m=7, n=33, k=13)", "matmul(m=1, n=16, k=5)", "matmul(m=17, n=1, k=31)", "matmul(m=16, n=48, k=8)"}},
      {"rmsnorm", {"rmsnorm(m=7, n=33)", "rmsnorm(m=1, n=64)", "rmsnorm(m=15, n=1)"}},
      {"swiglu", {"swiglu(m=7, n=33)", "swiglu(m=1, n=65)", "swiglu(m=16, n=32)"}},
      {"unsharp", {"unsharp(w=31, h=17, c=3)", "unsharp(w=16, h=1, c=3)", "unsharp(w=63, h=8, c=3)"}},
  };
  return kProblems;
}

// Memory for one argument between two guards, aligned as vectors want it.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(bytes), all_(allocate(bytes)) {
    std::memset(all_.get(), kGuard, padded(bytes) + 2 * kGuardBytes);
  }
  std::byte* data() { return all_.get() + kGuardBytes; }
  std::span<std::byte> span() { return {data(), bytes_}; }

  bool guards_stand() const {
    const auto is_guard = [](std::byte b) { return b == std::byte{kGuard}; };
    const std::byte* end = all_.get() + kGuardBytes + bytes_;
    return std::all_of(all_.get(), all_.get() + kGuardBytes, is_guard) && std::all_of(end, end + kGuardBytes, is_guard);
  }

 private:
  static constexpr int kGuard = 0xA5;
  static std::size_t padded(std::size_t bytes) { return (bytes + 127) / 128 * 128; }
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  static std::byte* allocate(std::size_t bytes) { return static_cast<std::byte*>(std::aligned_alloc(128, padded(bytes) + 2 * kGuardBytes)); }
  std::size_t bytes_;
  std::unique_ptr<std::byte, Free> all_;
};

// One problem with its inputs and what the reference makes of them.
class Subject {
 public:
  Subject(const Algorithm& algorithm, const std::string& text, const host::Loaded& reference)
      : algorithm_(algorithm),
        problem_(resolve(parse_problem_text(text), algorithm)),
        extents_(host::extents_of(algorithm, problem_)),
        tolerances_(autotune::tolerances(algorithm, problem_)),
        reference_types_(host::reference_types(algorithm)),
        expected_(call(reference, reference_types_)) {}

  const Problem& problem() const { return problem_; }

  std::optional<std::string> shortfall(const host::Loaded& build) const {
    return host::find_shortfall(host::required_regions(build, algorithm_, extents_), algorithm_, extents_);
  }

  // Empty when every output is right.
  std::string difference(const host::Loaded& build) const {
    std::vector<DType> types;
    for (const Argument& argument : algorithm_.arguments) types.push_back(argument.type);
    std::vector<Memory> got = call(build, types);
    std::size_t output = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (!got[i].guards_stand()) return "wrote outside " + algorithm_.arguments[i].name;
      if (!algorithm_.arguments[i].is_output) continue;
      const auto comparison = autotune::compare({got[i].data(), types[i], extents_[i]}, {expected_[i].data(), reference_types_[i], extents_[i]},
                                                tolerances_[output++]);
      if (!comparison.passes) return autotune::describe(*comparison.worst, algorithm_.arguments[i].name, {});
    }
    return {};
  }

 private:
  // Fresh inputs, outputs that no right result equals.
  std::vector<Memory> call(const host::Loaded& build, const std::vector<DType>& types) const {
    std::vector<Memory> memory;
    std::vector<void*> pointers;
    for (std::size_t i = 0; i < types.size(); ++i) {
      const Argument& argument = algorithm_.arguments[i];
      std::size_t bytes = static_cast<std::size_t>(types[i].bytes());
      for (const std::int64_t extent : extents_[i]) bytes *= static_cast<std::size_t>(extent);
      memory.emplace_back(argument.is_scalar ? 8 : bytes);
      if (argument.is_scalar) {
        host::store_scalar(argument.type, autotune::scalar_value(argument, 0), memory.back().data());
      } else if (!argument.is_output) {
        autotune::fill(memory.back().span(), argument, kSeed);
      }
    }
    for (Memory& each : memory) pointers.push_back(each.data());
    host::Call arguments(algorithm_, extents_, pointers, types);
    EXPECT_EQ(build(arguments.argv()), 0);
    return memory;
  }

  const Algorithm& algorithm_;
  Problem problem_;
  std::vector<std::vector<std::int64_t>> extents_;
  std::vector<autotune::Tolerance> tolerances_;
  std::vector<DType> reference_types_;
  mutable std::vector<Memory> expected_;
};

struct Tally {
  int attempts = 0, refused = 0, pruned = 0, unfit = 0, equal = 0;
};

class RandomSchedules : public testing::TestWithParam<std::string> {};

TEST_P(RandomSchedules, compile_and_equal_the_reference) {
  const Device device = host::probe_cpu();
  const std::string target = host::target_string(device, host::Isa::native, Contract::bounded);
  const Algorithm algorithm = read_algorithm(GetParam(), {}, target);
  const host::Loaded reference(host::build_reference(algorithm, device));
  std::vector<std::unique_ptr<Subject>> subjects;
  for (const std::string& text : problems().at(GetParam())) subjects.push_back(std::make_unique<Subject>(algorithm, text, reference));

  std::mt19937_64 random(test_seed(kSeed));
  Tally tally;
  while (tally.equal < kRunsWanted && tally.attempts < kMostAttempts) {
    const Subject& subject = *subjects[static_cast<std::size_t>(tally.attempts++) % subjects.size()];
    const Schedule schedule = random_legal_schedule(algorithm, subject.problem(), random);
    SCOPED_TRACE(print(subject.problem()) + "\n" + print(schedule));
    const generators::Build build = host::build(algorithm, schedule, subject.problem(), device);
    if (build.rejection) {
      const bool by_halide = build.rejection->reason == generators::Reason::schedule_error || build.rejection->reason == generators::Reason::compile_error;
      ++(by_halide ? tally.refused : tally.pruned);
      if (by_halide) std::printf("Halide refuses what legality accepts: %s\n%s\n%s\n", build.rejection->text.c_str(), print(subject.problem()).c_str(), print(schedule).c_str());
      continue;
    }
    const host::Loaded loaded(*build.artifact);
    if (subject.shortfall(loaded)) {
      ++tally.unfit;  // the bounds query says no before any call
      continue;
    }
    const std::string difference = subject.difference(loaded);
    EXPECT_EQ(difference, "");
    if (!difference.empty()) return;
    ++tally.equal;
  }
  std::printf("%s: %d schedules, %d equal, %d refused by Halide, %d beyond the device, %d need larger buffers\n", GetParam().c_str(), tally.attempts,
              tally.equal, tally.refused, tally.pruned, tally.unfit);
  EXPECT_GE(tally.equal, kRunsWanted);
  EXPECT_LE(tally.refused * 100, tally.attempts) << "legality accepts what Halide refuses";
}

INSTANTIATE_TEST_SUITE_P(Shipped, RandomSchedules, testing::ValuesIn(generators::shipped_operators()), [](const auto& each) { return each.param; });

}  // namespace
}  // namespace kiln::tests
