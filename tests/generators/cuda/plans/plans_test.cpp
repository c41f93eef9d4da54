// What spaces hold is compiled: all seeds, a plan for each value of each knob, random ones. Each becomes a cubin or is refused with a reason, and what was
// predicted of it holds. Seed of the random ones: KILN_TEST_SEED.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "dsl/problem.h"
#include "dsl/schedule.h"
#include "generators/cuda/build.h"
#include "schedules/devices.h"
#include "schedules/spaces.h"
#include "tests/generators/cuda/compile/with_nvrtc.h"
#include "tests/generators/cuda/stream/algorithms.h"
#include "tests/support/random_schedule.h"

namespace kiln::tests {
namespace {

namespace cuda = generators::cuda;
using generators::KernelResources;

constexpr std::uint64_t kSeed = 20261130;
constexpr int kDraws = 150;
constexpr std::int64_t kSpills = 8;  // bytes that do not count

struct Subject {
  Algorithm algorithm;
  Problem problem;
  std::vector<std::string> schedules;
};

Subject subject(Algorithm algorithm, const std::string& text) {
  Subject made{std::move(algorithm), {}, {}};
  made.problem = resolve(parse_problem_text(text), made.algorithm);
  const schedules::Space space = schedules::space_for(made.algorithm, made.problem, schedules::device_named("h200")).value();
  schedules::Random random(test_seed(kSeed));
  std::set<std::string> unique;
  for (const schedules::Seed& seed : space.seeds()) unique.insert(print(space.schedule(seed.point)));
  for (const schedules::Point& step : space.steps(space.seeds().front().point)) unique.insert(print(space.schedule(step)));
  for (int i = 0; i < kDraws; ++i) unique.insert(print(space.schedule(space.sample(random))));
  made.schedules = {unique.begin(), unique.end()};
  return made;
}

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  all.push_back(subject(gate(), "gate(m=1024, n=12288)"));
  all.push_back(subject(norm(), "norm(m=1024, n=4096)"));
  all.push_back(subject(shares(), "shares(m=4096, n=8192)"));
  all.push_back(subject(scaled_rows(), "scaled_rows(m=64, n=12288)"));
  all.push_back(subject(turn(), "turn(m=4096, n=4096)"));
  all.push_back(subject(dot_by_terms(), "dot_by_terms(m=2, n=12288, k=4096)"));
  all.push_back(subject(dot_by_terms(), "dot_by_terms(m=1, n=4096, k=12288)"));
  all.push_back(subject(dot_by_columns(), "dot_by_columns(m=1, n=4096, k=12288)"));
  all.push_back(subject(dot_by_columns(), "dot_by_columns(m=2, n=12288, k=4096)"));
  return all;
}

struct Compared {
  std::string plan;
  KernelResources predicted, actual;
  bool fits() const {
    const double off = std::abs(static_cast<double>(predicted.registers - actual.registers));
    return off <= std::max(8.0, 0.15 * static_cast<double>(actual.registers));
  }
};

// Counts over all plans; compilations are shared out among the processors.
class Census {
 public:
  void take(const Subject& subject, const std::string& schedule, const generators::Build& build) {
    const std::lock_guard lock(mutex_);
    const std::string plan = print(subject.problem) + "\n" + schedule;
    if (build.rejection) {
      EXPECT_FALSE(build.rejection->text.empty()) << plan;
      ++rejected_[std::string(print(build.rejection->reason))];
      if (build.rejection->reason == generators::Reason::schedule_error || build.rejection->reason == generators::Reason::compile_error)
        ADD_FAILURE() << plan << build.rejection->text;
      return;
    }
    ASSERT_EQ(build.predicted->kernels.size(), build.actual->kernels.size()) << plan;
    for (std::size_t i = 0; i < build.actual->kernels.size(); ++i) compared_.push_back({plan, build.predicted->kernels[i], build.actual->kernels[i]});
  }

  const std::vector<Compared>& compared() const { return compared_; }

  std::string summary() const {
    std::string text = fmt::format("{} kernels compared", compared_.size());
    for (const auto& [reason, count] : rejected_) text += fmt::format(", {} {}", count, reason);
    return text;
  }

 private:
  std::mutex mutex_;
  std::vector<Compared> compared_;
  std::map<std::string, int> rejected_;
};

void compile_all(const std::vector<Subject>& subjects, const cuda::compile::Nvrtc& nvrtc, Census& census) {
  std::vector<std::pair<const Subject*, const std::string*>> work;
  for (const Subject& subject : subjects)
    for (const std::string& schedule : subject.schedules) work.emplace_back(&subject, &schedule);
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> workers;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
    workers.emplace_back([&] {
      for (std::size_t at = next++; at < work.size(); at = next++) {
        const auto& [subject, schedule] = work[at];
        census.take(*subject, *schedule, cuda::build(nvrtc, subject->algorithm, parse_schedule(*schedule), subject->problem, schedules::device_named("h200")));
      }
    });
}

class Plans : public cuda::compile::WithNvrtc {};

TEST_F(Plans, compile_and_take_what_was_predicted) {
  Census census;
  compile_all(subjects(), *nvrtc_, census);
  int fitting = 0, spilling = 0, named = 0, said = 0;
  for (const Compared& one : census.compared()) {
    EXPECT_EQ(one.predicted.shared_bytes, one.actual.shared_bytes) << one.plan;
    EXPECT_EQ(one.predicted.blocks, one.actual.blocks) << one.plan;
    const bool spills = one.actual.spill_bytes > kSpills, says = one.predicted.spill_bytes > kSpills;
    fitting += one.fits();
    spilling += spills;
    said += says;
    named += spills && says;
  }
  const auto all = static_cast<double>(census.compared().size());
  std::printf("%s; registers fit in %.1f %%; %d spill, %d of them predicted, %d predicted in all\n", census.summary().c_str(), 100 * fitting / all, spilling, named, said);
  EXPECT_GE(fitting, 0.95 * all);
  EXPECT_GE(spilling, 30);
  EXPECT_GE(named, 0.9 * spilling);
  EXPECT_GE(named, 0.7 * said);
}

}  // namespace
}  // namespace kiln::tests
