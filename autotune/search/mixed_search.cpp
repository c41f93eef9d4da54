#include "autotune/search/mixed_search.h"

#include "schedules/sketch.h"

namespace kiln::autotune {
namespace {

// Of sixteen ideas, how many are edits. In ten pipelines whose authors had written schedules nine of ten of the best tenth were edits, and after the first
// sixteen points none came near: there they are all but given up.
constexpr int kFew = 2, kSome = 6, kMost = 12, kAllButOne = 15;
constexpr int kFairChance = 16;
constexpr double kNear = 1.5;

}  // namespace

bool MixedSearch::may_edit() const { return edits_ && (!points_ || points_->space() == schedules::kSketch); }

int MixedSearch::edits_of_sixteen() const {
  if (best_is_of_space_) return observed_points_ < explored_ ? kFew : kSome;
  return observed_points_ >= kFairChance && near_points_ == 0 ? kAllButOne : kMost;
}

bool MixedSearch::wants_edit() {
  if (!may_edit()) return false;
  debt_ += edits_of_sixteen();
  if (debt_ < 16) return false;
  debt_ -= 16;
  return true;
}

std::optional<Idea> MixedSearch::next_point() {
  if (!points_) return std::nullopt;
  std::optional<Suggestion> suggestion = points_->propose();
  if (!suggestion) return std::nullopt;
  return Idea{suggestion->schedule, std::move(suggestion)};
}

std::optional<Idea> MixedSearch::next_edit(const std::function<bool(const Digest&)>& is_known) {
  if (!may_edit()) return std::nullopt;
  std::optional<Schedule> edited = edits_->propose(is_known);
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
  if (idea.suggestion) {
    ++observed_points_;
    near_points_ += outcome && *outcome <= kNear * best_ratio_;
  }
  if (outcome) learn(idea.schedule, *outcome, idea.suggestion.has_value());
  if (idea.suggestion && points_) points_->observe(idea.suggestion->point, outcome);
}

void MixedSearch::learn(const Schedule& schedule, double ratio, bool is_of_space) {
  if (edits_) edits_->learn(schedule, ratio);
  if (ratio >= best_ratio_) return;
  best_ratio_ = ratio;
  best_is_of_space_ = is_of_space;
}

}  // namespace kiln::autotune
