#include "tests/generators/cuda/plans/census.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <set>
#include <thread>
#include <utility>

#include "dsl/schedule.h"
#include "generators/cuda/build.h"
#include "schedules/devices.h"
#include "schedules/spaces.h"
#include "tests/support/random_schedule.h"

namespace kiln::tests {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kSeed = 20261130;
constexpr int kDraws = 150;
constexpr std::int64_t kSpills = 8;  // bytes that do not count

}  // namespace

PlansOfProblem plans_of(Algorithm algorithm, const std::string& problem) {
  PlansOfProblem made{std::move(algorithm), {}, {}};
  made.problem = resolve(parse_problem_text(problem), made.algorithm);
  const schedules::Space space = schedules::space_for(made.algorithm, made.problem, schedules::device_named("h200")).value();
  schedules::Random random(test_seed(kSeed));
  std::set<std::string> unique;
  for (const schedules::Seed& seed : space.seeds()) unique.insert(print(space.schedule(seed.point)));
  for (const schedules::Point& step : space.steps(space.seeds().front().point)) unique.insert(print(space.schedule(step)));
  for (int i = 0; i < kDraws; ++i) unique.insert(print(space.schedule(space.sample(random))));
  made.schedules = {unique.begin(), unique.end()};
  return made;
}

bool Census::Compared::fits() const {
  const double off = std::abs(static_cast<double>(predicted.registers - actual.registers));
  return off <= std::max(8.0, 0.15 * static_cast<double>(actual.registers));
}

void Census::compile(const std::vector<PlansOfProblem>& problems, const generators::cuda::compile::Nvrtc& nvrtc) {
  const auto start = Clock::now();
  std::vector<std::pair<const PlansOfProblem*, const std::string*>> work;
  for (const PlansOfProblem& of : problems)
    for (const std::string& schedule : of.schedules) work.emplace_back(&of, &schedule);
  const Device& device = schedules::device_named("h200");
  std::atomic<std::size_t> next = 0;
  {
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
      workers.emplace_back([&] {
        for (std::size_t at = next++; at < work.size(); at = next++) {
          const auto& [of, schedule] = work[at];
          take(*of, *schedule, generators::cuda::build(nvrtc, of->algorithm, parse_schedule(*schedule), of->problem, device));
        }
      });
  }
  seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
}

void Census::take(const PlansOfProblem& of, const std::string& schedule, const generators::Build& build) {
  const std::lock_guard lock(mutex_);
  const std::string plan = print(of.problem) + "\n" + schedule;
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

std::string Census::summary() const {
  std::string text = fmt::format("{} kernels compared in {:.0f} s", compared_.size(), seconds_);
  for (const auto& [reason, count] : rejected_) text += fmt::format(", {} {}", count, reason);
  return text;
}

void Census::expect_predicted(int fewest_spilling) const {
  int fitting = 0, spilling = 0, named = 0, said = 0;
  for (const Compared& one : compared_) {
    EXPECT_EQ(one.predicted.shared_bytes, one.actual.shared_bytes) << one.plan;
    EXPECT_EQ(one.predicted.blocks, one.actual.blocks) << one.plan;
    const bool spills = one.actual.spill_bytes > kSpills, says = one.predicted.spill_bytes > kSpills;
    fitting += one.fits();
    spilling += spills;
    said += says;
    named += spills && says;
  }
  const auto all = static_cast<double>(compared_.size());
  std::printf("%s; registers fit in %.1f %%; %d spill, %d of them predicted, %d predicted in all\n", summary().c_str(), 100 * fitting / all, spilling,
              named, said);
  EXPECT_GE(fitting, 0.95 * all);
  EXPECT_GE(spilling, fewest_spilling);
  EXPECT_GE(named, 0.9 * spilling);
  EXPECT_GE(named, 0.7 * said);
}

}  // namespace kiln::tests
