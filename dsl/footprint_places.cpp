#include "dsl/footprint_places.h"

#include <algorithm>

namespace kiln {
namespace {

class Placer {
 public:
  explicit Placer(const ScheduledProblem& program) : program_(program), order_(program.nest.consumers_first()) {
    std::reverse(order_.begin(), order_.end());
  }

  PlacedLoop call() {
    PlacedLoop call;
    for (const int stage : order_)
      if (program_.stage(stage).compute.kind == Level::Kind::root) add_stage(stage, call);
    add_stored(Level::Kind::root, -1, "", call);
    return call;
  }

 private:
  void add_stage(int stage, PlacedLoop& where) {
    for (int d = 0; d < static_cast<int>(program_.stage(stage).definitions.size()); ++d) {
      std::vector<Step> steps;
      const Definition& definition = program_.definition(stage, d);
      for (auto variable = definition.order.rbegin(); variable != definition.order.rend(); ++variable) {
        const std::vector<int> parts = taken_apart(definition, *variable);
        for (const int part : parts) steps.push_back({part, part == parts.back() ? *variable : -1});
      }
      add_loops(stage, d, steps, 0, where);
    }
  }

  struct Step {
    int variable = 0;
    int named = -1;  // the variable that a level names by this loop
  };

  void add_loops(int stage, int definition, const std::vector<Step>& steps, std::size_t at, PlacedLoop& where) {
    if (at == steps.size()) {
      for (const int producer : order_)
        if (is_unplaced(producer) && reads(stage, definition, producer)) {
          add_stage(producer, where);
          where.stored.push_back(producer);
        }
      where.inside.push_back({.stage = stage, .definition = definition, .variable = 0, .is_computation = true, .inside = {}, .stored = {}});
      return;
    }
    PlacedLoop loop{.stage = stage, .definition = definition, .variable = steps[at].variable, .is_computation = false, .inside = {}, .stored = {}};
    if (steps[at].named >= 0) {
      const std::string& name = program_.definition(stage, definition).variables[static_cast<std::size_t>(steps[at].named)].name;
      for (const int producer : order_) {
        const Level& level = program_.stage(producer).compute;
        if (level.kind == Level::Kind::at && level.stage == stage && level.loop == name && reads(stage, definition, producer)) add_stage(producer, loop);
      }
      add_stored(Level::Kind::at, stage, name, loop);
    }
    add_loops(stage, definition, steps, at + 1, loop);
    where.inside.push_back(std::move(loop));
  }

  // With updates, but at no place: around each read.
  bool is_unplaced(int stage) const { return program_.stage(stage).compute.kind == Level::Kind::inlined && !program_.stage(stage).is_inlined(); }

  void add_stored(Level::Kind kind, int stage, const std::string& loop, PlacedLoop& where) const {
    for (const int s : order_) {
      const StageLoops& stored = program_.stage(s);
      if (stored.is_output() || stored.is_inlined() || is_unplaced(s)) continue;
      const Level& level = stored.store.directive == kNoDirective ? stored.compute : stored.store;
      if (level.kind == kind && level.stage == stage && level.loop == loop) where.stored.push_back(s);
    }
  }

  // Whether a definition, or what is computed or inlined inside it, reads a stage.
  bool reads(int stage, int definition, int producer) const {
    std::vector<int> open;
    std::set<int> seen;
    const auto follow = [&](int s, int d) {
      for (const ReadPlace& place : program_.reads_of(s, d).loads)
        if (place.stage >= 0 && seen.insert(place.stage).second) open.push_back(place.stage);
    };
    follow(stage, definition);
    while (!open.empty()) {
      const int next = open.back();
      open.pop_back();
      if (next == producer) return true;
      if (program_.stage(next).compute.kind == Level::Kind::root) continue;
      for (int d = 0; d < static_cast<int>(program_.stage(next).definitions.size()); ++d) follow(next, d);
    }
    return false;
  }

  const ScheduledProblem& program_;
  std::vector<int> order_;  // producers first
};

}  // namespace

PlacedLoop place_loops(const ScheduledProblem& program) { return Placer(program).call(); }

}  // namespace kiln
