#include "tests/dsl/footprint_oracle.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <set>

#include "dsl/error.h"
#include "dsl/legality.h"
#include "dsl/loop_nest.h"

namespace kiln::tests {
namespace {

using Point = std::vector<std::int64_t>;
using Values = std::map<std::string, std::int64_t>;  // of the own loops of a definition
struct Extent {
  std::int64_t min = 0, count = 0;
};
using Region = std::vector<Extent>;
using Elements = std::map<std::string, std::set<Point>>;  // by buffer: arguments by index, storage by its offset

std::int64_t evaluate(const Expression& e, const Values& values) {
  switch (e.op) {
    case Op::constant: return std::get<std::int64_t>(e.value);
    case Op::loop:
    case Op::reduction: return values.at(e.name);
    case Op::add: return evaluate(*e.args[0], values) + evaluate(*e.args[1], values);
    case Op::sub: return evaluate(*e.args[0], values) - evaluate(*e.args[1], values);
    default: check_failed(__FILE__, __LINE__, "the oracle meets an index of another kind");
  }
}

// One definition of a stage while its loops run.
struct Frame {
  int stage = 0, definition = 0;
  std::map<int, std::int64_t> standing;  // by variable
};

class Machine {
 public:
  Machine(const Algorithm& algorithm, const Problem& problem, const LoopNest& nest) : algorithm_(algorithm), problem_(problem), nest_(nest) {}

  Counted run() {
    for (const int stage : producers_first())
      if (at(stage).compute.kind == Level::Kind::root) run_stage(stage);
    return std::move(counted_);
  }

 private:
  // What an open iteration of a loop has touched.
  struct Open {
    Elements touched;
    std::set<std::string> inside;  // storage made in it
  };

  const StageLoops& at(int stage) const { return nest_.stages()[static_cast<std::size_t>(stage)]; }
  std::vector<int> producers_first() const {
    std::vector<int> order = nest_.consumers_first();
    std::reverse(order.begin(), order.end());
    return order;
  }

  std::int64_t reduction_extent(const Expression& e) const {
    if (e.op == Op::constant) return std::get<std::int64_t>(e.value);
    const std::size_t dot = e.name.find('.');
    return extent_of(problem_, algorithm_, e.name.substr(0, dot), std::stoi(e.name.substr(e.name.rfind('.') + 1)));
  }

  // The own loops' extents of a definition over a region, then those of all variables.
  std::vector<Extent> own_extents(int stage, int definition, const Region& region) const {
    const DefinitionFacts& facts = *at(stage).definitions[static_cast<std::size_t>(definition)].facts;
    std::vector<Extent> own(facts.loops.size());
    for (std::size_t d = 0; d < region.size(); ++d)
      if (facts.pure_loop[d] >= 0) own[static_cast<std::size_t>(facts.pure_loop[d])] = region[d];
    if (definition > 0)
      for (const ReductionVariable& variable : at(stage).facts->stage->updates[static_cast<std::size_t>(definition - 1)].reduction)
        for (std::size_t i = 0; i < own.size(); ++i)
          if (facts.loops[i].name == variable.name) own[i] = {reduction_extent(*variable.min), reduction_extent(*variable.extent)};
    return own;
  }

  static std::vector<std::int64_t> trips_of(const Definition& definition, const std::vector<Extent>& own) {
    std::vector<std::int64_t> trips(definition.variables.size(), 1);
    for (std::size_t i = 0; i < own.size(); ++i) trips[i] = own[i].count;
    for (const LoopRewrite& rewrite : definition.rewrites) {
      const auto old = static_cast<std::size_t>(rewrite.old), outer = static_cast<std::size_t>(rewrite.outer), inner = static_cast<std::size_t>(rewrite.inner);
      if (rewrite.kind == LoopRewrite::Kind::fuse) {
        trips[old] = trips[outer] * trips[inner];
      } else {
        trips[outer] = (trips[old] + rewrite.factor - 1) / rewrite.factor;
        trips[inner] = rewrite.factor;
      }
    }
    return trips;
  }

  // The own loops' values when every loop stands; nothing when a guard skips them.
  static std::optional<Values> values_at(const Definition& definition, const std::vector<Extent>& own, const std::vector<std::int64_t>& trips,
                                         std::map<int, std::int64_t> standing) {
    for (auto rewrite = definition.rewrites.rbegin(); rewrite != definition.rewrites.rend(); ++rewrite) {
      if (rewrite->kind == LoopRewrite::Kind::fuse) {
        const std::int64_t inner = trips[static_cast<std::size_t>(rewrite->inner)], fused = standing.at(rewrite->old);
        standing[rewrite->outer] = fused / inner;
        standing[rewrite->inner] = fused % inner;
        continue;
      }
      const std::int64_t value = standing.at(rewrite->outer) * rewrite->factor + standing.at(rewrite->inner);
      if (value >= trips[static_cast<std::size_t>(rewrite->old)]) return std::nullopt;
      standing[rewrite->old] = value;
    }
    Values values;
    for (std::size_t i = 0; i < own.size(); ++i) values[definition.facts->loops[i].name] = own[i].min + standing.at(static_cast<int>(i));
    return values;
  }

  // Every iteration of the loops that do not stand.
  static void each(const Definition& definition, const std::vector<std::int64_t>& trips, std::map<int, std::int64_t> standing, std::size_t from,
                   const std::function<void(const std::map<int, std::int64_t>&)>& visit) {
    if (from == definition.order.size()) return visit(standing);
    const int variable = definition.order[from];
    if (standing.contains(variable)) return each(definition, trips, standing, from + 1, visit);
    for (std::int64_t i = 0; i < trips[static_cast<std::size_t>(variable)]; ++i) {
      std::map<int, std::int64_t> with = standing;
      with[variable] = i;
      each(definition, trips, with, from + 1, visit);
    }
  }

  // What is read of a stage while the open loops stand: the box around every point.
  Region demanded(int stage) {
    if (at(stage).is_output()) {
      Region region;
      for (const auto& extent : at(stage).facts->extents) region.push_back({0, *extent});
      return region;
    }
    std::vector<std::int64_t> low, high;
    for (int c = 0; c < static_cast<int>(nest_.stages().size()); ++c)
      for (int d = 0; d < static_cast<int>(at(c).definitions.size()); ++d) {
        const auto frame = std::find_if(frames_.begin(), frames_.end(), [&](const Frame& f) { return f.stage == c; });
        if (frame != frames_.end() && frame->definition != d) continue;
        if (!reads(c, d, stage)) continue;
        const Region region = frame != frames_.end() ? regions_.at(c) : demanded(c);
        const Definition& definition = at(c).definitions[static_cast<std::size_t>(d)];
        const auto own = own_extents(c, d, region);
        const auto trips = trips_of(definition, own);
        each(definition, trips, frame != frames_.end() ? frame->standing : std::map<int, std::int64_t>(), 0, [&](const auto& standing) {
          const auto values = values_at(definition, own, trips, standing);
          if (!values) return;
          for_each_load(c, d, [&](const Expression& load) {
            if (load.name != at(stage).facts->stage->name) return;
            for (std::size_t i = 0; i < load.args.size(); ++i) {
              const std::int64_t index = evaluate(*load.args[i], *values);
              if (low.size() <= i) low.push_back(index), high.push_back(index);
              low[i] = std::min(low[i], index);
              high[i] = std::max(high[i], index);
            }
          });
        });
      }
    Region region;
    for (std::size_t i = 0; i < low.size(); ++i) region.push_back({low[i], high[i] - low[i] + 1});
    return region;
  }

  bool reads(int consumer, int definition, int stage) const {
    bool found = false;
    for_each_load(consumer, definition, [&](const Expression& load) { found = found || (consumer != stage && load.name == at(stage).facts->stage->name); });
    return found;
  }

  template <typename Visit>
  void for_each_load(int stage, int definition, const Visit& visit) const {
    const Stage& known = *at(stage).facts->stage;
    for (const ExpressionPtr& value : definition == 0 ? known.values : known.updates[static_cast<std::size_t>(definition - 1)].values)
      for_each_node(*value, [&](const Expression& node) {
        if (node.op == Op::load) visit(node);
      });
  }

  void run_stage(int stage) {
    const Region region = demanded(stage);
    if (region.empty()) return;
    regions_[stage] = region;
    std::int64_t elements = 1;
    for (const Extent& extent : region) elements *= extent.count;
    const std::string& name = at(stage).name;
    if (!at(stage).is_output()) {
      counted_.allocated[name] = std::max(counted_.allocated[name], elements * kFloat32.bytes());
      ++instances_[name];
      for (Open& open : open_) open.inside.insert(name);
    }
    for (int d = 0; d < static_cast<int>(at(stage).definitions.size()); ++d) {
      const Definition& definition = at(stage).definitions[static_cast<std::size_t>(d)];
      const auto own = own_extents(stage, d, region);
      frames_.push_back({stage, d, {}});
      run_loop(definition, own, trips_of(definition, own), definition.order.size());
      frames_.pop_back();
    }
  }

  // The loops of the top frame inside place `place` of its order.
  void run_loop(const Definition& definition, const std::vector<Extent>& own, const std::vector<std::int64_t>& trips, std::size_t place) {
    if (place == 0) {
      if (const auto values = values_at(definition, own, trips, frames_.back().standing)) compute(frames_.back().stage, frames_.back().definition, *values);
      return;
    }
    const Frame outside = frames_.back();
    const int variable = definition.order[place - 1];
    const std::string name = at(outside.stage).name + (outside.definition > 0 ? ".update(" + std::to_string(outside.definition - 1) + ")." : ".") +
                             definition.variables[static_cast<std::size_t>(variable)].name;
    Elements before, all;
    std::int64_t swept = 0, whole = 0;
    for (std::int64_t i = 0; i < trips[static_cast<std::size_t>(variable)]; ++i) {
      frames_.back().standing[variable] = i;
      open_.emplace_back();
      for (const int stage : producers_first()) {
        const Level& level = at(stage).compute;
        if (level.kind == Level::Kind::at && level.stage == outside.stage && level.loop == definition.variables[static_cast<std::size_t>(variable)].name)
          run_stage(stage);
      }
      run_loop(definition, own, trips, place - 1);
      Open done = std::move(open_.back());
      open_.pop_back();
      if (done.touched.empty()) continue;  // a guard skipped all of it
      ++counted_.iterations[name];
      std::int64_t bytes = 0;
      for (const auto& [buffer, points] : done.touched) {
        bytes += static_cast<std::int64_t>(points.size()) * kFloat32.bytes();
        all[buffer].insert(points.begin(), points.end());
        if (done.inside.contains(buffer)) continue;
        for (const Point& point : points)
          if (!before[buffer].contains(point)) swept += kFloat32.bytes();
      }
      counted_.touched[name] = std::max(counted_.touched[name], bytes);
      before = std::move(done.touched);
    }
    frames_.back() = outside;
    for (const auto& [buffer, points] : all) whole += static_cast<std::int64_t>(points.size()) * kFloat32.bytes();
    counted_.whole[name] = std::max(counted_.whole[name], whole);
    counted_.swept[name] = std::max(counted_.swept[name], swept);
  }

  void touch(int stage, const Point& index) {
    const bool is_output = at(stage).is_output();
    const std::string& name = at(stage).name;
    Point place = index;
    if (!is_output)
      for (std::size_t i = 0; i < place.size(); ++i) place[i] -= regions_.at(stage)[i].min;
    touch(name, place, is_output ? 0 : instances_[name], !is_output);
  }

  void touch(const std::string& buffer, const Point& place, int instance, bool is_scratch) {
    for (Open& open : open_) open.touched[buffer].insert(place);
    const auto key = std::make_pair(buffer + "#" + std::to_string(instance), place);
    const auto element = elements_.try_emplace(key, static_cast<std::int64_t>(elements_.size())).first->second;
    counted_.trace.push_back({element, is_scratch});
  }

  void compute(int stage, int definition, const Values& values) {
    read_all(stage, definition, values);
    Point own;
    const Stage& known = *at(stage).facts->stage;
    for (std::size_t d = 0; d < known.loops.size(); ++d)
      own.push_back(definition == 0 ? values.at(known.loops[d]) : evaluate(*known.updates[static_cast<std::size_t>(definition - 1)].indices[d], values));
    touch(stage, own);
  }

  // Loads and operations of one evaluation; what is inlined is evaluated at each place that reads it.
  void read_all(int stage, int definition, const Values& values) {
    const Stage& known = *at(stage).facts->stage;
    for (const ExpressionPtr& value : definition == 0 ? known.values : known.updates[static_cast<std::size_t>(definition - 1)].values)
      for_each_node(*value, [&](const Expression& node) {
        if (node.type.is_float() && (node.op == Op::add || node.op == Op::sub || node.op == Op::mul || node.op == Op::max)) ++counted_.flops;
        if (node.op != Op::load) return;
        Point index;
        for (const ExpressionPtr& arg : node.args) index.push_back(evaluate(*arg, values));
        const int producer = nest_.facts().find(node.name);
        if (producer < 0) return touch(node.name, index, 0, false);
        if (producer == stage || !at(producer).is_inlined()) return touch(producer, index);
        Values inner;
        for (std::size_t d = 0; d < index.size(); ++d) inner[at(producer).loops()[d]] = index[d];
        read_all(producer, 0, inner);
      });
  }

  const Algorithm& algorithm_;
  const Problem& problem_;
  const LoopNest& nest_;
  Counted counted_;
  std::vector<Frame> frames_;
  std::vector<Open> open_;
  std::map<int, Region> regions_;
  std::map<std::string, int> instances_;
  std::map<std::pair<std::string, Point>, std::int64_t> elements_;
};

}  // namespace

Counted count(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem) {
  const AlgorithmFacts facts = facts_of(algorithm, &problem);
  LoopNest nest(facts);
  const auto illegal = rewrite_loops(nest, schedule);
  KILN_CHECK(!illegal, illegal ? illegal->message : "");
  return Machine(algorithm, problem, nest).run();
}

std::int64_t fewest_crossings(const std::vector<Counted::Access>& trace, std::size_t room) {
  constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> next(trace.size(), kNever);
  std::map<std::int64_t, std::size_t> later;
  for (std::size_t i = trace.size(); i-- > 0;) {
    if (const auto known = later.find(trace[i].element); known != later.end()) next[i] = known->second;
    later[trace[i].element] = i;
  }
  std::set<std::pair<std::size_t, std::int64_t>> held;  // by next use
  std::map<std::int64_t, std::size_t> use;
  std::set<std::int64_t> seen;
  std::int64_t crossings = 0;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const std::int64_t element = trace[i].element;
    if (const auto known = use.find(element); known != use.end()) {
      held.erase({known->second, element});
    } else {
      if (!trace[i].is_scratch || seen.contains(element)) ++crossings;
      if (held.size() >= room) {
        use.erase(held.rbegin()->second);
        held.erase(std::prev(held.end()));
      }
    }
    seen.insert(element);
    use[element] = next[i];
    held.insert({next[i], element});
  }
  return crossings;
}

}  // namespace kiln::tests
