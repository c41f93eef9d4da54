#include "autotune/search/ledger.h"

#include <algorithm>

#include "dsl/error.h"

namespace kiln::autotune {

using schedules::Point;

std::optional<std::size_t> Ledger::find(const Point& point) const {
  const auto found = index_.find(point);
  return found == index_.end() ? std::nullopt : std::optional(found->second);
}

std::size_t Ledger::count(Phase phase) const {
  return static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.trial.phase == phase; }));
}

std::vector<Trial> Ledger::observed() const {
  std::vector<Trial> trials;
  for (const Entry& entry : entries_) {
    if (entry.observed) trials.push_back(entry.trial);
  }
  return trials;
}

bool Ledger::better(std::size_t a, std::size_t b) const {
  const auto succeeded = [&](std::size_t i) { return entries_[i].observed && entries_[i].trial.outcome.has_value(); };
  if (!succeeded(a) || !succeeded(b)) return succeeded(a);
  const double ratio_a = *entries_[a].trial.outcome, ratio_b = *entries_[b].trial.outcome;
  return ratio_a != ratio_b ? ratio_a < ratio_b : a < b;
}

Proposal Ledger::record(const Point& point, Phase phase) {
  const bool is_new = index_.emplace(point, entries_.size()).second;
  KILN_CHECK(is_new, "a point is proposed twice: " + schedules::print(point));
  entries_.push_back({{point, phase, std::nullopt}, false});
  return {point, phase};
}

std::size_t Ledger::observe(const Point& point, Outcome outcome) {
  const std::optional<std::size_t> entry = find(point);
  KILN_CHECK(entry.has_value(), "an outcome of a point that was not proposed: " + schedules::print(point));
  entries_[*entry].trial.outcome = outcome;
  entries_[*entry].observed = true;
  return *entry;
}

void Ledger::adopt(const Trial& trial) {
  if (index_.emplace(trial.point, entries_.size()).second) entries_.push_back({trial, true});
}

std::optional<Point> Ledger::new_seed() const {
  for (const schedules::Seed& seed : space_.seeds()) {
    if (!find(seed.point)) return seed.point;
  }
  return std::nullopt;
}

std::optional<Point> Ledger::new_draw() {
  const std::optional<std::uint64_t> points = space_.count();
  if (points && entries_.size() >= *points) return std::nullopt;
  // While at most half of the points are known, 64 draws all hit known ones once in 2^64; then the new ones are few enough to list.
  for (int attempt = 0; attempt < 64; ++attempt) {
    Point drawn = space_.sample_by_form(random_);
    if (!find(drawn)) return drawn;
  }
  std::vector<std::uint64_t> left;
  for (std::uint64_t rank = 0; points && rank < *points; ++rank) {
    if (!find(space_.unrank(rank))) left.push_back(rank);
  }
  if (left.empty()) return std::nullopt;
  return space_.unrank(left[random_.below(left.size())]);
}

}  // namespace kiln::autotune
