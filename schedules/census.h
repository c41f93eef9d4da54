// The valid points of a space, counted without being listed. Knobs that no constraint connects are counted apart and multiplied; within a
// group, prefixes that agree on every knob a later constraint still reads are one node of a layered graph. A group under a condition is counted
// once and multiplies the values that put it to use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedules/space.h"

namespace kiln::schedules {

class Census {
 public:
  static constexpr std::size_t kMostCombinations = 4'000'000;
  // Throws UsageError, naming the knobs, when constraints tie so many of them together that more combinations would have to be told apart.
  explicit Census(const Space& space, std::size_t most_combinations = kMostCombinations);

  long double count() const { return count_; }
  const std::vector<long double>& drops() const { return drops_; }
  const std::optional<std::string>& unsatisfiable() const { return unsatisfiable_; }

  Point::Choice sample(Random& random) const;
  Point::Choice sample_by_form(Random& random) const;
  Point::Choice unrank(std::uint64_t rank) const;
  std::uint64_t rank(const Point::Choice& choice) const;

  // Space::steps. Knobs out of use are left at any value.
  std::vector<Point::Choice> steps(const Point::Choice& from) const;

 private:
  static constexpr std::int32_t kDropped = -1;
  static constexpr std::int32_t kFirst = 0;  // the only node of a group's first level
  struct Node {
    long double below = 0;               // valid ways to bind this level's knob and all later ones of the group, groups put to use included
    long double forms = 0;               // the same with each group put to use counted as one way
    std::vector<std::int32_t> children;  // one a value: a node of the next level, or kDropped
  };
  struct Level {
    std::size_t knob = 0;
    bool is_derived = false;
    std::vector<Node> nodes;
    std::vector<long double> scale;               // one a value: the points of the groups that it puts to use
    std::vector<std::vector<std::size_t>> opens;  // one a value: those groups
  };
  struct Group {
    std::optional<Condition> only_when;
    std::vector<Level> levels;
    const Node& first() const { return levels[0].nodes[kFirst]; }
  };
  class Builder;
  class Stepper;

  void open_groups();
  static void count_below(Group& group);
  // How many points below the node take this value there.
  static long double weight(const Group& group, std::size_t level, std::int32_t node, std::size_t value);
  static long double below(const Group& group, std::size_t level, std::int32_t child);  // of the next level; 1 behind the last
  static long double forms(const Group& group, std::size_t level, std::int32_t node, std::size_t value);
  using Weight = long double (*)(const Group& group, std::size_t level, std::int32_t node, std::size_t value);
  void sample_group(const Group& group, Weight weight_of, Random& random, Point::Choice& choice) const;
  void unrank_group(const Group& group, std::uint64_t rank, Point::Choice& choice) const;
  std::uint64_t rank_group(const Group& group, const Point::Choice& choice) const;

  std::vector<Group> groups_;  // of those without a condition, the first is the most significant in rank order
  std::size_t knob_count_ = 0;
  long double count_ = 0;
  std::vector<long double> drops_;
  std::optional<std::string> unsatisfiable_;
};

}  // namespace kiln::schedules
