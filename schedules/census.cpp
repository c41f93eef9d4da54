#include "schedules/census.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "dsl/error.h"

namespace kiln::schedules {
namespace {

// Groups of knobs that constraints and derived values connect, each in declared order, ordered by their first knob.
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
  for (std::size_t knob = 0; knob < parent.size(); ++knob) {
    for (const std::size_t read : space.knobs()[knob].reads) {
      const std::size_t a = root(read), b = root(knob);
      parent[std::max(a, b)] = std::min(a, b);
    }
  }
  std::map<std::size_t, std::vector<std::size_t>> groups;
  for (std::size_t knob = 0; knob < parent.size(); ++knob) groups[root(knob)].push_back(knob);
  std::vector<std::vector<std::size_t>> result;
  for (auto& [first, knobs] : groups) result.push_back(std::move(knobs));
  return result;
}

// The product of the values of knobs that are chosen.
long double raw_product(const Space& space, const std::vector<std::size_t>& knobs) {
  long double product = 1;
  for (const std::size_t knob : knobs) {
    const KnobDeclaration& declaration = space.knobs()[knob];
    if (!declaration.is_derived()) product *= static_cast<long double>(declaration.values.size());
  }
  return product;
}

}  // namespace

// Builds one group's graph level by level, from the first knob to the last.
class Census::Builder {
 public:
  Builder(const Space& space, std::vector<std::size_t> knobs, std::size_t most_combinations, std::size_t& combinations_left)
      : drops(space.constraints().size(), 0), space_(space), knobs_(std::move(knobs)), most_combinations_(most_combinations),
        combinations_left_(combinations_left), scratch_(space.point(Point::Choice(space.knobs().size(), 0))) {
    find_due_and_live();
  }

  Group build() {
    Group group;
    group.only_when = space_.knobs()[knobs_[0]].only_when;
    group.levels.resize(knobs_.size());
    Frontier frontier{{Point::Choice(), {0, 1}}};
    for (std::size_t level = 0; level < knobs_.size(); ++level) {
      group.levels[level].knob = knobs_[level];
      group.levels[level].is_derived = space_.knobs()[knobs_[level]].is_derived();
      frontier = expand(level, frontier, group.levels[level].nodes);
      if (frontier.empty() && !dead_) dead_ = dead_end(level);
    }
    return group;
  }

  const std::optional<std::string>& dead() const { return dead_; }
  std::vector<long double> drops;  // by constraint, within the group

 private:
  struct Arrival {
    std::int32_t node = 0;
    long double prefixes = 0;  // valid prefixes that lead here
  };
  using Frontier = std::map<Point::Choice, Arrival>;  // by the values of the live knobs

  // A constraint is due at the last of its knobs; a knob is live while a constraint or a derived value due later reads it.
  void find_due_and_live() {
    due_.resize(knobs_.size());
    std::vector<std::size_t> needed_until(knobs_.size(), 0);
    const auto levels_of = [&](const std::vector<std::size_t>& knobs) {
      std::vector<std::size_t> levels;
      for (std::size_t level = 0; level < knobs_.size(); ++level) {
        if (std::count(knobs.begin(), knobs.end(), knobs_[level]) > 0) levels.push_back(level);
      }
      return levels;
    };
    for (const ConstraintKind kind : {ConstraintKind::requirement, ConstraintKind::limit}) {
      for (std::size_t c = 0; c < space_.constraints().size(); ++c) {
        const Constraint& constraint = space_.constraints()[c];
        if (constraint.kind != kind) continue;
        const std::vector<std::size_t> levels = levels_of(constraint.knobs);
        if (levels.empty()) continue;
        due_[levels.back()].push_back(c);
        for (const std::size_t level : levels) needed_until[level] = std::max(needed_until[level], levels.back());
      }
    }
    for (std::size_t derived = 0; derived < knobs_.size(); ++derived) {
      for (const std::size_t level : levels_of(space_.knobs()[knobs_[derived]].reads)) needed_until[level] = std::max(needed_until[level], derived);
    }
    live_.resize(knobs_.size() + 1);
    for (std::size_t level = 1; level <= knobs_.size(); ++level) {
      for (std::size_t before = 0; before < level; ++before) {
        if (needed_until[before] >= level) live_[level].push_back(knobs_[before]);
      }
    }
    raw_after_.assign(knobs_.size() + 1, 1);
    for (std::size_t level = knobs_.size(); level-- > 0;) raw_after_[level] = raw_after_[level + 1] * raw_product(space_, {knobs_[level]});
  }

  // The values that the knob may take after the prefix in scratch_: all, or the one that follows.
  std::pair<std::size_t, std::size_t> values_at(std::size_t knob) const {
    const KnobDeclaration& declaration = space_.knobs()[knob];
    if (!declaration.is_derived()) return {0, declaration.values.size()};
    const KnobValue value = declaration.follows(scratch_);
    const auto found = std::find(declaration.values.begin(), declaration.values.end(), value);
    KILN_CHECK(found != declaration.values.end(), "space " + space_.name() + ": " + declaration.name + " follows to " + print(value) + ", which is none of its values");
    const auto place = static_cast<std::size_t>(found - declaration.values.begin());
    return {place, place + 1};
  }

  Frontier expand(std::size_t level, const Frontier& frontier, std::vector<Node>& nodes) {
    const std::size_t knob = knobs_[level], values = space_.knobs()[knob].values.size();
    const std::size_t tried = space_.knobs()[knob].is_derived() ? 1 : values;
    nodes.resize(frontier.size());
    require_room(frontier.size() * tried, level);
    combinations_left_ -= frontier.size() * tried;
    Frontier next;
    Point::Choice key(live_[level + 1].size());
    for (const auto& [live, arrival] : frontier) {
      Node& node = nodes[static_cast<std::size_t>(arrival.node)];
      node.children.assign(values, kDropped);
      for (std::size_t i = 0; i < live.size(); ++i) scratch_.set(live_[level][i], live[i]);
      const auto [first, last] = values_at(knob);
      for (std::size_t value = first; value < last; ++value) {
        scratch_.set(knob, static_cast<std::uint16_t>(value));
        if (const std::optional<std::size_t> broken = first_broken(level)) {
          drops[*broken] += arrival.prefixes * raw_after_[level + 1];
          last_broken_ = *broken;
          continue;
        }
        for (std::size_t i = 0; i < key.size(); ++i) key[i] = scratch_.choice()[live_[level + 1][i]];
        Arrival& to = next.try_emplace(key, Arrival{static_cast<std::int32_t>(next.size()), 0}).first->second;
        require_room(next.size(), level);
        to.prefixes += arrival.prefixes;
        node.children[value] = to.node;
      }
    }
    return next;
  }

  std::optional<std::size_t> first_broken(std::size_t level) const {
    for (const std::size_t c : due_[level]) {
      if (!space_.constraints()[c].holds(scratch_)) return c;
    }
    return std::nullopt;
  }

  void require_room(std::size_t combinations, std::size_t level) const {
    if (combinations <= combinations_left_) return;
    std::string names;
    for (std::size_t l = 0; l <= level; ++l) names += (l > 0 ? ", " : "") + space_.knobs()[knobs_[l]].name;
    throw UsageError("space `" + space_.name() + "` ties too many knobs together to be counted: after " + names + " more than " +
                     std::to_string(most_combinations_) + " combinations must be told apart; declare knobs next to those they share constraints with");
  }

  std::string dead_end(std::size_t level) const {
    const Constraint& constraint = space_.constraints()[last_broken_];
    return "space `" + space_.name() + "` has no points: knob `" + space_.knobs()[knobs_[level]].name +
           "` has no value left; the last was removed by: " + constraint.reason;
  }

  const Space& space_;
  std::vector<std::size_t> knobs_;
  std::size_t most_combinations_;
  std::size_t& combinations_left_;
  Point scratch_;                                 // the prefix being extended; knobs that are not live have any value
  std::vector<std::vector<std::size_t>> due_;     // constraints to ask once the level's knob is bound
  std::vector<std::vector<std::size_t>> live_;    // knobs of earlier levels that something due at this level or later reads
  std::vector<long double> raw_after_;            // product of the values of this level's knob and all later ones
  std::size_t last_broken_ = 0;
  std::optional<std::string> dead_;
};

Census::Census(const Space& space, std::size_t most_combinations) : knob_count_(space.knobs().size()), count_(1), drops_(space.constraints().size(), 0) {
  std::size_t combinations_left = most_combinations;
  for (const Constraint& constraint : space.constraints()) {
    KILN_CHECK(!constraint.knobs.empty(), "a constraint of space " + space.name() + " names no knob");
  }
  const std::vector<std::vector<std::size_t>> groups = connected_groups(space);
  std::vector<Builder> builders;
  builders.reserve(groups.size());
  for (const std::vector<std::size_t>& knobs : groups) groups_.push_back(builders.emplace_back(space, knobs, most_combinations, combinations_left).build());
  open_groups();
  std::vector<long double> raw(groups.size() + 1, 1);  // raw[g]: product of all values in groups g, g + 1, …
  for (std::size_t g = groups.size(); g-- > 0;) raw[g] = raw[g + 1] * (groups_[g].only_when ? 1 : raw_product(space, groups[g]));
  long double valid_before = 1;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const bool is_always = !groups_[g].only_when;
    // Points that an earlier group already dropped are counted there: only valid choices of earlier groups meet this group's drops.
    for (std::size_t c = 0; c < drops_.size(); ++c) drops_[c] += is_always ? valid_before * builders[g].drops[c] * raw[g + 1] : builders[g].drops[c];
    if (!is_always) continue;
    valid_before *= groups_[g].first().below;
    count_ *= groups_[g].first().below;
  }
  // A group without points; under a condition it matters only when no value of its knob is left without it.
  for (std::size_t g = 0; g < groups.size() && count_ == 0 && !unsatisfiable_; ++g) unsatisfiable_ = builders[g].dead();
}

// Groups under conditions are complete by themselves: their counts multiply the values that put them to use.
void Census::open_groups() {
  for (Group& group : groups_) {
    if (group.only_when) count_below(group);
  }
  for (Group& group : groups_) {
    if (group.only_when) continue;
    for (Level& level : group.levels) {
      if (level.nodes.empty()) continue;  // behind a dead end
      const std::size_t values = level.nodes[0].children.size();
      level.scale.assign(values, 1);
      level.opens.resize(values);
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        if (!groups_[g].only_when || groups_[g].only_when->knob != level.knob) continue;
        for (const std::uint16_t value : groups_[g].only_when->values) {
          level.scale[value] *= groups_[g].first().below;
          level.opens[value].push_back(g);
        }
      }
    }
    count_below(group);
  }
}

void Census::count_below(Group& group) {
  for (std::size_t level = group.levels.size(); level-- > 0;) {
    for (Node& node : group.levels[level].nodes) {
      const auto n = static_cast<std::int32_t>(&node - group.levels[level].nodes.data());
      for (std::size_t value = 0; value < node.children.size(); ++value) {
        node.below += weight(group, level, n, value);
        node.forms += forms(group, level, n, value);
      }
    }
  }
}

long double Census::below(const Group& group, std::size_t level, std::int32_t child) {
  return level + 1 == group.levels.size() ? 1 : group.levels[level + 1].nodes[static_cast<std::size_t>(child)].below;
}

long double Census::weight(const Group& group, std::size_t level, std::int32_t node, std::size_t value) {
  const Level& here = group.levels[level];
  const std::int32_t child = here.nodes[static_cast<std::size_t>(node)].children[value];
  if (child == kDropped) return 0;
  return below(group, level, child) * (here.scale.empty() ? 1 : here.scale[value]);
}

long double Census::forms(const Group& group, std::size_t level, std::int32_t node, std::size_t value) {
  const Level& here = group.levels[level];
  const std::int32_t child = here.nodes[static_cast<std::size_t>(node)].children[value];
  if (child == kDropped || (!here.scale.empty() && here.scale[value] == 0)) return 0;
  return level + 1 == group.levels.size() ? 1 : group.levels[level + 1].nodes[static_cast<std::size_t>(child)].forms;
}

Point::Choice Census::sample(Random& random) const {
  Point::Choice choice(knob_count_, 0);
  for (const Group& group : groups_) {
    if (!group.only_when) sample_group(group, weight, random, choice);
  }
  return choice;
}

Point::Choice Census::sample_by_form(Random& random) const {
  Point::Choice choice(knob_count_, 0);
  for (const Group& group : groups_) {
    if (!group.only_when) sample_group(group, forms, random, choice);
  }
  return choice;
}

void Census::sample_group(const Group& group, Weight weight_of, Random& random, Point::Choice& choice) const {
  std::int32_t node = kFirst;
  for (std::size_t level = 0; level < group.levels.size(); ++level) {
    const Level& at = group.levels[level];
    const Node& here = at.nodes[static_cast<std::size_t>(node)];
    std::size_t value = 0, last = 0;
    if (at.is_derived) {
      while (here.children[value] == kDropped) ++value;
    } else {
      // Exact while the counts are; beyond 2^63 a draw of 63 bits scaled up, whose bias no sample could show.
      constexpr long double kExact = 9223372036854775808.0L;
      const long double all = weight_of == weight ? here.below : here.forms;
      long double left = all < kExact ? static_cast<long double>(random.below(static_cast<std::uint64_t>(all)))
                                      : static_cast<long double>(random.below(std::uint64_t{1} << 63)) / kExact * all;
      for (; value < here.children.size(); ++value) {
        const long double points = weight_of(group, level, node, value);
        if (points > 0) last = value;
        if (left < points) break;
        left -= points;
      }
      if (value == here.children.size()) value = last;  // rounding beyond 2^63
    }
    choice[at.knob] = static_cast<std::uint16_t>(value);
    if (!at.opens.empty()) {
      for (const std::size_t opened : at.opens[value]) sample_group(groups_[opened], weight, random, choice);
    }
    node = here.children[value];
  }
}

Point::Choice Census::unrank(std::uint64_t rank) const {
  Point::Choice choice(knob_count_, 0);
  for (std::size_t g = groups_.size(); g-- > 0;) {
    if (groups_[g].only_when) continue;
    const auto points = static_cast<std::uint64_t>(groups_[g].first().below);
    unrank_group(groups_[g], rank % points, choice);
    rank /= points;
  }
  return choice;
}

void Census::unrank_group(const Group& group, std::uint64_t rank, Point::Choice& choice) const {
  std::int32_t node = kFirst;
  for (std::size_t level = 0; level < group.levels.size(); ++level) {
    std::size_t value = 0;
    for (;; ++value) {
      const auto points = static_cast<std::uint64_t>(weight(group, level, node, value));
      if (rank < points) break;
      rank -= points;
    }
    const Level& at = group.levels[level];
    choice[at.knob] = static_cast<std::uint16_t>(value);
    node = at.nodes[static_cast<std::size_t>(node)].children[value];
    const auto each = static_cast<std::uint64_t>(below(group, level, node));
    std::uint64_t opened_rank = rank / each;
    rank %= each;
    for (std::size_t o = at.opens.empty() ? 0 : at.opens[value].size(); o-- > 0;) {
      const Group& opened = groups_[at.opens[value][o]];
      const auto points = static_cast<std::uint64_t>(opened.first().below);
      unrank_group(opened, opened_rank % points, choice);
      opened_rank /= points;
    }
  }
}

std::uint64_t Census::rank(const Point::Choice& choice) const {
  std::uint64_t rank = 0;
  for (const Group& group : groups_) {
    if (!group.only_when) rank = rank * static_cast<std::uint64_t>(group.first().below) + rank_group(group, choice);
  }
  return rank;
}

std::uint64_t Census::rank_group(const Group& group, const Point::Choice& choice) const {
  std::uint64_t within = 0;
  std::int32_t node = kFirst;
  for (std::size_t level = 0; level < group.levels.size(); ++level) {
    const Level& at = group.levels[level];
    const std::size_t chosen = choice[at.knob];
    for (std::size_t value = 0; value < chosen; ++value) within += static_cast<std::uint64_t>(weight(group, level, node, value));
    node = at.nodes[static_cast<std::size_t>(node)].children[chosen];
    KILN_CHECK(node != kDropped, "the rank of a point that its space excludes");
    std::uint64_t opened_rank = 0;
    if (!at.opens.empty()) {
      for (const std::size_t opened : at.opens[chosen])
        opened_rank = opened_rank * static_cast<std::uint64_t>(groups_[opened].first().below) + rank_group(groups_[opened], choice);
    }
    within += opened_rank * static_cast<std::uint64_t>(below(group, level, node));
  }
  return within;
}

}  // namespace kiln::schedules
