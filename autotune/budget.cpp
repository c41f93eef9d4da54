#include "autotune/budget.h"

#include <algorithm>
#include <cmath>

namespace kiln::autotune {

void Budget::need(double finals_s, double coverage_s) {
  finals_need_s_ = finals_s;
  coverage_need_s_ = coverage_s;
}

double Budget::search_ends_s() const {
  const double needed = total_s_ - kClosing_s - finals_need_s_ - coverage_need_s_;
  return std::min(search_share_s(), std::max(needed, search_share_s() / 2));
}

double Budget::finals_s(double spent_s, std::size_t remaining) const {
  const double left = left_s(spent_s) - kClosing_s, usable = left - std::max(left / 8, std::min(coverage_need_s_, left / 2));
  return std::max(0.0, usable / static_cast<double>(std::max<std::size_t>(1, remaining)));
}

Limits limits_of(double budget_s, std::size_t problems) {
  // Below this a limit would judge the machine's load, not the step.
  static constexpr double kLeast_s = 2;
  const auto limit = [budget_s](double share, double most_s) { return std::clamp(share * budget_s, kLeast_s, most_s); };
  const Limits most;
  return {.read_s = limit(0.4, most.read_s),
          .build_s = limit(0.3, most.build_s),
          .autoschedule_s = limit(0.4, most.autoschedule_s),
          // No least time: it is a seed among others, and a short search does better without one than waiting for it.
          .beam_search_s = std::min(0.15 * budget_s / static_cast<double>(std::max<std::size_t>(1, problems)), most.beam_search_s),
          .reference_s = limit(0.4, most.reference_s),
          .call_s = limit(0.2, most.call_s)};
}

std::optional<std::size_t> next_problem(const std::vector<Prospect>& prospects) {
  std::optional<std::size_t> best;
  double best_worth = -1;
  for (std::size_t i = 0; i < prospects.size(); ++i) {
    const Prospect& prospect = prospects[i];
    if (prospect.exhausted) continue;
    if (prospect.batches == 0) return i;
    const double worth = prospect.calls * prospect.best_ns * prospect.recent_gain / std::max(1e-3, prospect.batch_s);
    if (worth > best_worth) {
      best_worth = worth;
      best = i;
    }
  }
  return best;
}

double expected_gain(const std::vector<double>& best_after_batch) {
  // A first batch holds the seeds: what it gained says little about the next, so one batch alone counts as 10 %.
  constexpr double kFirst = 0.1;
  constexpr std::size_t kLatest = 3;
  const std::size_t n = best_after_batch.size();
  if (n < 2) return kFirst;
  const std::size_t from = n > kLatest ? n - 1 - kLatest : 0;
  const double gain = 1 - std::pow(best_after_batch.back() / best_after_batch[from], 1.0 / static_cast<double>(n - 1 - from));
  int stale = 0;
  while (stale + 1 < static_cast<int>(n) && best_after_batch[n - 1 - static_cast<std::size_t>(stale)] >= best_after_batch[n - 2 - static_cast<std::size_t>(stale)])
    ++stale;
  return std::max(gain, kFirst * std::pow(0.5, stale));
}

}  // namespace kiln::autotune
