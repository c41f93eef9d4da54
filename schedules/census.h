// The valid points of a space, counted without being listed. Knobs that no constraint connects are counted apart and multiplied; within a
// group, prefixes that agree on every knob a later constraint still reads are one node of a layered graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedules/space.h"

namespace kiln::schedules {

class Census {
 public:
  // Throws UsageError, naming the knobs, when constraints tie so many of them together that more than kMostCombinations would have to be told apart.
  explicit Census(const Space& space);
  static constexpr std::size_t kMostCombinations = 4'000'000;

  long double count() const { return count_; }
  const std::vector<long double>& drops() const { return drops_; }
  const std::optional<std::string>& unsatisfiable() const { return unsatisfiable_; }

  Point::Choice sample(Random& random) const;
  Point::Choice unrank(std::uint64_t rank) const;
  std::uint64_t rank(const Point::Choice& choice) const;

 private:
  static constexpr std::int32_t kDropped = -1;
  static constexpr std::int32_t kFirst = 0;  // the only node of a group's first level
  struct Node {
    long double below = 0;               // valid ways to bind this level's knob and all later ones of the group
    std::vector<std::int32_t> children;  // one a value: a node of the next level, or kDropped
  };
  struct Level {
    std::size_t knob = 0;
    std::vector<Node> nodes;
  };
  using Group = std::vector<Level>;
  class Builder;

  // How many points of the group take this value at this node.
  static long double weight(const Group& group, std::size_t level, std::int32_t node, std::size_t value);

  std::vector<Group> groups_;  // the first is the most significant in rank order
  std::size_t knob_count_ = 0;
  long double count_ = 0;
  std::vector<long double> drops_;
  std::optional<std::string> unsatisfiable_;
};

}  // namespace kiln::schedules
