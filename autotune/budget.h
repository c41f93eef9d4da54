// How a run divides its time: pure decisions over what is known of each problem.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace kiln::autotune {

// The promise of --for: time runs from the start, a share is kept for finals and choices.
class Budget {
 public:
  // At least this share is kept for finals and the choice.
  static constexpr double kFinalsShare = 0.2;
  // Kept beside it for committing and printing, so that a promise of 60 s ends within it.
  static constexpr double kClosing_s = 1.0;

  explicit Budget(double total_s) : total_s_(total_s) {}

  // What is known to be needed, once the problems are prepared: their finals, and the checks of bucket variants after these. The search gives way to it, but
  // never more than half of its time.
  void need(double finals_s, double coverage_s);

  double total_s() const { return total_s_; }
  // What the search may take by the promise alone: equal runs plan by it, however long their first steps took.
  double search_share_s() const { return (total_s_ - kClosing_s) * (1 - kFinalsShare); }
  double search_ends_s() const;
  // What one problem's finals may take when `remaining` problems, this one included, have not had theirs. An eighth of the share, or what they are known to
  // need, stays for checks of bucket variants.
  double finals_s(double spent_s, std::size_t remaining) const;
  double left_s(double spent_s) const { return total_s_ - spent_s; }

 private:
  double total_s_, finals_need_s_ = 0, coverage_need_s_ = 0;
};

// The longest that one step may take before its process is killed: what never ends costs a share of the budget, not all of it.
struct Limits {
  double read_s = 60;          // one generator, generate() in both contexts
  double build_s = 30;         // one candidate
  double autoschedule_s = 60;  // one that Mullapudi2016 makes, and the reference (at most 9 s on 14 applications)
  double beam_search_s = 300;  // one that Adams2019 makes: 0.2 to 12 s with a beam of one, 1 to 300 s and more with its default, on the same
  double reference_s = 300;    // inputs and reference runs of one problem
  double call_s = 60;          // one call of a candidate
};

// The defaults, where the budget is long enough for them. Two steps in a row may reach their limits before the promise of --for is broken. A beam
// search is done for each of `problems`, and all of them together may take no more than a share.
Limits limits_of(double budget_s, std::size_t problems = 1);

// What the choice of the next problem looks at.
struct Prospect {
  double calls = 1;           // over the horizon
  double best_ns = 0;         // of one call; 0 before anything was measured
  double recent_gain = 1;     // relative gain of the best over the latest batches, 1 before the first
  double batch_s = 1;         // what its latest batch cost
  double least_s = 0;         // what the smallest batch would
  int batches = 0;
  bool exhausted = false;     // nothing left to propose
};

// The problem with the largest expected saving x demand per second of tuning. A problem without a batch comes first; nothing when all are exhausted.
std::optional<std::size_t> next_problem(const std::vector<Prospect>& prospects);

// The gain to expect of one more batch, from the best ratio after each batch so far: the mean gain of the last three, never below a floor that
// halves with every batch without gain, so that no problem is forgotten for ever.
double expected_gain(const std::vector<double>& best_after_batch);

}  // namespace kiln::autotune
