#include "autotune/search/mixed_search.h"

#include "schedules/sketch.h"

namespace kiln::autotune {
namespace {

// Of four ideas, how many are edits: most while the best is nobody's point (an author's schedule, an autoscheduler's, an edit of before), some while
// it is one of the sketch.
constexpr std::size_t kEditsAhead = 3, kEditsBehind = 1;

}  // namespace

bool MixedSearch::may_edit() const { return !points_ || points_->space() == schedules::kSketch; }

bool MixedSearch::wants_edit() { return may_edit() && turn_++ % 4 >= 4 - (best_is_of_space_ ? kEditsBehind : kEditsAhead); }

std::optional<Idea> MixedSearch::next_point() {
  if (!points_) return std::nullopt;
  std::optional<Suggestion> suggestion = points_->propose();
  if (!suggestion) return std::nullopt;
  return Idea{suggestion->schedule, std::move(suggestion)};
}

std::optional<Idea> MixedSearch::next_edit(const std::function<bool(const Digest&)>& is_known) {
  if (!may_edit()) return std::nullopt;
  std::optional<Schedule> edited = edits_.propose(is_known);
  if (!edited) return std::nullopt;
  return Idea{std::move(*edited), std::nullopt};
}

std::optional<Idea> MixedSearch::propose(const std::function<bool(const Digest&)>& is_known) {
  if (wants_edit()) {
    std::optional<Idea> edit = next_edit(is_known);
    return edit ? edit : next_point();
  }
  std::optional<Idea> point = next_point();
  return point ? point : next_edit(is_known);
}

void MixedSearch::observe(const Idea& idea, Outcome outcome) {
  if (outcome) learn(idea.schedule, *outcome, idea.suggestion.has_value());
  if (idea.suggestion && points_) points_->observe(idea.suggestion->point, outcome);
}

void MixedSearch::learn(const Schedule& schedule, double ratio, bool is_of_space) {
  edits_.learn(schedule, ratio);
  if (ratio >= best_ratio_) return;
  best_ratio_ = ratio;
  best_is_of_space_ = is_of_space;
}

}  // namespace kiln::autotune
