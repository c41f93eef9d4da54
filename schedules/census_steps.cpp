// Census::steps: from one valid point to the nearest ones with another value of one knob, by shortest paths through the layered graphs.
#include <algorithm>
#include <limits>

#include "schedules/census.h"

namespace kiln::schedules {
namespace {

// A step that must change more knobs beside its own is no step any more.
constexpr int kMostRepairs = 3;
constexpr int kUnreachable = std::numeric_limits<int>::max() / 2;

}  // namespace

class Census::Stepper {
 public:
  Stepper(const Census& census, const Point::Choice& from) : census_(census), from_(from) {}

  std::vector<Point::Choice> all() {
    for (const Group& group : census_.groups_) {
      if (is_in_use(group)) step_within(group);
    }
    return std::move(steps_);
  }

 private:
  // How a node of a level is reached with the fewest changes, and what lies below it.
  struct Costs {
    int to = kUnreachable, below = kUnreachable;
    std::int32_t parent = kFirst;
    std::size_t value = 0;  // of the parent
  };
  using Layers = std::vector<std::vector<Costs>>;

  bool is_in_use(const Group& group) const {
    if (!group.only_when) return true;
    const auto& values = group.only_when->values;
    return std::count(values.begin(), values.end(), from_[group.only_when->knob]) > 0;
  }

  int cost(const Level& level, std::size_t value) const { return level.is_derived || value == from_[level.knob] ? 0 : 1; }

  // An edge that no point takes: the groups it puts to use may be empty.
  static bool is_dead(const Level& level, const Node& node, std::size_t value) {
    return node.children[value] == kDropped || (!level.scale.empty() && level.scale[value] == 0);
  }

  static int below(const Layers& layers, std::size_t level, std::int32_t child) {
    return level + 1 == layers.size() ? 0 : layers[level + 1][static_cast<std::size_t>(child)].below;
  }

  Layers costs_of(const Group& group) const {
    Layers layers;
    for (const Level& level : group.levels) layers.emplace_back(level.nodes.size());
    for (std::size_t l = layers.size(); l-- > 0;) {
      const Level& level = group.levels[l];
      for (std::size_t n = 0; n < level.nodes.size(); ++n) {
        for (std::size_t v = 0; v < level.nodes[n].children.size(); ++v) {
          if (!is_dead(level, level.nodes[n], v)) layers[l][n].below = std::min(layers[l][n].below, cost(level, v) + below(layers, l, level.nodes[n].children[v]));
        }
      }
    }
    layers[0][kFirst].to = 0;
    for (std::size_t l = 0; l + 1 < layers.size(); ++l) {
      const Level& level = group.levels[l];
      for (std::size_t n = 0; n < level.nodes.size(); ++n) {
        for (std::size_t v = 0; v < level.nodes[n].children.size(); ++v) {
          if (is_dead(level, level.nodes[n], v)) continue;
          Costs& next = layers[l + 1][static_cast<std::size_t>(level.nodes[n].children[v])];
          const int to = layers[l][n].to + cost(level, v);
          if (to < next.to) next = {to, next.below, static_cast<std::int32_t>(n), v};
        }
      }
    }
    return layers;
  }

  void step_within(const Group& group) {
    const Layers layers = costs_of(group);
    for (std::size_t l = 0; l < layers.size(); ++l) {
      const Level& level = group.levels[l];
      if (level.is_derived || level.nodes.empty()) continue;
      for (std::size_t v = 0; v < level.nodes[0].children.size(); ++v) {
        if (v == from_[level.knob]) continue;
        std::size_t best = 0;
        int least = kUnreachable;
        for (std::size_t n = 0; n < level.nodes.size(); ++n) {
          if (is_dead(level, level.nodes[n], v)) continue;
          const int total = layers[l][n].to + below(layers, l, level.nodes[n].children[v]);
          if (total < least) {
            least = total;
            best = n;
          }
        }
        if (least <= kMostRepairs) steps_.push_back(step_through(group, layers, l, best, v));
      }
    }
  }

  Point::Choice step_through(const Group& group, const Layers& layers, std::size_t at, std::size_t node, std::size_t value) const {
    Point::Choice choice = from_;
    auto n = static_cast<std::int32_t>(node);
    for (std::size_t l = at; l > 0; --l) {
      const Costs& costs = layers[l][static_cast<std::size_t>(n)];
      take(group.levels[l - 1], costs.value, choice);
      n = costs.parent;
    }
    take(group.levels[at], value, choice);
    if (at + 1 < layers.size()) descend(group, layers, at + 1, group.levels[at].nodes[node].children[value], choice);
    return choice;
  }

  // Binds the levels from `first` on with the fewest changes.
  void descend(const Group& group, const Layers& layers, std::size_t first, std::int32_t node, Point::Choice& choice) const {
    for (std::size_t l = first; l < layers.size(); ++l) {
      const Level& level = group.levels[l];
      const Node& here = level.nodes[static_cast<std::size_t>(node)];
      std::optional<std::size_t> chosen;
      for (std::size_t v = 0; v < here.children.size(); ++v) {
        if (is_dead(level, here, v) || cost(level, v) + below(layers, l, here.children[v]) != layers[l][static_cast<std::size_t>(node)].below) continue;
        if (!chosen || v == from_[level.knob]) chosen = v;
      }
      take(level, *chosen, choice);
      node = here.children[*chosen];
    }
  }

  // Binds the knob, and what its value puts to use: as it was if it was in use, else as near to its first values as its constraints allow.
  void take(const Level& level, std::size_t value, Point::Choice& choice) const {
    choice[level.knob] = static_cast<std::uint16_t>(value);
    if (level.opens.empty()) return;
    for (const std::size_t g : level.opens[value]) {
      const Group& opened = census_.groups_[g];
      if (!is_in_use(opened)) descend(opened, costs_of(opened), 0, kFirst, choice);
    }
  }

  const Census& census_;
  const Point::Choice& from_;
  std::vector<Point::Choice> steps_;
};

std::vector<Point::Choice> Census::steps(const Point::Choice& from) const { return Stepper(*this, from).all(); }

}  // namespace kiln::schedules
