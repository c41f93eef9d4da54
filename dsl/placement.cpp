#include "dsl/placement.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/text_cursor.h"

namespace kiln {
namespace {

// The loops around a place, outermost first.
struct EnclosingLoop {
  int stage = 0;
  int definition = 0;
  int variable = 0;
  bool operator==(const EnclosingLoop&) const = default;
};
using LoopPath = std::vector<EnclosingLoop>;

const StageLoops& stage_at(const LoopNest& nest, int stage) { return nest.stages()[static_cast<std::size_t>(stage)]; }

const LoopVariable& variable_of(const LoopNest& nest, const EnclosingLoop& loop) {
  return stage_at(nest, loop.stage).definitions[static_cast<std::size_t>(loop.definition)].variables[static_cast<std::size_t>(loop.variable)];
}

void add_once(std::vector<LoopPath>& paths, LoopPath path) {
  if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(std::move(path));
}

// The place of a level's loop in a path, or -1.
int place_in(const LoopNest& nest, const LoopPath& path, const Level& level) {
  for (std::size_t i = 0; i < path.size(); ++i)
    if (path[i].stage == level.stage && variable_of(nest, path[i]).name == level.loop) return static_cast<int>(i);
  return -1;
}

class Placer {
 public:
  explicit Placer(const LoopNest& nest) : nest_(nest), reads_(nest.stages().size()), sites_(nest.stages().size()) {}

  std::optional<Illegal> place(int stage) {
    const StageLoops& loops = stage_at(nest_, stage);
    collect_reads(stage);
    std::vector<LoopPath>& sites = sites_[static_cast<std::size_t>(stage)];
    if (auto illegal = check_store(loops, stage)) return illegal;
    switch (loops.compute.kind) {
      case Level::Kind::root: sites.push_back({}); return std::nullopt;
      case Level::Kind::inlined:
        // A stage with updates that nothing places is computed innermost, around each read.
        if (!loops.is_inlined()) sites = reads(stage);
        return std::nullopt;
      case Level::Kind::at: return place_at(loops, stage, sites);
    }
    return std::nullopt;
  }

 private:
  const std::vector<LoopPath>& reads(int stage) const { return reads_[static_cast<std::size_t>(stage)]; }

  void collect_reads(int stage) {
    std::vector<LoopPath>& found = reads_[static_cast<std::size_t>(stage)];
    for (std::size_t c = 0; c < nest_.stages().size(); ++c) {
      const StageLoops& consumer = nest_.stages()[c];
      for (std::size_t d = 0; d < consumer.definitions.size(); ++d) {
        const Definition& definition = consumer.definitions[d];
        for (std::size_t u = 0; u < definition.producers.size(); ++u) {
          if (definition.producers[u] != stage) continue;
          if (consumer.is_inlined()) {
            for (const LoopPath& path : reads(static_cast<int>(c))) add_once(found, path);
            continue;
          }
          for (LoopPath path : sites_[c]) {
            if (!definition.facts->uses[u].before_loops)
              for (auto loop = definition.order.rbegin(); loop != definition.order.rend(); ++loop)
                path.push_back({static_cast<int>(c), static_cast<int>(d), *loop});
            add_once(found, std::move(path));
          }
        }
      }
    }
  }

  // The places that enclose every read, outermost first, as a directive would write them.
  std::string legal_places(int stage) const {
    std::vector<std::string> places = {"compute_root()"};
    const std::vector<LoopPath>& paths = reads(stage);
    if (paths.empty()) return places[0];
    for (const EnclosingLoop& loop : paths.front()) {
      const LoopVariable& variable = variable_of(nest_, loop);
      const Level level{Level::Kind::at, loop.stage, variable.name, kNoDirective};
      if (variable.kind == LoopKind::vectorized) break;
      if (variable.name.empty()) continue;
      const bool encloses = std::all_of(paths.begin(), paths.end(), [&](const LoopPath& path) { return place_in(nest_, path, level) >= 0; });
      if (encloses) places.push_back(fmt::format("compute_at({}, {})", stage_at(nest_, loop.stage).name, variable.name));
    }
    return listed(places);
  }

  // Why a level's loop encloses not all reads.
  std::string explain(const Level& level, int stage) const {
    const StageLoops& host = stage_at(nest_, level.stage);
    const bool exists = std::any_of(host.definitions.begin(), host.definitions.end(),
                                    [&](const Definition& definition) { return definition.find(level.loop) >= 0; });
    const std::string& name = stage_at(nest_, stage).name;
    if (!exists) return fmt::format("{} has no loop '{}'", host.name, level.loop);
    if (host.is_inlined()) return fmt::format("{} is inlined, so its loops do not exist", host.name);
    return fmt::format("loop '{}' of {} does not enclose every read of {}", level.loop, host.name, name);
  }

  std::optional<Illegal> place_at(const StageLoops& loops, int stage, std::vector<LoopPath>& sites) {
    for (const LoopPath& path : reads(stage)) {
      const int place = place_in(nest_, path, loops.compute);
      if (place < 0)
        return Illegal{loops.compute.directive, fmt::format("{}; {} may be at {}", explain(loops.compute, stage), loops.name, legal_places(stage))};
      for (int i = 0; i <= place; ++i)
        if (variable_of(nest_, path[static_cast<std::size_t>(i)]).kind == LoopKind::vectorized)
          return Illegal{loops.compute.directive, fmt::format("a vectorized loop of {} would enclose {}; it may be at {}",
                                                              stage_at(nest_, path[static_cast<std::size_t>(i)].stage).name, loops.name,
                                                              legal_places(stage))};
      add_once(sites, LoopPath(path.begin(), path.begin() + place + 1));
    }
    return std::nullopt;
  }

  std::optional<Illegal> check_store(const StageLoops& loops, int stage) const {
    const Level& store = loops.store;
    if (store.directive == kNoDirective || loops.is_inlined()) return std::nullopt;
    if (loops.compute.kind != Level::Kind::at) {
      if (store.kind == Level::Kind::root && loops.compute.kind == Level::Kind::root) return std::nullopt;
      return Illegal{store.directive, fmt::format("{} is {}; compute_at(stage, loop) must place it inside the loop that stores it", loops.name,
                                                  loops.compute.kind == Level::Kind::root ? "computed at root" : "not placed by a directive")};
    }
    for (const LoopPath& path : reads(stage)) {
      const int computed = place_in(nest_, path, loops.compute);
      const int stored = store.kind == Level::Kind::root ? -1 : place_in(nest_, path, store);
      if (computed < 0) return std::nullopt;  // place_at has the better words
      if (store.kind == Level::Kind::at && stored < 0)
        return Illegal{store.directive, fmt::format("{}; store {} at a loop outside compute_at({}, {}), or at root", explain(store, stage), loops.name,
                                                    stage_at(nest_, loops.compute.stage).name, loops.compute.loop)};
      if (stored > computed)
        return Illegal{store.directive, fmt::format("loop '{}' of {} is inside the loop '{}' of {} that {} is computed at; it must be outside or the same",
                                                    store.loop, stage_at(nest_, store.stage).name, loops.compute.loop,
                                                    stage_at(nest_, loops.compute.stage).name, loops.name)};
      for (int i = stored + 1; i <= computed; ++i) {
        const LoopVariable& between = variable_of(nest_, path[static_cast<std::size_t>(i)]);
        if (between.kind == LoopKind::parallel || between.kind == LoopKind::vectorized)
          return Illegal{store.directive, fmt::format("the {} loop '{}' lies between where {} is stored and where it is computed, so its iterations would "
                                                      "share the storage; store it inside that loop",
                                                      print(between.kind), between.name, loops.name)};
      }
    }
    return std::nullopt;
  }

  const LoopNest& nest_;
  std::vector<std::vector<LoopPath>> reads_;  // by stage: the loops around each place that reads it
  std::vector<std::vector<LoopPath>> sites_;  // by stage: the loops around each place that computes it
};

}  // namespace

std::optional<Illegal> find_misplaced(const LoopNest& nest) {
  Placer placer(nest);
  std::optional<Illegal> first;
  for (const int stage : nest.consumers_first()) {
    auto illegal = placer.place(stage);
    if (illegal && (!first || illegal->directive < first->directive)) first = std::move(illegal);
  }
  return first;
}

}  // namespace kiln
