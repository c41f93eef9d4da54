#include "autotune/worker/host_kernel.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "autotune/worker/running.h"

namespace kiln::autotune {
namespace {

constexpr std::size_t kTimedAlignment = 64;               // what the default check has proven
constexpr std::int64_t kRotationLimit = std::int64_t{2} << 30;  // no more memory than this for a cold rotation
constexpr int kWarmCalls = 3;
constexpr double kWarmsItself_ns = 1e8;                   // after so long a call one more is enough
constexpr int kMostCalls = 100'000;                       // a sample of an empty kernel would otherwise never fill

// Of all threads: a worker of the pool that was preempted delays the call as much as the caller does.
long involuntary_switches() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

}  // namespace

HostRotation::HostRotation(const Algorithm& algorithm, const Inputs& inputs, Cache cache, std::int64_t last_level_bytes) {
  const std::int64_t bytes = std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes_of(algorithm, inputs)));
  std::int64_t sets = 1;
  if (cache == Cache::cold) sets = std::clamp<std::int64_t>(2 * last_level_bytes / bytes + 1, 2, std::max<std::int64_t>(2, kRotationLimit / bytes));
  for (std::int64_t i = 0; i < sets; ++i) sets_.push_back(std::make_unique<CallMemory>(algorithm, inputs, kTimedAlignment));
}

std::int64_t HostKernel::run(int calls) {
  const Suspect suspect(page_, id_);
  const InCall in_call(page_);
  const std::int64_t begun = monotonic_ns();
  for (int i = 0; i < calls; ++i)
    if (const int code = build_(calls_.next_argv()); code != 0 && !failure_) failure_ = failure_text(code);
  return monotonic_ns() - begun;
}

double HostKernel::warm(double hopeless_ns) {
  const double first_ns = static_cast<double>(run(1));
  double spent_ns = first_ns, least_ns = std::numeric_limits<double>::infinity();
  const auto is_cold = [&](int calls) {
    if (first_ns > kWarmsItself_ns) return calls < 2;
    return calls < kWarmCalls || spent_ns < protocol_.warm_ms * 1e6;
  };
  for (int calls = 1; !failure_ && is_cold(calls); ++calls) {
    const auto ns = static_cast<double>(run(1));
    spent_ns += ns;
    least_ns = std::min(least_ns, ns);
    if (hopeless_ns > 0 && least_ns > hopeless_ns) break;
  }
  call_ns_ = least_ns;
  calls_per_sample_ = static_cast<int>(std::clamp(std::floor(protocol_.sample_us * 1e3 / std::max(call_ns_, 1.0)), 1.0, static_cast<double>(kMostCalls)));
  return least_ns;
}

Sample HostKernel::sample(int round) {
  const long switches = involuntary_switches();
  const std::int64_t ns = run(calls_per_sample_);
  return {round, static_cast<float>(static_cast<double>(ns) / calls_per_sample_), involuntary_switches() != switches};
}

}  // namespace kiln::autotune
