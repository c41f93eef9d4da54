// What is tried next of a problem: points of its space and edits of the best schedules that are known, in turn. Same seed and same outcomes: same
// proposals.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "autotune/search/edit_search.h"
#include "autotune/search/proposer.h"

namespace kiln::autotune {

// Something to try. Without a suggestion it is an edit.
struct Idea {
  Schedule schedule;
  std::optional<Suggestion> suggestion;
};

class MixedSearch {
 public:
  // No points: there is no space, and edits alone are proposed; no edits: points alone. A space other than the sketch was written by someone who said what is worth
  // trying: its points alone are proposed. `expected_trials` as in SearchPlan.
  MixedSearch(std::unique_ptr<Proposer> points, std::optional<EditSearch> edits, std::uint64_t expected_trials)
      : points_(std::move(points)), edits_(std::move(edits)), explored_(std::min(kMostExplored, kExplored * static_cast<double>(expected_trials))) {}

  const Proposer* points() const { return points_.get(); }
  void drop_points() { points_.reset(); }

  // A point's schedule may be known or have come before; an edit's is neither. Nothing: all was proposed. Throws what the space throws.
  std::optional<Idea> propose(const std::function<bool(const Digest&)>& is_known);

  // What became of an idea. Throws what the space throws.
  void observe(const Idea& idea, Outcome outcome);

  // What is known of a schedule that this search did not propose: a seed, or one of an earlier run.
  void learn(const Schedule& schedule, double ratio, bool is_of_space);

 private:
  // Of the trials that are expected, the share of points before their best is edited more than now and then: edits carry far from a good start, and nowhere
  // from a poor one.
  static constexpr double kExplored = 0.3, kMostExplored = 48;

  bool may_edit() const;
  bool wants_edit();
  int edits_of_sixteen() const;
  std::optional<Idea> next_point();
  std::optional<Idea> next_edit(const std::function<bool(const Digest&)>& is_known);

  std::unique_ptr<Proposer> points_;
  std::optional<EditSearch> edits_;
  double explored_;                // points
  double best_ratio_ = 1;          // the baseline's, until something is faster
  bool best_is_of_space_ = false;
  int observed_points_ = 0;
  int near_points_ = 0;            // not far behind the best when they were observed
  int debt_ = 0;                   // sixteenths of an edit that are due
};

}  // namespace kiln::autotune
