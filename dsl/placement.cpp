#include "dsl/placement.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/folds.h"
#include "dsl/text_cursor.h"

namespace kiln {
namespace {

using LoopPath = std::vector<EnclosingLoop>;  // outermost first

// How a message speaks of a level of storage and of the one that it must enclose.
struct StorageWords {
  std::string_view done;      // "stored"
  std::string_view within;    // "computed": what lies inside it
  std::string_view remedy;    // how to say it right
  std::string_view verb;      // what to do with it
};
constexpr StorageWords kStored{"stored", "computed", "store", "store"};
constexpr StorageWords kHoisted{"allocated", "stored", "hoist the storage of", "allocate"};

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
    if (auto illegal = check_storage(loops, stage)) return illegal;
    switch (loops.compute.kind) {
      case Level::Kind::root: sites.push_back({}); break;
      case Level::Kind::inlined:
        // A stage with updates that nothing places is computed innermost, around each read.
        if (!loops.is_inlined()) sites = reads(stage);
        break;
      case Level::Kind::at:
        if (auto illegal = place_at(loops, stage, sites)) return illegal;
    }
    if (auto illegal = check_slides(loops, stage, sites)) return illegal;
    return check_folds(loops, stage, sites);
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
            if (!definition.facts->uses[u].before_loops) append_loops(path, static_cast<int>(c), static_cast<int>(d));
            add_once(found, std::move(path));
          }
        }
      }
    }
  }

  // A definition's own loops, outermost first. In a kernel of a GPU those that it shares are the loops of whom it goes along with: one value a row, read by
  // both, is computed there.
  void append_loops(LoopPath& path, int stage, int definition) const {
    const Definition& own = stage_at(nest_, stage).definitions[static_cast<std::size_t>(definition)];
    const bool shares = own.companion.stage >= 0 && stage_at(nest_, own.companion.stage).kernel.said_by != kNoDirective;
    bool is_shared = shares;
    for (auto loop = own.order.rbegin(); loop != own.order.rend(); ++loop) {
      const std::string& name = own.loop(*loop).name;
      const int with = is_shared ? stage_at(nest_, own.companion.stage).definitions.front().find(name) : -1;
      path.push_back(with >= 0 ? EnclosingLoop{own.companion.stage, 0, with} : EnclosingLoop{stage, definition, *loop});
      if (name == own.companion.loop) is_shared = false;
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

  std::optional<Illegal> check_storage(const StageLoops& loops, int stage) const {
    if (loops.is_inlined()) return std::nullopt;
    if (auto illegal = check_level(loops, stage, loops.store, loops.compute, kStored)) return illegal;
    if (loops.store.directive != kNoDirective) return check_level(loops, stage, loops.hoist, loops.store, kHoisted);
    return check_level(loops, stage, loops.hoist, loops.compute, {kHoisted.done, kStored.within, kHoisted.remedy, kHoisted.verb});
  }

  // A level of storage lies outside the next one in, and nothing that runs at once between it and where the stage is computed.
  std::optional<Illegal> check_level(const StageLoops& loops, int stage, const Level& level, const Level& inner, const StorageWords& words) const {
    if (level.directive == kNoDirective) return std::nullopt;
    if (loops.compute.kind != Level::Kind::at) {
      if (level.kind == Level::Kind::root && loops.compute.kind == Level::Kind::root) return std::nullopt;
      return Illegal{level.directive, fmt::format("{} is {}; compute_at(stage, loop) must place it inside the loop that stores it", loops.name,
                                                  loops.compute.kind == Level::Kind::root ? "computed at root" : "not placed by a directive")};
    }
    for (const LoopPath& path : reads(stage)) {
      const int computed = place_in(nest_, path, loops.compute), within = place_of(path, inner), outside = place_of(path, level);
      if (computed < 0) return std::nullopt;  // place_at has the better words
      if (level.kind == Level::Kind::at && outside < 0)
        return Illegal{level.directive, fmt::format("{}; {} {} at a loop outside compute_at({}, {}), or at root", explain(level, stage), words.remedy, loops.name,
                                                    stage_at(nest_, loops.compute.stage).name, loops.compute.loop)};
      if (outside > within) return Illegal{level.directive, explain_inside(loops, level, inner, words)};
      if (words.done == kHoisted.done)
        if (std::string why = explain_idle(loops, stage, level); !why.empty()) return Illegal{level.directive, std::move(why)};
      for (int i = outside + 1; i <= computed; ++i) {
        const LoopVariable& between = variable_of(nest_, path[static_cast<std::size_t>(i)]);
        if (between.kind == LoopKind::parallel || between.kind == LoopKind::vectorized)
          return Illegal{level.directive, fmt::format("the {} loop '{}' lies between where {} is {} and where it is computed, so its iterations would "
                                                      "share the storage; {} it inside that loop",
                                                      print(between.kind), between.name, loops.name, words.done, words.verb)};
      }
    }
    return std::nullopt;
  }

  // Halide takes hoisted memory at every loop of that name, and fails where nothing inside uses it.
  std::string explain_idle(const StageLoops& loops, int stage, const Level& level) const {
    if (level.kind != Level::Kind::at) return {};
    const StageLoops& host = stage_at(nest_, level.stage);
    for (std::size_t d = 0; d < host.definitions.size(); ++d) {
      const Definition& definition = host.definitions[d];
      const auto uses = [&](const LoopPath& path) {
        return std::any_of(path.begin(), path.end(), [&](const EnclosingLoop& loop) { return loop.stage == level.stage && loop.definition == static_cast<int>(d); });
      };
      if (definition.find(level.loop) >= 0 && std::none_of(reads(stage).begin(), reads(stage).end(), uses))
        return fmt::format("{} has a loop '{}' as well and does not use {}; rename that loop there, or use hoist_storage_root()", name_of(host, definition),
                           level.loop, loops.name);
    }
    return {};
  }

  int place_of(const LoopPath& path, const Level& level) const { return level.kind == Level::Kind::root ? -1 : place_in(nest_, path, level); }

  std::string explain_inside(const StageLoops& loops, const Level& level, const Level& inner, const StorageWords& words) const {
    const std::string loop = fmt::format("loop '{}' of {}", level.loop, stage_at(nest_, level.stage).name);
    if (inner.kind == Level::Kind::root)
      return fmt::format("{} is {} at root, outside {}; say hoist_storage_root() or nothing", loops.name, words.within, loop);
    return fmt::format("{} is inside the loop '{}' of {} that {} is {} at; it must be outside or the same", loop, inner.loop, stage_at(nest_, inner.stage).name,
                       loops.name, words.within);
  }

  // Each loop between where a stage is stored and where it is computed goes on from what its iterations before have left.
  std::optional<Illegal> check_slides(const StageLoops& loops, int stage, const std::vector<LoopPath>& sites) const {
    if (loops.is_inlined() || !loops.slides()) return std::nullopt;
    for (const LoopPath& path : sites) {
      const int computed = place_of(path, loops.compute);
      for (int i = place_of(path, loops.store) + 1; i <= computed; ++i)
        if (std::string why = refuse_slide(nest_, stage, path[static_cast<std::size_t>(i)]); !why.empty()) return Illegal{loops.store.directive, std::move(why)};
    }
    return std::nullopt;
  }

  // The iterations of the outermost loop between storage and computation share a folded dimension.
  std::optional<Illegal> check_folds(const StageLoops& loops, int stage, const std::vector<LoopPath>& sites) const {
    for (std::size_t d = 0; d < loops.folds.size(); ++d) {
      const Fold& fold = loops.folds[d];
      if (fold.factor == 0 || loops.is_inlined()) continue;
      if (!loops.slides())
        return Illegal{fold.directive, fmt::format("{} is stored where it is computed, so every element is there at once; store_root() or store_at(stage, loop) "
                                                   "at a loop outside must come first",
                                                   loops.name)};
      if (sites.size() != 1)
        return Illegal{fold.directive, fmt::format("{} is computed in {} places, which cannot share one ring; fold a stage that one definition reads",
                                                   loops.name, sites.size())};
      const int stored = place_of(sites.front(), loops.store);
      if (std::string why = refuse_fold(nest_, stage, d, sites.front()[static_cast<std::size_t>(stored + 1)]); !why.empty())
        return Illegal{fold.directive, std::move(why)};
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
