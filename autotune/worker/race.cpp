#include "autotune/worker/race.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>

#include <fmt/format.h>

#include "autotune/measure/stopping.h"
#include "autotune/worker/running.h"
#include "dsl/error.h"

namespace kiln::autotune {
namespace {

using generators::Reason;
using generators::Rejection;

constexpr double kHopeless = 4;    // times the screen's cut: no need to be warm to see that
constexpr double kLongHopeless = 1.2, kLong_ns = 5e7;  // calls that long are nearly as fast cold
constexpr double kSettles_ns = 1e6;  // a call that long has made the caches its own before it ends, whatever was in them
constexpr int kLeastInRound = 3;   // samples of the longest kernels
constexpr double kFarBehind = 2;   // times the anchor: of such a baseline one sample a round tells the ratio well enough, more would eat the race
constexpr std::uint64_t kFloorTries = 3;
constexpr double kOnceSlack = 2;   // a single sample on a shared machine may be off by this factor: another process on the same core

// A contender with what it has shown so far.
struct Runner {
  RaceEntry entry;
  std::unique_ptr<LoadedCandidate> build;
  std::unique_ptr<TimedKernel> kernel;  // of the build
  std::optional<StoppingRule> rule{};
  std::vector<Sample> samples{};
  double warm_ns = 0;
  bool is_told = false;     // its result is out: it takes no further part, unless others are compared with it
  bool is_out = false;      // rejected or timed once: it takes no part at all
  bool timed_once = false;
  std::int64_t id() const { return entry.candidate.id; }
};

// As many as fit into round_ms, within [least, round_samples].
int samples_in_round(const TimedKernel& kernel, const Protocol& protocol, int least) {
  const double fit = protocol.round_ms * 1e6 / std::max(kernel.sample_ns(), 1.0);
  return static_cast<int>(std::clamp(fit, static_cast<double>(least), static_cast<double>(protocol.round_samples)));
}

class Race {
 public:
  Race(std::vector<Contender> contenders, CallRotation& calls, const RaceRequest& request, SharedPage& page,
       const std::function<void(const RaceResult&)>& tell)
      : request_(request), page_(page), tell_(tell), random_(request.options.seed), deadline_(seconds_from_now(request.options.limit_s)) {
    for (Contender& contender : contenders) {
      auto kernel = contender.build->timed_kernel(calls, contender.entry.candidate.id);
      runners_.push_back(std::make_unique<Runner>(Runner{contender.entry, std::move(contender.build), std::move(kernel)}));
    }
    // Whom the screen compares with comes first; the others in random order.
    std::shuffle(runners_.begin(), runners_.end(), random_);
    std::stable_partition(runners_.begin(), runners_.end(), [](const auto& r) { return r->entry.is_baseline; });
    std::stable_partition(runners_.begin(), runners_.end(), [](const auto& r) { return r->entry.is_incumbent; });
  }

  void run() {
    for (const auto& runner : runners_) {
      prepare(*runner);
      if (baseline_failed()) return;
    }
    if (!is_screen()) run_rounds();
    if (baseline_failed()) return;
    for (const auto& runner : runners_) tell(*runner, std::nullopt);
  }

 private:
  bool is_screen() const { return request_.options.stage == RaceStage::screen; }
  bool is_over() const { return page_.stop.load(std::memory_order_relaxed) != 0 || Clock::now() >= deadline_; }

  // There is nothing to compare with: the others are left without a result.
  bool baseline_failed() const {
    const Runner& baseline = *find(false);
    return baseline.is_out && !baseline.timed_once;
  }

  // Twice the slack while the machine is noisy.
  double cut_ns() const {
    const double cut = request_.protocol.screen_cut + (request_.options.floor > kContendedFloor ? request_.protocol.screen_cut - 1 : 0);
    return best_ns_ * cut;
  }

  double hopeless_ns() const { return cut_ns() * (cut_ns() > kLong_ns ? kLongHopeless : kHopeless); }

  bool may_be_cut(const Runner& runner) const { return !runner.entry.is_baseline && !runner.entry.is_incumbent && std::isfinite(best_ns_); }

  // Warms a contender, and cuts it in a screen when that shows enough.
  void prepare(Runner& runner) {
    if (is_over()) return;
    const RaceOptions& options = request_.options;
    if (runner.entry.is_baseline && options.once_ns > 0) {
      const double ns = runner.kernel->call_once();
      if (!runner.kernel->failure() && ns > options.once_ns) {
        runner.samples.push_back({0, static_cast<float>(ns), false});
        runner.timed_once = runner.is_out = true;
        return;
      }
    }
    const bool is_cuttable = is_screen() && may_be_cut(runner);
    runner.warm_ns = runner.kernel->warm(is_cuttable ? hopeless_ns() : 0);
    if (reject_if_broken(runner) || !is_screen()) return;
    if (is_cuttable && runner.warm_ns > hopeless_ns()) return cut(runner, runner.warm_ns);
    // As in the races that decide: a kernel that was warmed for thousands of calls has made the caches its own, down to which of its lines they keep.
    if (runner.warm_ns < kSettles_ns) runner.kernel->begin_burst();
    take_screen_samples(runner);
  }

  // Cuts it when it is too slow.
  void take_screen_samples(Runner& runner) {
    for (int i = 0; i < request_.protocol.screen_samples; ++i) runner.samples.push_back(runner.kernel->sample(0));
    if (reject_if_broken(runner)) return;
    std::vector<double> ns = clean_ns(runner.samples, request_.protocol.screen_samples);
    if (const double least = *std::min_element(ns.begin(), ns.end()); may_be_cut(runner) && least > cut_ns()) return cut(runner, least);
    best_ns_ = std::min(best_ns_, quantile(ns, request_.protocol.statistic()));
  }

  void cut(Runner& runner, double least_ns) {
    tell(runner, Rejection{Reason::cut_slow, least_ns, cut_ns(),
                           fmt::format("its fastest call takes {:.0f} ns; {:.0f} ns is the cut, the best takes {:.0f} ns", least_ns, cut_ns(), best_ns_)});
  }

  bool reject_if_broken(Runner& runner) {
    if (const auto failure = runner.kernel->failure()) {
      tell(runner, Rejection{Reason::run_error, std::nullopt, std::nullopt, fmt::format("a timed call failed: {}", *failure)});
      return true;
    }
    const double least_ns = std::max(request_.options.least_ns, std::numeric_limits<double>::min());
    if (runner.warm_ns >= least_ns) return false;
    tell(runner, Rejection{Reason::implausible, runner.warm_ns, least_ns,
                           fmt::format("a call in {:.1f} ns; no call on this device can be faster than {:.1f} ns", runner.warm_ns, least_ns)});
    return true;
  }

  // Whom the stopping rules compare with: the incumbent, else the baseline, else (when that is timed once or gone) the first that runs.
  Runner* anchor() {
    for (const bool want_incumbent : {true, false})
      for (const auto& runner : runners_)
        if (!runner->is_out && (want_incumbent ? runner->entry.is_incumbent : runner->entry.is_baseline)) return runner.get();
    for (const auto& runner : runners_)
      if (!runner->is_out) return runner.get();
    return nullptr;
  }

  int least_samples() const {
    return request_.options.stage == RaceStage::final_ ? request_.protocol.final_samples : request_.protocol.rank_samples;
  }

  void run_rounds() {
    Runner* base = anchor();
    if (base == nullptr) return;
    const Protocol& p = request_.protocol;
    const StoppingLimits limits{tie_margin(request_.options.floor), least_samples(), std::max(p.max_samples, least_samples()), p.max_s,
                                request_.options.stage == RaceStage::rank};
    for (const auto& runner : runners_) runner->rule.emplace(limits, request_.options.seed);
    for (int round = 0; !is_over() && !baseline_failed() && has_open(*base); ++round) {
      for (Runner* runner : starters(*base)) {
        if (is_over()) break;
        run_burst(*runner, *base, round);
      }
      for (const auto& runner : runners_)
        if (!runner->is_out && !runner->is_told) judge(*runner, *base, round);
    }
  }

  // The anchor alone is done when it has its samples; with others, when each of them is decided.
  bool has_open(const Runner& base) const {
    bool others = false, open = false;
    for (const auto& runner : runners_) {
      if (runner->is_out || runner.get() == &base) continue;
      others = true;
      open = open || !runner->rule->is_finished();
    }
    return others ? open : !base.rule->is_finished();
  }

  std::vector<Runner*> starters(const Runner& base) {
    std::vector<Runner*> starters;
    for (const auto& runner : runners_)
      if (!runner->is_out && (!runner->is_told || runner->entry.is_baseline || runner.get() == &base)) starters.push_back(runner.get());
    std::shuffle(starters.begin(), starters.end(), random_);
    return starters;
  }

  void run_burst(Runner& runner, const Runner& base, int round) {
    const bool is_far_behind = runner.entry.is_baseline && runner.kernel->sample_ns() > request_.protocol.round_ms * 1e6 / kLeastInRound &&
                               runner.kernel->sample_ns() > kFarBehind * base.kernel->sample_ns();
    if (!is_far_behind) runner.kernel->begin_burst();
    const int samples = is_far_behind ? 1 : samples_in_round(*runner.kernel, request_.protocol, kLeastInRound);
    for (int i = 0; i < samples; ++i) runner.samples.push_back(runner.kernel->sample(round));
    reject_if_broken(runner);
  }

  void judge(Runner& runner, const Runner& base, int round) {
    const auto of_round = [round](const std::vector<Sample>& samples) {
      std::vector<Sample> members;
      std::copy_if(samples.begin(), samples.end(), std::back_inserter(members), [round](const Sample& sample) { return sample.round == round; });
      return members;
    };
    const std::vector<Sample> ours = of_round(runner.samples), theirs = of_round(base.samples);
    const std::vector<double> ratio = round_ratios(ours, theirs, request_.protocol.statistic());
    if (ratio.empty()) return;  // the race ended within the round
    double seconds = 0;
    for (const Sample& sample : ours) seconds += static_cast<double>(sample.ns) * 1e-9 * runner.kernel->calls_per_sample();
    runner.rule->add(ratio.front(), static_cast<int>(ours.size()), seconds);
    const bool stays = &runner == &base || runner.entry.is_baseline;  // others are compared with it to the end
    if (runner.rule->is_finished() && !stays) tell(runner, std::nullopt);
  }

  const Runner* find(bool incumbent) const {
    for (const auto& runner : runners_)
      if (incumbent ? runner->entry.is_incumbent : runner->entry.is_baseline) return runner.get();
    return nullptr;
  }

  Ratio ratio(const Runner& runner, const Runner& base, double value_ns) const {
    const double share = request_.protocol.statistic();
    if (&runner == &base && !runner.samples.empty()) return {1, 1, 1, static_cast<int>(round_ratios(runner.samples, base.samples, share).size())};
    if (!base.timed_once && !runner.timed_once) return ratio_to(runner.samples, base.samples, request_.options.seed, share);
    if (runner.samples.empty() || base.samples.empty()) return {std::nan(""), std::nan(""), std::nan(""), 0};
    const double value = value_ns / quantile(clean_ns(base.samples, request_.protocol.min_clean_samples), share);
    return {value, value / kOnceSlack, value * kOnceSlack, 1};
  }

  void tell(Runner& runner, std::optional<Rejection> rejection) {
    if (rejection) runner.is_out = true;
    if (std::exchange(runner.is_told, true)) return;
    RaceResult result;
    result.id = runner.id();
    result.rejection = std::move(rejection);
    result.samples = runner.samples;
    result.calls_per_sample = runner.kernel->calls_per_sample();
    result.timed_once = runner.timed_once;
    const std::vector<double> ns = clean_ns(runner.samples, request_.protocol.min_clean_samples);
    result.dropped = static_cast<int>(runner.samples.size() - ns.size());
    result.q1_ns = lower_quartile(ns);
    result.median_ns = median(ns);
    result.min_ns = quantile(ns, 0);
    result.value_ns = quantile(ns, request_.protocol.statistic());
    const Runner* baseline = find(false);
    const Runner* incumbent = find(true);
    result.to_baseline = ratio(runner, *baseline, result.value_ns);
    result.to_incumbent = incumbent != nullptr ? ratio(runner, *incumbent, result.value_ns) : result.to_baseline;
    const int wanted = is_screen() ? request_.protocol.screen_samples : least_samples();
    const bool decided = runner.rule && runner.rule->is_finished();
    result.cut_short = is_over() && !result.rejection && !runner.timed_once && !decided && static_cast<int>(runner.samples.size()) < wanted;
    tell_(result);
  }

  const RaceRequest& request_;
  SharedPage& page_;
  const std::function<void(const RaceResult&)>& tell_;
  std::mt19937_64 random_;
  Clock::time_point deadline_;
  std::vector<std::unique_ptr<Runner>> runners_;
  double best_ns_ = std::numeric_limits<double>::infinity();
};

struct TwoSeries {
  std::vector<Sample> a, b;
};

// At least two rounds of one sample each, then as many as fit before the deadline.
TwoSeries take_two_series(TimedKernel& timed, const Protocol& protocol, Clock::time_point deadline) {
  TwoSeries series;
  const int rounds = std::max(2, protocol.rank_samples / protocol.round_samples);
  const int samples = samples_in_round(timed, protocol, 1);
  for (int round = 0; round < rounds && (round < 2 || Clock::now() < deadline); ++round)
    for (std::vector<Sample>* side : {&series.a, &series.b})
      for (int i = 0; i < samples; ++i) side->push_back(timed.sample(round));
  return series;
}

}  // namespace

void run_race(MeasuredDevice& device, const PreparedSubject& subject, std::vector<Contender> contenders, const RaceRequest& request, SharedPage& page,
              const std::function<void(const RaceResult&)>& tell) {
  const auto calls = device.rotation(subject.algorithm(), subject.inputs());
  std::vector<Contender> starters;
  for (Contender& contender : contenders) {
    const Suspect suspect(page, contender.entry.candidate.id);
    auto rejection = contender.build->find_unmet(subject.algorithm(), subject.inputs().extents);
    if (!rejection) {
      starters.push_back(std::move(contender));
      continue;
    }
    RaceResult result;
    result.id = contender.entry.candidate.id;
    result.rejection = std::move(rejection);
    tell(result);
  }
  const bool has_baseline = std::any_of(starters.begin(), starters.end(), [](const Contender& c) { return c.entry.is_baseline; });
  if (has_baseline) Race(std::move(starters), *calls, request, page, tell).run();
}

FloorOutcome measure_floor(MeasuredDevice& device, const PreparedSubject& subject, LoadedCandidate& build, const Candidate& kernel, const RaceRequest& request,
                           SharedPage& page) {
  FloorOutcome best;
  {
    const Suspect suspect(page, kernel.id);
    best.rejection = build.find_unmet(subject.algorithm(), subject.inputs().extents);
  }
  if (best.rejection) return best;
  const auto calls = device.rotation(subject.algorithm(), subject.inputs());
  const auto timed = build.timed_kernel(*calls, kernel.id);
  timed->warm(0);
  const Clock::time_point deadline = seconds_from_now(2 * request.protocol.max_s);
  const double share = request.protocol.statistic();
  best.floor = std::numeric_limits<double>::infinity();
  for (std::uint64_t attempt = 0; attempt < kFloorTries && best.floor > kContendedFloor; ++attempt) {
    if (attempt > 0 && Clock::now() >= deadline) break;
    const auto [a, b] = take_two_series(*timed, request.protocol, deadline);
    const double floor = noise_floor(a, b, request.options.seed + attempt, share);
    if (floor >= best.floor) continue;
    best.floor = floor;
    best.value_ns = quantile(clean_ns(a, request.protocol.min_clean_samples), share);
  }
  best.contended = best.floor > kContendedFloor;
  if (const auto failure = timed->failure()) best.rejection = Rejection{Reason::run_error, std::nullopt, std::nullopt, fmt::format("a timed call failed: {}", *failure)};
  return best;
}

}  // namespace kiln::autotune
