#include "schedules/edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "dsl/directive.h"
#include "dsl/legality.h"
#include "dsl/loop_nest.h"
#include "dsl/stage_facts.h"

namespace kiln::schedules {
namespace {

// Loops of more iterations are not unrolled whole: what a body gains by that is gained by then.
constexpr std::int64_t kMostUnrolled = 16;
// Below this a tile's height is tried one up and one down: register tiles of 3, 5 or 6 rows win.
constexpr std::int64_t kSmallFactor = 8;
constexpr std::int64_t kTiles[] = {8, 32, 128};

// The directives that place, and those that speak of where a stage's memory is taken.
bool places(const Directive& d) { return d.name == "compute_at" || d.name == "compute_root" || d.name == "compute_inline"; }
bool stores(const Directive& d) { return d.name == "store_at" || d.name == "store_root" || d.name == "hoist_storage" || d.name == "hoist_storage_root"; }

const std::string* word(const Directive& d, std::size_t i) { return i < d.arguments.size() ? std::get_if<std::string>(&d.arguments[i]) : nullptr; }

std::vector<std::int64_t> nearby(std::int64_t factor) {
  std::set<std::int64_t> values = {factor / 4, factor / 2, factor * 3 / 4, factor * 3 / 2, factor * 2, factor * 4};
  if (factor <= kSmallFactor) values.insert({factor - 1, factor + 1});
  std::vector<std::int64_t> kept;
  for (const std::int64_t value : values)
    if (value >= 1 && value != factor) kept.push_back(value);
  return kept;
}

// One schedule at work: its loops as they end, and the schedules that one change makes of it.
class Steps {
 public:
  Steps(const AlgorithmFacts& facts, const Device& device, const Schedule& schedule) : device_(device), schedule_(schedule), nest_(facts) {
    legal_ = !rewrite_loops(nest_, schedule);
  }

  std::vector<Edit> all() {
    if (!legal_) return {};
    for (std::size_t d = 0; d < schedule_.directives.size(); ++d) {
      change_numbers(d);
      change_tail(d);
      remove_mark(d);
    }
    for (const StageLoops& stage : nest_.stages()) {
      place(stage);
      store(stage);
      for (const Definition& definition : stage.definitions)
        if (definition.condition.empty() && !stage.is_inlined()) {
          mark(stage, definition);
          reorder(stage, definition);
          tile(stage, definition);
          accompany(stage, definition);
        }
    }
    return std::move(edits_);
  }

 private:
  struct Host {
    std::string stage, loop;
    bool operator==(const Host&) const = default;
  };

  void add(EditKind kind, Schedule schedule) { edits_.push_back({kind, std::move(schedule)}); }

  // --- one directive's own words

  void change_numbers(std::size_t d) {
    static const std::set<std::string> kScaled = {"split", "tile", "vectorize", "unroll", "parallel", "align_storage", "fold_storage"};
    const Directive& directive = schedule_.directives[d];
    if (!kScaled.contains(directive.name)) return;
    for (std::size_t a = 0; a < directive.arguments.size(); ++a) {
      const auto* factor = std::get_if<std::int64_t>(&directive.arguments[a]);
      if (factor == nullptr) continue;
      for (const std::int64_t value : nearby(*factor)) {
        Schedule changed = schedule_;
        changed.directives[d].arguments[a] = value;
        add(EditKind::factor, std::move(changed));
      }
    }
  }

  void change_tail(std::size_t d) {
    static const std::set<std::string> kWithTail = {"split", "tile", "vectorize", "unroll", "parallel"};
    const Directive& directive = schedule_.directives[d];
    const bool has_factor = std::any_of(directive.arguments.begin(), directive.arguments.end(), [](const auto& a) { return a.index() == 0; });
    if (!kWithTail.contains(directive.name) || !has_factor) return;
    const auto& tails = tail_strategies();
    const std::string* last = word(directive, directive.arguments.size() - 1);
    const bool is_said = last != nullptr && std::count(tails.begin(), tails.end(), *last) > 0;
    for (const std::string tail : {"RoundUp", "GuardWithIf", "ShiftInwards", "Predicate"}) {
      if (is_said && *last == tail) continue;
      Schedule changed = schedule_;
      auto& arguments = changed.directives[d].arguments;
      if (is_said) arguments.pop_back();
      arguments.emplace_back(tail);
      add(EditKind::tail, std::move(changed));
    }
  }

  void remove_mark(std::size_t d) {
    static const std::set<std::string> kMarks = {"vectorize", "unroll", "parallel", "partition", "prefetch"};
    if (kMarks.contains(schedule_.directives[d].name)) add(EditKind::mark, without([&](std::size_t i) { return i == d; }));
    if (schedule_.directives[d].name == "compute_with") add(EditKind::companion, without([&](std::size_t i) { return i == d; }));
  }

  template <typename Gone>
  Schedule without(const Gone& gone) const {
    Schedule rest;
    for (std::size_t i = 0; i < schedule_.directives.size(); ++i)
      if (!gone(i)) rest.directives.push_back(schedule_.directives[i]);
    return rest;
  }

  // --- places

  // Loops that a stage may be placed at, as far as names go. Those it cannot, legality knows.
  std::vector<Host> hosts(const StageLoops& guest) const {
    std::vector<Host> all;
    for (const StageLoops& stage : nest_.stages()) {
      if (&stage == &guest || stage.is_inlined()) continue;
      for (const Definition& definition : stage.definitions)
        for (const int variable : definition.order) {
          const LoopVariable& loop = definition.loop(variable);
          const Host host{stage.name, loop.name};
          if (loop.name.empty() || loop.kind == LoopKind::vectorized || std::count(all.begin(), all.end(), host) > 0) continue;
          all.push_back(host);
        }
    }
    return all;
  }

  // Its placing directives replaced by these, in the place of the first, or at the end.
  Schedule placed(const StageLoops& stage, std::vector<Directive> directives, bool keeps_store = false) const {
    Schedule changed;
    bool is_said = false;
    for (const Directive& d : schedule_.directives) {
      const bool is_its = d.stage == stage.name && (places(d) || (stores(d) && !keeps_store));
      if (!is_its) changed.directives.push_back(d);
      if (!is_its || is_said) continue;
      changed.directives.insert(changed.directives.end(), directives.begin(), directives.end());
      is_said = true;
    }
    if (!is_said) changed.directives.insert(changed.directives.end(), directives.begin(), directives.end());
    return changed;
  }

  void place(const StageLoops& stage) {
    if (stage.is_output() || stage.wraps >= 0) return;
    const bool is_new = stage.is_inlined();
    const bool keeps = std::any_of(schedule_.directives.begin(), schedule_.directives.end(), [&](const Directive& d) { return d.stage == stage.name && stores(d); });
    const auto propose = [&](const Directive& at) {
      std::vector<Directive> directives = {at};
      if (is_new && !stage.loops().empty()) directives.push_back({stage.name, -1, "vectorize", {stage.loops().front(), lanes(stage)}});
      add(EditKind::place, placed(stage, directives));
      if (keeps) add(EditKind::place, placed(stage, directives, true));
    };
    for (const Host& host : hosts(stage))
      if (is_new || stage.compute.kind != Level::Kind::at || nest_.stage(stage.compute.stage).name != host.stage || stage.compute.loop != host.loop)
        propose({stage.name, -1, "compute_at", {host.stage, host.loop}});
    if (is_new || stage.compute.kind != Level::Kind::root) propose({stage.name, -1, "compute_root", {}});
    if (!is_new && stage.updates() == 0) add(EditKind::place, without([&](std::size_t i) { return speaks_of(schedule_.directives[i], stage.name); }));
  }

  // Of the stage, or along with it.
  static bool speaks_of(const Directive& d, const std::string& stage) {
    return d.stage == stage || (d.name == "compute_with" && split_definition_name(*word(d, 0)).stage == stage);
  }

  void store(const StageLoops& stage) {
    if (stage.is_output() || stage.is_inlined() || stage.compute.kind != Level::Kind::at) return;
    const Directive where{stage.name, -1, "compute_at", {nest_.stage(stage.compute.stage).name, stage.compute.loop}};
    if (stage.slides()) add(EditKind::store, placed(stage, {where}));
    add(EditKind::store, placed(stage, {where, {stage.name, -1, "store_root", {}}}));
    for (const Host& host : hosts(stage)) add(EditKind::store, placed(stage, {where, {stage.name, -1, "store_at", {host.stage, host.loop}}}));
  }

  // --- loops

  std::int64_t lanes(const StageLoops& stage) const {
    const auto& types = stage.facts->stage->types;
    return types.empty() ? 1 : std::max<std::int64_t>(1, device_.vector_bytes / std::max(1, types[0].bytes()));
  }

  // A directive said of a definition after all that is said of it; behind its stage's first words when that is nothing.
  Schedule with(const StageLoops& stage, const Definition& definition, std::vector<Directive> more) const {
    Schedule changed = schedule_;
    std::size_t at = 0;
    for (std::size_t i = 0; i < schedule_.directives.size(); ++i) {
      const Directive& d = schedule_.directives[i];
      if (d.stage == stage.name && d.name != "compute_with" && (d.update == definition.update || at == 0)) at = i + 1;
    }
    if (at == 0) at = schedule_.directives.size();
    changed.directives.insert(changed.directives.begin() + static_cast<std::ptrdiff_t>(at), more.begin(), more.end());
    return changed;
  }

  static Directive said(const StageLoops& stage, const Definition& definition, const std::string& name, std::vector<DirectiveArgument> arguments) {
    return {stage.name, definition.update, name, std::move(arguments)};
  }

  void mark(const StageLoops& stage, const Definition& definition) {
    const auto propose = [&](const std::string& name, std::vector<DirectiveArgument> arguments) {
      add(EditKind::mark, with(stage, definition, {said(stage, definition, name, std::move(arguments))}));
    };
    bool is_vectorized = false, is_parallel = false;
    for (const int variable : definition.order) {
      is_vectorized |= definition.loop(variable).kind == LoopKind::vectorized;
      is_parallel |= definition.loop(variable).kind == LoopKind::parallel;
    }
    std::size_t seen = 0;
    for (const int variable : definition.order) {
      const LoopVariable& loop = definition.loop(variable);
      if (loop.name.empty() || loop.kind != LoopKind::serial) continue;
      const bool is_inner = seen++ < 2;
      if (!is_vectorized && is_inner) propose("vectorize", {loop.name, lanes(stage)});
      if (loop.constant && *loop.constant > 1 && *loop.constant <= kMostUnrolled) propose("unroll", {loop.name});
      for (const std::int64_t factor : {2, 4})
        if (is_inner && (!loop.constant || *loop.constant > factor)) propose("unroll", {loop.name, factor});
      if (!is_parallel && !loop.is_reduction && stage.compute.kind != Level::Kind::at) propose("parallel", {loop.name});
    }
  }

  void reorder(const StageLoops& stage, const Definition& definition) {
    for (std::size_t i = 0; i + 1 < definition.order.size(); ++i) {
      const LoopVariable &inner = definition.loop(definition.order[i]), &outer = definition.loop(definition.order[i + 1]);
      if (inner.name.empty() || outer.name.empty()) continue;
      const auto back = std::find(schedule_.directives.begin(), schedule_.directives.end(), said(stage, definition, "reorder", {outer.name, inner.name}));
      if (back != schedule_.directives.end()) continue;  // said already: twice is where it came from
      add(EditKind::order, with(stage, definition, {said(stage, definition, "reorder", {outer.name, inner.name})}));
    }
  }

  void tile(const StageLoops& stage, const Definition& definition) {
    for (const int variable : definition.order) {
      const LoopVariable& loop = definition.loop(variable);
      const bool is_whole = std::none_of(definition.rewrites.begin(), definition.rewrites.end(), [&](const LoopRewrite& rewrite) {
        return rewrite.kind == LoopRewrite::Kind::split && rewrite.outer == variable && rewrite.factor > lanes(stage);
      });
      if (loop.name.empty() || loop.kind != LoopKind::serial || !is_whole) continue;
      for (const std::int64_t factor : kTiles) {
        if (loop.constant && *loop.constant <= factor) continue;
        const std::string outer = fresh(definition, loop.name + "_out"), inner = fresh(definition, loop.name + "_in");
        std::vector<DirectiveArgument> order;
        for (const int other : definition.order) {
          const std::string& name = definition.loop(other).name;
          if (other == variable) order.emplace_back(inner);
          if (other != variable && !name.empty()) order.emplace_back(name);
        }
        order.emplace_back(outer);
        std::vector<Directive> directives = {said(stage, definition, "split", {loop.name, outer, inner, factor})};
        if (order.size() > 1) directives.push_back(said(stage, definition, "reorder", order));
        add(EditKind::tile, with(stage, definition, directives));
      }
    }
  }

  static std::string fresh(const Definition& definition, const std::string& wanted) {
    const auto is_taken = [&](const std::string& name) {
      return std::any_of(definition.variables.begin(), definition.variables.end(), [&](const LoopVariable& v) { return v.name == name; });
    };
    std::string name = wanted;
    for (int n = 2; is_taken(name); ++n) name = fmt::format("{}_{}", wanted, n);
    return name;
  }

  // With each later stage at the same place, at each loop from the innermost out.
  void accompany(const StageLoops& stage, const Definition& definition) {
    if (definition.companion.stage >= 0 || definition.update >= 0 || stage.updates() > 0) return;
    for (const StageLoops& other : nest_.stages()) {
      const bool is_beside = &other != &stage && !other.is_inlined() && other.updates() == 0 && other.compute.kind == stage.compute.kind &&
                             other.compute.stage == stage.compute.stage && other.compute.loop == stage.compute.loop;
      if (!is_beside) continue;
      for (const int variable : definition.order) {
        const LoopVariable& loop = definition.loop(variable);
        if (loop.name.empty() || loop.kind == LoopKind::vectorized || other.definitions.front().find(loop.name) < 0) continue;
        Schedule changed = schedule_;
        changed.directives.push_back({stage.name, -1, "compute_with", {other.name, loop.name}});
        add(EditKind::companion, std::move(changed));
      }
    }
  }

  const Device& device_;
  const Schedule& schedule_;
  LoopNest nest_;
  bool legal_ = false;
  std::vector<Edit> edits_;
};

}  // namespace

Editor::Editor(const Algorithm& algorithm, const Problem& problem, const Device& device)
    : facts_(std::make_shared<const AlgorithmFacts>(facts_of(algorithm, &problem))), device_(device) {
  require_cpu(device, "the search by edits");
}

std::vector<Edit> Editor::edits(const Schedule& schedule) const {
  return schedule.is_opaque() ? std::vector<Edit>{} : Steps(*facts_, device_, schedule).all();
}

}  // namespace kiln::schedules
