#include "dsl/fetches.h"

#include <fmt/format.h>

#include <bit>
#include <string>
#include <vector>

#include "dsl/text_cursor.h"

namespace kiln {
namespace {

std::string input_of(const StageLoops& stage) { return stage.name.substr(0, stage.name.find(".in(")); }

bool copies_input(const StageLoops& stage) { return stage.wraps < 0 && stage.facts->stage->name.ends_with(".in"); }

// One definition's prefetches.
class Finder {
 public:
  Finder(const LoopNest& nest, int stage, const Definition& definition) : nest_(nest), stage_(stage), definition_(definition) {}

  std::optional<Illegal> find() const {
    for (std::size_t i = 0; i < definition_.fetches.size(); ++i)
      if (std::string why = refuse(i); !why.empty()) return Illegal{definition_.fetches[i].directive, std::move(why)};
    return std::nullopt;
  }

 private:
  std::string name() const { return name_of(nest_.stage(stage_), definition_); }

  std::string refuse(std::size_t i) const {
    const Fetch& fetch = definition_.fetches[i];
    const int at = definition_.find(fetch.at), from = definition_.find(fetch.from);
    for (const auto& [loop, id] : {std::pair(fetch.at, at), std::pair(fetch.from, from)})
      if (id < 0) return fmt::format("loop '{}' of {} was split, fused or renamed after it; say it after that", loop, name());
    if (definition_.place(from) < definition_.place(at))
      return fmt::format("loop '{0}' of {1} runs inside '{2}', so it has no next iteration to fetch for there; give the outer one last: prefetch(…, {0}, "
                         "{2})",
                         fetch.from, name(), fetch.at);
    for (std::size_t p = static_cast<std::size_t>(definition_.place(at)); p < definition_.order.size(); ++p)
      if (const LoopVariable& loop = definition_.loop(definition_.order[p]); loop.kind == LoopKind::vectorized)
        return fmt::format("'{}' of {} is or lies inside the vectorized loop '{}', where nothing is fetched ahead; name a loop outside it", fetch.at, name(),
                           loop.name);
    // Halide then no longer knows how much of a stage computed there is needed.
    if (std::popcount(definition_.loop(at).roots) > 1)
      return fmt::format("'{}' of {} runs over several fused loops, where the next iteration may be anywhere; name a loop that is not fused, or leave out the "
                         "fusion",
                         fetch.at, name());
    const auto here = buffers_at(definition_.place(at));
    const std::string wanted = fetch.is_input ? input_of(nest_.stage(fetch.stage)) : nest_.stage(fetch.stage).name;
    if (std::find(here.begin(), here.end(), wanted) == here.end())
      return fmt::format("{} is not read from memory that lasts inside loop '{}' of {}; what is read so there: {}", wanted, fetch.at, name(), listed(here));
    for (std::size_t j = 0; j < i; ++j)
      if (definition_.fetches[j].at == fetch.at && definition_.fetches[j].stage == fetch.stage && definition_.fetches[j].is_input == fetch.is_input)
        return fmt::format("{} is fetched at loop '{}' of {} already; say it once", wanted, fetch.at, name());
    return {};
  }

  // The inputs, and the stages stored further out, that are read inside the loop at this place.
  std::vector<std::string> buffers_at(int place) const {
    std::vector<std::string> found;
    std::vector<bool> seen(nest_.stages().size(), false);
    if (copies_input(nest_.stage(stage_))) found.push_back(input_of(nest_.stage(stage_)));
    collect(definition_, place, seen, found);
    return found;
  }

  void collect(const Definition& reader, int place, std::vector<bool>& seen, std::vector<std::string>& found) const {
    for (const int producer : reader.producers) {
      if (seen[static_cast<std::size_t>(producer)]) continue;
      seen[static_cast<std::size_t>(producer)] = true;
      const StageLoops& stage = nest_.stage(producer);
      if (!stage.is_inlined() && !is_stored_inside(stage, place)) found.push_back(stage.name);
      if (!is_computed_inside(stage, place)) continue;
      if (copies_input(stage)) found.push_back(input_of(stage));
      for (const Definition& definition : stage.definitions) collect(definition, place, seen, found);
    }
  }

  // Inlined, not placed at all (and so computed around each read), or at a loop from `place` inwards, or at one of a stage that is.
  bool is_computed_inside(const StageLoops& stage, int place) const {
    return stage.compute.kind == Level::Kind::inlined || is_inside(stage.compute, place);
  }

  bool is_stored_inside(const StageLoops& stage, int place) const {
    return stage.store.directive == kNoDirective ? is_computed_inside(stage, place) : is_inside(stage.store, place);
  }

  bool is_inside(const Level& level, int place) const {
    if (level.kind != Level::Kind::at) return false;
    if (level.stage != stage_) return is_computed_inside(nest_.stage(level.stage), place);
    const int loop = definition_.find(level.loop);
    return loop >= 0 && definition_.place(loop) <= place;
  }

  const LoopNest& nest_;
  int stage_;
  const Definition& definition_;
};

}  // namespace

std::optional<Illegal> find_misfetched(const LoopNest& nest) {
  std::optional<Illegal> first;
  for (std::size_t s = 0; s < nest.stages().size(); ++s) {
    for (const Definition& definition : nest.stages()[s].definitions) {
      auto illegal = Finder(nest, static_cast<int>(s), definition).find();
      if (illegal && (!first || illegal->directive < first->directive)) first = std::move(illegal);
    }
  }
  return first;
}

}  // namespace kiln
