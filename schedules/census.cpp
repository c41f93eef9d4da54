#include "schedules/census.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "dsl/error.h"

namespace kiln::schedules {
namespace {

// Groups of knobs that constraints connect, each in declared order, ordered by their first knob.
std::vector<std::vector<std::size_t>> connected_groups(const Space& space) {
  std::vector<std::size_t> parent(space.knobs().size());
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto root = [&](std::size_t knob) {
    while (parent[knob] != knob) knob = parent[knob];
    return knob;
  };
  for (const Constraint& constraint : space.constraints()) {
    for (const std::size_t knob : constraint.knobs) {
      const std::size_t a = root(constraint.knobs[0]), b = root(knob);
      parent[std::max(a, b)] = std::min(a, b);
    }
  }
  std::map<std::size_t, std::vector<std::size_t>> groups;
  for (std::size_t knob = 0; knob < parent.size(); ++knob) groups[root(knob)].push_back(knob);
  std::vector<std::vector<std::size_t>> result;
  for (auto& [first, knobs] : groups) result.push_back(std::move(knobs));
  return result;
}

}  // namespace

// Builds one group's graph level by level, from the first knob to the last.
class Census::Builder {
 public:
  Builder(const Space& space, std::vector<std::size_t> knobs, std::size_t& combinations_left)
      : space_(space), knobs_(std::move(knobs)), combinations_left_(combinations_left), drops(space.constraints().size(), 0) {
    find_due_and_live();
  }

  Group build() {
    Group group(knobs_.size());
    std::map<Point::Choice, Arrival> frontier{{Point::Choice(space_.knobs().size(), 0), {0, 1}}};
    for (std::size_t level = 0; level < knobs_.size(); ++level) {
      group[level].knob = knobs_[level];
      frontier = expand(level, frontier, group[level].nodes);
      if (frontier.empty() && !dead_) dead_ = dead_end(level);
    }
    count_below(group);
    return group;
  }

  const std::optional<std::string>& dead() const { return dead_; }

 private:
  struct Arrival {
    std::int32_t node = 0;
    long double prefixes = 0;  // valid prefixes that lead here
  };

  // A constraint is due at the last of its knobs; a knob is live while a constraint due later reads it.
  void find_due_and_live() {
    due_.resize(knobs_.size());
    std::vector<std::size_t> needed_until(knobs_.size(), 0);
    for (const ConstraintKind kind : {ConstraintKind::requirement, ConstraintKind::limit}) {
      for (std::size_t c = 0; c < space_.constraints().size(); ++c) {
        const Constraint& constraint = space_.constraints()[c];
        if (constraint.kind != kind) continue;
        std::vector<std::size_t> levels;
        for (std::size_t level = 0; level < knobs_.size(); ++level) {
          if (std::count(constraint.knobs.begin(), constraint.knobs.end(), knobs_[level]) > 0) levels.push_back(level);
        }
        if (levels.empty()) continue;
        due_[levels.back()].push_back(c);
        for (const std::size_t level : levels) needed_until[level] = std::max(needed_until[level], levels.back());
      }
    }
    forgotten_.resize(knobs_.size());
    for (std::size_t level = 0; level < knobs_.size(); ++level) {
      forgotten_[std::max(level, needed_until[level])].push_back(knobs_[level]);
    }
    raw_after_.assign(knobs_.size() + 1, 1);
    for (std::size_t level = knobs_.size(); level-- > 0;) {
      raw_after_[level] = raw_after_[level + 1] * static_cast<long double>(space_.knobs()[knobs_[level]].values.size());
    }
  }

  std::map<Point::Choice, Arrival> expand(std::size_t level, const std::map<Point::Choice, Arrival>& frontier, std::vector<Node>& nodes) {
    const std::size_t knob = knobs_[level], values = space_.knobs()[knob].values.size();
    nodes.resize(frontier.size());
    require_room(frontier.size() * values, level);
    combinations_left_ -= frontier.size() * values;
    std::map<Point::Choice, Arrival> next;
    for (const auto& [choice, arrival] : frontier) {
      Node& node = nodes[static_cast<std::size_t>(arrival.node)];
      node.children.assign(values, kDropped);
      Point::Choice extended = choice;
      for (std::size_t value = 0; value < values; ++value) {
        extended[knob] = static_cast<std::uint16_t>(value);
        if (const std::optional<std::size_t> broken = first_broken(level, extended)) {
          drops[*broken] += arrival.prefixes * raw_after_[level + 1];
          last_broken_ = *broken;
          continue;
        }
        Point::Choice key = extended;
        for (const std::size_t forgotten : forgotten_[level]) key[forgotten] = 0;
        Arrival& to = next.try_emplace(std::move(key), Arrival{static_cast<std::int32_t>(next.size()), 0}).first->second;
        require_room(next.size(), level);
        to.prefixes += arrival.prefixes;
        node.children[value] = to.node;
      }
    }
    return next;
  }

  std::optional<std::size_t> first_broken(std::size_t level, const Point::Choice& choice) const {
    if (due_[level].empty()) return std::nullopt;
    const Point prefix = space_.point(choice);
    for (const std::size_t c : due_[level]) {
      if (!space_.constraints()[c].holds(prefix)) return c;
    }
    return std::nullopt;
  }

  void require_room(std::size_t combinations, std::size_t level) const {
    if (combinations <= combinations_left_) return;
    std::string names;
    for (std::size_t l = 0; l <= level; ++l) names += (l > 0 ? ", " : "") + space_.knobs()[knobs_[l]].name;
    throw UsageError("space `" + space_.name() + "` ties too many knobs together to be counted: after " + names + " more than " +
                     std::to_string(kMostCombinations) + " combinations must be told apart; declare knobs next to those they share constraints with");
  }

  std::string dead_end(std::size_t level) const {
    const Constraint& constraint = space_.constraints()[last_broken_];
    return "space `" + space_.name() + "` has no points: knob `" + space_.knobs()[knobs_[level]].name +
           "` has no value left; the last was removed by: " + constraint.reason;
  }

  static void count_below(Group& group) {
    for (std::size_t level = group.size(); level-- > 0;) {
      for (Node& node : group[level].nodes) {
        for (const std::int32_t child : node.children) {
          if (child == kDropped) continue;
          node.below += level + 1 == group.size() ? 1 : group[level + 1].nodes[static_cast<std::size_t>(child)].below;
        }
      }
    }
  }

  const Space& space_;
  std::vector<std::size_t> knobs_;
  std::size_t& combinations_left_;
  std::vector<std::vector<std::size_t>> due_;        // constraints to ask once the level's knob is bound
  std::vector<std::vector<std::size_t>> forgotten_;  // knobs that no constraint due after the level reads
  std::vector<long double> raw_after_;               // product of the values of this level's knob and all later ones
  std::size_t last_broken_ = 0;
  std::optional<std::string> dead_;

 public:
  std::vector<long double> drops;  // by constraint, within the group
};

Census::Census(const Space& space) : knob_count_(space.knobs().size()), count_(1), drops_(space.constraints().size(), 0) {
  std::size_t combinations_left = kMostCombinations;
  long double valid_before = 1;
  for (const Constraint& constraint : space.constraints()) {
    KILN_CHECK(!constraint.knobs.empty(), "a constraint of space " + space.name() + " names no knob");
  }
  const std::vector<std::vector<std::size_t>> groups = connected_groups(space);
  std::vector<long double> raw(groups.size() + 1, 1);  // raw[g]: product of all values in groups g, g + 1, …
  for (std::size_t g = groups.size(); g-- > 0;) {
    raw[g] = raw[g + 1];
    for (const std::size_t knob : groups[g]) raw[g] *= static_cast<long double>(space.knobs()[knob].values.size());
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    Builder builder(space, groups[g], combinations_left);
    groups_.push_back(builder.build());
    // Points that an earlier group already dropped are counted there: only valid choices of earlier groups meet this group's drops.
    for (std::size_t c = 0; c < drops_.size(); ++c) drops_[c] += valid_before * builder.drops[c] * raw[g + 1];
    const long double below = groups_.back()[0].nodes[0].below;
    valid_before *= below;
    count_ *= below;
    if (builder.dead() && !unsatisfiable_) unsatisfiable_ = builder.dead();
  }
}

long double Census::weight(const Group& group, std::size_t level, std::int32_t node, std::size_t value) {
  const std::int32_t child = group[level].nodes[static_cast<std::size_t>(node)].children[value];
  if (child == kDropped) return 0;
  return level + 1 == group.size() ? 1 : group[level + 1].nodes[static_cast<std::size_t>(child)].below;
}

Point::Choice Census::sample(Random& random) const {
  Point::Choice choice(knob_count_, 0);
  for (const Group& group : groups_) {
    std::int32_t node = kFirst;
    for (std::size_t level = 0; level < group.size(); ++level) {
      const Node& here = group[level].nodes[static_cast<std::size_t>(node)];
      // Exact while the counts are; beyond 2^63 a draw of 63 bits scaled up, whose bias no sample could show.
      constexpr long double kExact = 9223372036854775808.0L;
      long double left = here.below < kExact ? static_cast<long double>(random.below(static_cast<std::uint64_t>(here.below)))
                                             : static_cast<long double>(random.below(std::uint64_t{1} << 63)) / kExact * here.below;
      std::size_t value = 0, last = 0;
      for (; value < here.children.size(); ++value) {
        const long double points = weight(group, level, node, value);
        if (points > 0) last = value;
        if (left < points) break;
        left -= points;
      }
      if (value == here.children.size()) value = last;  // rounding beyond 2^63
      choice[group[level].knob] = static_cast<std::uint16_t>(value);
      node = here.children[value];
    }
  }
  return choice;
}

Point::Choice Census::unrank(std::uint64_t rank) const {
  Point::Choice choice(knob_count_, 0);
  for (std::size_t g = groups_.size(); g-- > 0;) {
    const Group& group = groups_[g];
    const auto below = static_cast<std::uint64_t>(group[0].nodes[0].below);
    std::uint64_t left = rank % below;
    rank /= below;
    std::int32_t node = kFirst;
    for (std::size_t level = 0; level < group.size(); ++level) {
      std::size_t value = 0;
      for (;; ++value) {
        const auto points = static_cast<std::uint64_t>(weight(group, level, node, value));
        if (left < points) break;
        left -= points;
      }
      choice[group[level].knob] = static_cast<std::uint16_t>(value);
      node = group[level].nodes[static_cast<std::size_t>(node)].children[value];
    }
  }
  return choice;
}

std::uint64_t Census::rank(const Point::Choice& choice) const {
  std::uint64_t rank = 0;
  for (const Group& group : groups_) {
    std::uint64_t within = 0;
    std::int32_t node = kFirst;
    for (std::size_t level = 0; level < group.size(); ++level) {
      const std::size_t chosen = choice[group[level].knob];
      for (std::size_t value = 0; value < chosen; ++value) within += static_cast<std::uint64_t>(weight(group, level, node, value));
      node = group[level].nodes[static_cast<std::size_t>(node)].children[chosen];
      KILN_CHECK(node != kDropped, "the rank of a point that its space excludes");
    }
    rank = rank * static_cast<std::uint64_t>(group[0].nodes[0].below) + within;
  }
  return rank;
}

}  // namespace kiln::schedules
