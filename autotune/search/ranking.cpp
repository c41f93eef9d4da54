#include "autotune/search/ranking.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kiln::autotune {
namespace {

using schedules::Point;

// A cost takes some 30 us: a quarter of a second for so many, and as much again for the steps from the best.
constexpr std::uint64_t kAtOnce = 8192;
constexpr int kRounds = 4;
constexpr std::size_t kWalkers = 32;
// Two points are apart by the sum over the knobs in which they differ of what the knob changes in the cost near its least; a knob that changes nothing counts
// a little, one that changes all no more than enough. e^-1 close where the cost is known to differ by a tenth.
constexpr double kLeastApart = 0.005, kMostApart = 0.15, kScale = 0.1;
// A point has to be expected so much better for each one taken in its place.
constexpr double kCrowd = 0.03;
// What one measurement says is believed by two thirds where it was made.
constexpr double kDoubt = 0.5;
constexpr double kNearLeast = 0.1;

}  // namespace

Ranking::Ranking(const schedules::Space& space, Cost cost) : space_(space), cost_(std::move(cost)), knobs_(space.knobs().size(), kLeastApart) {
  const std::optional<std::uint64_t> count = space.unsatisfiable() ? 0 : space.count();
  const std::uint64_t asked = std::min(kAtOnce, count.value_or(0));
  for (std::uint64_t i = 0; i < asked; ++i) admit(space.unrank(static_cast<std::uint64_t>(static_cast<double>(i) * static_cast<double>(*count) / static_cast<double>(asked))));
  for (const schedules::Seed& seed : space.seeds()) find(seed.point);
  if (entries_.empty()) return;
  if (count && *count > asked) walk_from_best();
  least_ = std::min_element(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.cost < b.cost; })->cost;
  weigh_knobs();
}

std::optional<std::size_t> Ranking::admit(const Point& point) {
  const auto cost = cost_(space_.schedule(point));
  std::optional<std::size_t> place;
  if (cost) {
    place = entries_.size();
    entries_.push_back({point, std::log(*cost)});
    Entry& entry = entries_.back();
    for (const std::size_t taken : taken_) entry.crowd += closeness(point, entries_[taken].point);
    for (const Learnt& one : learnt_) {
      const double close = closeness(point, entries_[one.entry].point);
      entry.weight += close;
      entry.missed += close * one.missed;
    }
  }
  index_.emplace(point, place);
  return place;
}

std::optional<std::size_t> Ranking::find(const Point& point) {
  const auto known = index_.find(point);
  return known != index_.end() ? known->second : admit(point);
}

// Each round looks around the best that no round has looked around.
void Ranking::walk_from_best() {
  std::vector<bool> is_walked;
  for (int round = 0; round < kRounds; ++round) {
    is_walked.resize(entries_.size(), false);
    std::vector<std::size_t> best(entries_.size());
    std::iota(best.begin(), best.end(), std::size_t{0});
    std::stable_sort(best.begin(), best.end(), [&](std::size_t a, std::size_t b) { return entries_[a].cost < entries_[b].cost; });
    std::size_t walkers = 0;
    for (const std::size_t at : best) {
      if (is_walked[at]) continue;
      if (++walkers > kWalkers) break;
      is_walked[at] = true;
      const Point from = entries_[at].point;
      for (const Point& near : space_.steps(from)) find(near);
    }
  }
}

// By the steps around the best points: how the logarithm of the cost changes with each knob alone, in the middle. A knob with a few values that are out of the
// question and others that are alike is one of the latter kind.
void Ranking::weigh_knobs() {
  std::vector<std::vector<double>> changes(knobs_.size());
  std::vector<std::size_t> best(entries_.size());
  std::iota(best.begin(), best.end(), std::size_t{0});
  std::stable_sort(best.begin(), best.end(), [&](std::size_t a, std::size_t b) { return entries_[a].cost < entries_[b].cost; });
  best.resize(std::min(best.size(), kWalkers));
  for (const std::size_t at : best) {
    const Point from = entries_[at].point;
    for (const Point& near : space_.neighbours(from)) {
      const auto found = find(near);
      if (!found) continue;
      const auto knob = static_cast<std::size_t>(std::mismatch(from.choice().begin(), from.choice().end(), near.choice().begin()).first - from.choice().begin());
      changes[knob].push_back(std::abs(entries_[*found].cost - entries_[at].cost));
    }
  }
  for (std::size_t k = 0; k < knobs_.size(); ++k) {
    if (changes[k].empty()) continue;
    const auto middle = changes[k].begin() + static_cast<std::ptrdiff_t>(changes[k].size() / 2);
    std::nth_element(changes[k].begin(), middle, changes[k].end());
    knobs_[k] = std::clamp(*middle, kLeastApart, kMostApart);
  }
}

double Ranking::closeness(const Point& a, const Point& b) const {
  double apart = 0;
  for (std::size_t k = 0; k < knobs_.size(); ++k)
    if (a.choice()[k] != b.choice()[k]) apart += knobs_[k];
  return std::exp(-apart / kScale);
}

double Ranking::expected(const Entry& entry) const { return entry.cost + (entry.missed - usual_ * entry.weight) / (entry.weight + kDoubt); }

std::optional<Point> Ranking::best_apart() const {
  const Entry* best = nullptr;
  double least = 0;
  for (const Entry& entry : entries_) {
    if (entry.is_taken) continue;
    const double value = expected(entry) + kCrowd * entry.crowd;
    if (best != nullptr && value >= least) continue;
    best = &entry;
    least = value;
  }
  return best != nullptr ? std::optional(best->point) : std::nullopt;
}

std::optional<Point> Ranking::best_of(const std::vector<Point>& points) {
  std::optional<std::size_t> best;
  for (const Point& point : points) {
    const auto found = find(point);
    if (!found || entries_[*found].is_taken) continue;
    if (!best || expected(entries_[*found]) < expected(entries_[*best])) best = found;
  }
  return best ? std::optional(entries_[*best].point) : std::nullopt;
}

std::optional<double> Ranking::cost_of(const Point& point) {
  const auto found = find(point);
  return found ? std::optional(std::exp(entries_[*found].cost)) : std::nullopt;
}

bool Ranking::is_within(const Point& point, double factor) {
  const auto found = find(point);
  return !found || entries_[*found].cost <= least_ + std::log(factor);
}

void Ranking::take(const Point& point) {
  const auto found = find(point);
  if (!found || entries_[*found].is_taken) return;
  entries_[*found].is_taken = true;
  taken_.push_back(*found);
  for (Entry& entry : entries_) entry.crowd += closeness(entry.point, point);
}

void Ranking::learn(const Point& point, double time) {
  const auto found = find(point);
  if (!found || time <= 0) return;
  const double missed = std::log(time) - entries_[*found].cost;
  learnt_.push_back({*found, missed});
  for (Entry& entry : entries_) {
    const double close = closeness(entry.point, point);
    entry.weight += close;
    entry.missed += close * missed;
  }
  settle_usual();
}

// The middle of those that are expected to be good: far from there the cost misses more, and mostly one way.
void Ranking::settle_usual() {
  double least = entries_[learnt_.front().entry].cost;
  for (const Learnt& one : learnt_) least = std::min(least, entries_[one.entry].cost);
  std::vector<double> missed;
  for (const Learnt& one : learnt_)
    if (entries_[one.entry].cost <= least + kNearLeast) missed.push_back(one.missed);
  const auto middle = missed.begin() + static_cast<std::ptrdiff_t>(missed.size() / 2);
  std::nth_element(missed.begin(), middle, missed.end());
  usual_ = *middle;
}

}  // namespace kiln::autotune
