#include "dsl/folds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace kiln {
namespace {

// What is read along one dimension while the loop makes one iteration: coefficient × where each loop of its definition then starts, plus [low, high].
struct Window {
  std::vector<std::pair<int, double>> starts;  // a place in DefinitionFacts::loops; sorted
  double low = 0, high = 0;
  std::string symbols;
  bool is_known = false;
  bool has_starts = false;  // nothing else moves it, however far it reaches
};
using Windows = std::vector<Window>;

void add(Window& window, double coefficient, const Window& part) {
  window.is_known = window.is_known && part.is_known;
  window.has_starts = window.has_starts && part.has_starts;
  for (const auto& [loop, factor] : part.starts) {
    const auto at = std::lower_bound(window.starts.begin(), window.starts.end(), loop, [](const auto& start, int l) { return start.first < l; });
    if (at != window.starts.end() && at->first == loop) {
      at->second += coefficient * factor;
    } else {
      window.starts.insert(at, {loop, coefficient * factor});
    }
  }
  std::erase_if(window.starts, [](const auto& start) { return start.second == 0; });
  window.low += std::min(coefficient * part.low, coefficient * part.high);
  window.high += std::max(coefficient * part.low, coefficient * part.high);
  if (!part.symbols.empty()) window.symbols += fmt::format("+{}*({})", coefficient, part.symbols);
}

// Both together; known only when they lie a known distance apart.
void unite(std::optional<Window>& all, const Window& window) {
  if (!all) {
    all = window;
  } else if (!all->is_known || !window.is_known || all->starts != window.starts || all->symbols != window.symbols) {
    all->is_known = false;
  } else {
    all->low = std::min(all->low, window.low);
    all->high = std::max(all->high, window.high);
  }
}

bool masks(Tail tail) { return tail == Tail::guard_with_if || tail == Tail::predicate; }

// Whether the stage computes no more along a dimension than is read of it, and Halide can see so: not through a fused loop.
bool computes_what_is_read(const StageLoops& stage, std::size_t dimension) {
  if (stage.is_inlined()) return true;
  if (stage.is_aligned[dimension]) return false;
  return std::all_of(stage.definitions.begin(), stage.definitions.end(), [&](const Definition& definition) {
    const int loop = definition.facts->pure_loop[dimension];
    if (loop < 0) return false;
    const std::uint64_t root = definition.loop(loop).roots;
    return std::all_of(definition.rewrites.begin(), definition.rewrites.end(), [&](const LoopRewrite& rewrite) {
      if ((definition.loop(rewrite.old).roots & root) == 0) return true;
      return rewrite.kind == LoopRewrite::Kind::split && masks(rewrite.tail);
    });
  });
}

class WindowReader {
 public:
  WindowReader(const LoopNest& nest, const EnclosingLoop& outermost)
      : nest_(nest), host_(outermost), definition_(nest.stage(outermost.stage).definitions[static_cast<std::size_t>(outermost.definition)]) {
    const auto spans = spans_within(definition_, definition_.place(outermost.variable));
    for (std::size_t i = 0; i < definition_.facts->loops.size(); ++i) {
      Window window{{{static_cast<int>(i), 1.0}}, 0, 0, {}, spans[i].has_value(), true};
      if (spans[i]) window.high = static_cast<double>(*spans[i] - 1);
      own_.push_back(std::move(window));
    }
  }

  // By dimension of a stage that is read within the loop.
  Windows of(int stage) const {
    Windows all;
    for (const Windows& reads : each_of(stage)) {
      std::optional<Window> together;
      for (const Window& read : reads) unite(together, read);
      all.push_back(together.value_or(Window{}));
    }
    return all;
  }

  // By dimension, the window of each read.
  std::vector<Windows> each_of(int stage) const {
    const std::size_t rank = nest_.stage(stage).loops().size();
    std::vector<Windows> windows(rank);
    for (int r = 0; r < static_cast<int>(nest_.stages().size()); ++r) {
      const StageLoops& reader = nest_.stage(r);
      for (std::size_t d = 0; d < reader.definitions.size(); ++d) {
        const Definition& definition = reader.definitions[d];
        for (std::size_t u = 0; u < definition.producers.size(); ++u) {
          if (definition.producers[u] != stage) continue;
          const Windows loops = r == host_.stage && static_cast<int>(d) == host_.definition ? own_ : loops_of(r, definition);
          const Use& use = definition.facts->uses[u];
          for (std::size_t dim = 0; dim < rank; ++dim)
            for (const IndexForm& form : use.dimensions[dim]) windows[dim].push_back(read_at(form, loops));
        }
      }
    }
    return windows;
  }

  // How many iterations of one of the host's own loops an iteration of the outermost one has.
  std::int64_t span(int loop) const { return static_cast<std::int64_t>(own_[static_cast<std::size_t>(loop)].high) + 1; }

 private:
  // How far each loop of a definition within the host's loop goes.
  Windows loops_of(int stage, const Definition& definition) const {
    const StageLoops& reader = nest_.stage(stage);
    Windows loops(definition.facts->loops.size());
    for (std::size_t i = 0; i < loops.size(); ++i) {
      const LoopFacts& loop = definition.facts->loops[i];
      if (!loop.is_reduction) continue;
      loops[i] = {{}, 0, static_cast<double>(loop.constant.value_or(1) - 1), reader.name + "." + loop.name, loop.constant.has_value(), true};
    }
    if (reader.is_output()) return loops;  // it is outside the loop: whatever it reads is read elsewhere too
    const Windows dimensions = of(stage);
    for (std::size_t d = 0; d < dimensions.size(); ++d)
      if (const int loop = definition.facts->pure_loop[d]; loop >= 0 && computes_what_is_read(reader, d)) loops[static_cast<std::size_t>(loop)] = dimensions[d];
    return loops;
  }

  static Window read_at(const IndexForm& form, const Windows& loops) {
    Window window{{}, form.low - form.slack, form.high + form.slack, form.symbols, form.is_known, form.is_known};
    for (const auto& [loop, coefficient] : form.terms) add(window, coefficient, loops[static_cast<std::size_t>(loop)]);
    return window;
  }

  const LoopNest& nest_;
  const EnclosingLoop& host_;
  const Definition& definition_;
  Windows own_;
};

// The one of the definition's own loops that a loop is a part of; -1 when several were fused into it.
int root_of(const Definition& definition, int variable) {
  for (std::size_t i = 0; i < definition.facts->loops.size(); ++i)
    if (definition.loop(variable).roots == std::uint64_t{1} << (i % 64)) return static_cast<int>(i);
  return -1;
}

double step_along(const Window& window, int loop) {
  const auto found = std::find_if(window.starts.begin(), window.starts.end(), [&](const auto& start) { return start.first == loop; });
  return found == window.starts.end() ? 0 : found->second;
}

}  // namespace

std::string refuse_slide(const LoopNest& nest, int stage, const EnclosingLoop& loop) {
  const StageLoops& kept = nest.stage(stage);
  const StageLoops& host = nest.stage(loop.stage);
  const Definition& definition = host.definitions[static_cast<std::size_t>(loop.definition)];
  const int root = root_of(definition, loop.variable);
  if (root < 0) return {};
  const std::vector<Windows> reads = WindowReader(nest, loop).each_of(stage);
  for (std::size_t d = 0; d < reads.size(); ++d) {
    const auto moves = [&](const Window& read) { return read.has_starts && step_along(read, root) != 0; };
    const auto stands = [&](const Window& read) { return read.has_starts && step_along(read, root) == 0; };
    if (std::any_of(reads[d].begin(), reads[d].end(), moves) && std::any_of(reads[d].begin(), reads[d].end(), stands))
      return fmt::format("in each iteration of loop '{}' of {} one read of '{}' moves along and another takes the same of it every time, so what earlier "
                         "iterations left is not told from what is missing; store {} where it is computed, or compute_root()",
                         definition.loop(loop.variable).name, host.name, kept.loops()[d], kept.name);
  }
  return {};
}

std::string refuse_fold(const LoopNest& nest, int stage, std::size_t dimension, const EnclosingLoop& outermost) {
  const StageLoops& folded = nest.stage(stage);
  const StageLoops& host = nest.stage(outermost.stage);
  const Definition& definition = host.definitions[static_cast<std::size_t>(outermost.definition)];
  const std::string& loop = definition.loop(outermost.variable).name;
  const std::string& name = folded.loops()[dimension];
  const Fold& fold = folded.folds[dimension];
  if (!computes_what_is_read(folded, dimension))
    return fmt::format("{} computes more along '{}' than is read of it, by a tail, a fused loop, an alignment or an update elsewhere, and a ring has no room "
                       "for that; split '{}' with GuardWithIf or not at all",
                       folded.name, name, name);
  const WindowReader reader(nest, outermost);
  const Windows windows = reader.of(stage);
  const int root = root_of(definition, outermost.variable);
  const Window& window = windows[dimension];
  if (root < 0 || !window.is_known)
    return fmt::format("how many elements of '{}' an iteration of loop '{}' of {} reads is not known while compiling; store {} at a loop inside it, or "
                       "leave the fold to the compiler",
                       name, loop, host.name, folded.name);
  const double step = step_along(window, root);
  const auto moves_too = [&](std::size_t d) { return d != dimension && (!windows[d].is_known || step_along(windows[d], root) != 0); };
  if (step == 0)
    return fmt::format("'{}' is read as a whole in each iteration of loop '{}' of {}, so nothing of it can be overwritten; fold the dimension that this "
                       "loop moves along",
                       name, loop, host.name);
  for (std::size_t d = dimension + 1; d < windows.size(); ++d)
    if (moves_too(d))
      return fmt::format("loop '{}' of {} moves along '{}' as well as '{}', and only the outermost such dimension is folded", loop, host.name,
                         folded.loops()[d], name);
  if ((step > 0) != fold.forward)
    return fmt::format("loop '{}' of {} reads '{}' {}; write fold_storage({}, {}, {})", loop, host.name, name, step > 0 ? "upwards" : "downwards", name,
                       fold.factor, step > 0 ? "true" : "false");
  const auto reach = static_cast<std::int64_t>(std::floor(window.high - window.low)) + 1;
  // Computed within a further part of the same loop, each iteration of that part computes what it lacks. Halide (21) asked for 15 where a part is of 8 and 12 were
  // given: taken to be room for the parts of two neighbouring iterations, less one element.
  const int computed = folded.compute.stage == outermost.stage ? definition.find(folded.compute.loop) : -1;
  const bool is_by_parts = computed >= 0 && computed != outermost.variable && root_of(definition, computed) == root;
  const std::int64_t least = is_by_parts ? reach + reader.span(root) - 1 : reach;
  if (fold.factor >= least) return {};
  return fmt::format("an iteration of loop '{}' of {} reads {} elements of '{}'{}, which a ring of {} cannot hold; use at least {}", loop, host.name, reach, name,
                     is_by_parts ? ", part by part" : "", fold.factor, least);
}

}  // namespace kiln
