// Points of a space in the order in which a cost says they are worth trying, corrected by what became of those that were.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "schedules/space.h"

namespace kiln::autotune {

class Ranking {
 public:
  // Lower is better, positive; nothing where it cannot be told.
  using Cost = std::function<std::optional<double>(const Schedule&)>;

  // Asks the cost of at most some 20,000 points: all of a small space; of a larger one as many at even distances, and from the best of those step by step on.
  Ranking(const schedules::Space& space, Cost cost);

  // The point that is expected to be the best of those not taken, where a point close to ones that were taken has to be a little better: near ties are tried in
  // different places first. Nothing when all are taken.
  std::optional<schedules::Point> best_apart() const;

  // Of these points, the one that is expected to be the best of those not taken.
  std::optional<schedules::Point> best_of(const std::vector<schedules::Point>& points);

  // Whether the cost of a point is within `factor` of the least, or cannot be told.
  bool is_within(const schedules::Point& point, double factor);
  // Nothing where it cannot be told.
  std::optional<double> cost_of(const schedules::Point& point);

  void take(const schedules::Point& point);
  // A taken point's time, in any unit that is the same for all. What the cost misses there it is taken to miss in part nearby.
  void learn(const schedules::Point& point, double time);

 private:
  struct Entry {
    schedules::Point point;
    double cost = 0;                 // logarithm
    bool is_taken = false;
    double crowd = 0;                // closeness of taken points
    double weight = 0, missed = 0;   // of learnt points: closeness, and closeness times what the cost missed
  };
  struct Learnt {
    std::size_t entry = 0;
    double missed = 0;               // logarithm of the time less that of the cost
  };

  std::optional<std::size_t> find(const schedules::Point& point);  // asks the cost of a point that is new
  std::optional<std::size_t> admit(const schedules::Point& point);
  void walk_from_best();
  void weigh_knobs();
  double closeness(const schedules::Point& a, const schedules::Point& b) const;
  double expected(const Entry& entry) const;
  void settle_usual();

  const schedules::Space& space_;
  Cost cost_;
  std::vector<Entry> entries_;
  std::map<schedules::Point, std::optional<std::size_t>> index_;
  std::vector<double> knobs_;        // how far apart another value of each puts two points
  double least_ = 0;                 // cost
  std::vector<std::size_t> taken_;
  std::vector<Learnt> learnt_;
  double usual_ = 0;                 // what the cost misses in the middle: its unit
};

}  // namespace kiln::autotune
