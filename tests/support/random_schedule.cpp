#include "tests/support/random_schedule.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "dsl/condition.h"
#include "dsl/directive.h"
#include "dsl/legality.h"
#include "dsl/loop_nest.h"
#include "dsl/text_cursor.h"

namespace kiln::tests {
namespace {

using Random = std::mt19937_64;

// Not std::uniform_int_distribution, whose numbers differ between standard libraries.
std::size_t below(Random& random, std::size_t count) { return static_cast<std::size_t>(random() % count); }

template <typename T>
const T& pick(Random& random, const std::vector<T>& from) {
  return from[below(random, from.size())];
}

bool chance(Random& random, std::size_t percent) { return below(random, 100) < percent; }

std::string reference_to(const Stage& stage) { return stage.name.ends_with(".in") ? stage.name + "()" : stage.name; }

class Proposer {
 public:
  Proposer(const Algorithm& algorithm, const Problem& problem, Random& random) : algorithm_(algorithm), problem_(problem), legality_(algorithm, &problem), random_(random) {}

  Schedule propose() {
    for (auto stage = algorithm_.stages.rbegin(); stage != algorithm_.stages.rend(); ++stage) {
      if (chance(random_, 15)) propose_wrapper(*stage);
      propose_stage(*stage, reference_to(*stage));
    }
    for (int attempt = 0; attempt < 8; ++attempt) propose_companion();
    return std::move(schedule_);
  }

 private:
  // One definition, or a specialization of it.
  struct Place {
    std::string stage;
    int update = -1;
    std::string condition = {};
    auto operator<=>(const Place&) const = default;
  };

  bool keep(const Place& where, const std::string& name, std::vector<DirectiveArgument> arguments) {
    return keep(where.stage, where.update, name, std::move(arguments), where.condition);
  }

  // Appends the directive if the schedule stays legal.
  bool keep(const std::string& stage, int update, const std::string& name, std::vector<DirectiveArgument> arguments, const std::string& condition = {}) {
    schedule_.directives.push_back({stage, update, name, std::move(arguments), condition});
    if (!legality_.find_illegal(schedule_)) return true;
    schedule_.directives.pop_back();
    return false;
  }

  std::string fresh(const std::string& loop) {
    std::string name = loop.substr(loop.rfind('.') + 1);
    return name + "_" + std::to_string(++names_);
  }

  void propose_wrapper(const Stage& stage) {
    std::string reference = reference_to(stage);
    const bool is_input = reference != stage.name;
    const std::string base = is_input ? stage.name.substr(0, stage.name.size() - 3) : stage.name;
    std::vector<std::string> readers = {""};
    for (const Stage& other : algorithm_.stages)
      if (!other.name.ends_with(".in")) readers.push_back(other.name);
    std::string reader = pick(random_, readers);
    if (is_input && reader.empty()) return;  // that is the input's own stage
    reference = base + ".in(" + reader + ")";
    if (place(reference)) {
      loops_[{reference, -1}] = stage.loops;
      transform({reference, -1});
    }
  }

  void propose_stage(const Stage& stage, const std::string& reference) {
    loops_[{reference, -1}] = stage.loops;
    for (std::size_t u = 0; u < stage.updates.size(); ++u) loops_[{reference, static_cast<int>(u)}] = loops_of(stage, stage.updates[u]);
    if (chance(random_, 25) && schedule_like_another(stage, reference)) return;
    if (!algorithm_.is_output(stage.name) && !place(reference) && stage.updates.empty()) return;
    transform({reference, -1});
    for (std::size_t u = 0; u < stage.updates.size(); ++u) {
      if (chance(random_, 40)) factor(stage, {reference, static_cast<int>(u)});
      transform({reference, static_cast<int>(u)});
    }
    if (chance(random_, 40)) propose_storage(stage, reference);
  }

  // Repeats what was said of an earlier stage with the same loops, which may then share them.
  bool schedule_like_another(const Stage& stage, const std::string& reference) {
    std::vector<std::string> others;
    for (const Stage& other : algorithm_.stages)
      if (other.name != stage.name && other.loops == stage.loops && loops_.contains({reference_to(other), -1})) others.push_back(reference_to(other));
    if (others.empty() || !stage.updates.empty()) return false;
    const std::string& other = pick(random_, others);
    static const std::vector<std::string> kRepeated = {"compute_root", "compute_at", "split", "tile", "fuse", "reorder", "rename", "parallel", "serial"};
    const Schedule said = schedule_;
    for (const Directive& directive : said.directives) {
      if (directive.stage != other || directive.update >= 0 || !directive.condition.empty()) continue;
      if (std::find(kRepeated.begin(), kRepeated.end(), directive.name) == kRepeated.end() || keep(reference, -1, directive.name, directive.arguments)) continue;
      schedule_ = said;
      return false;
    }
    std::vector<std::string>& loops = loops_[{reference, -1}] = loops_[{other, -1}];
    keep(reference, -1, "compute_with", {other, pick(random_, loops)});
    return true;
  }

  // Splits a reduction and leaves its inner part to a stage of partial sums, which is then scheduled like any other.
  void factor(const Stage& stage, const Place& where) {
    std::vector<std::string>& loops = loops_[where];
    const std::vector<ReductionVariable>& reduction = stage.updates[static_cast<std::size_t>(where.update)].reduction;
    if (reduction.empty()) return;
    const std::string loop = pick(random_, reduction).name;
    std::string outer = loop;
    if (chance(random_, 80)) {
      outer = fresh(loop);
      const std::string inner = fresh(loop);
      if (!keep(where, "split", {loop, outer, inner, factor()})) return;
      replace(loops, loop, outer, inner);
    }
    const std::string dimension = fresh(outer);
    if (!keep(where, "rfactor", {outer, dimension})) return;
    const std::string partial = factored_name(stage.name, [&](const std::string& name) { return loops_.contains({name, -1}); });
    const auto is_pure = [&](const std::string& name) { return std::find(stage.loops.begin(), stage.loops.end(), name) != stage.loops.end(); };
    std::vector<std::string> sums = {dimension}, left = {outer}, dimensions = stage.loops;
    for (const std::string& name : loops) {
      if (name != outer) sums.push_back(name);
      if (name != outer && is_pure(name)) left.push_back(name);
    }
    dimensions.push_back(dimension);
    loops = left;
    loops_[{partial, -1}] = dimensions;
    loops_[{partial, 0}] = sums;
    place(partial);
    transform({partial, -1});
    transform({partial, 0});
  }

  static std::vector<std::string> loops_of(const Stage& stage, const Update& update) {
    std::vector<std::string> loops;
    for (const ReductionVariable& variable : update.reduction) loops.push_back(variable.name);
    for (std::size_t d = 0; d < stage.loops.size(); ++d)
      if (update.indices[d]->op == Op::loop && update.indices[d]->name == stage.loops[d]) loops.push_back(stage.loops[d]);
    return loops;
  }

  // True when the stage is now computed at root or at a loop.
  bool place(const std::string& reference) {
    const std::size_t kind = below(random_, 10);
    if (kind < 2) return false;
    if (kind < 5) return keep(reference, -1, "compute_root", {});
    for (int attempt = 0; attempt < 6; ++attempt) {
      const auto [host, loop] = random_loop();
      if (loop.empty() || !keep(reference, -1, "compute_at", {host, loop})) continue;
      place_storage(reference);
      return true;
    }
    return keep(reference, -1, "compute_root", {});
  }

  void place_storage(const std::string& reference) {
    if (chance(random_, 25)) keep(reference, -1, "store_root", {});
    if (chance(random_, 35)) propose_level(reference, "store_at");
    if (chance(random_, 10)) keep(reference, -1, "hoist_storage_root", {});
    if (chance(random_, 20)) propose_level(reference, "hoist_storage");
    for (const std::string& dimension : loops_[{reference, -1}])
      if (chance(random_, 70)) keep(reference, -1, "fold_storage", {dimension, 1 + static_cast<std::int64_t>(below(random_, 12))});
  }

  void propose_level(const std::string& reference, const std::string& name) {
    const auto [host, loop] = random_loop();
    if (!loop.empty()) keep(reference, -1, name, {host, loop});
  }

  std::pair<std::string, std::string> random_loop() {
    if (loops_.empty()) return {};
    auto found = loops_.begin();
    std::advance(found, static_cast<std::ptrdiff_t>(below(random_, loops_.size())));
    if (found->second.empty()) return {};
    return {found->first.stage, pick(random_, found->second)};
  }

  void transform(const Place& where) {
    if (where.update >= 0 && chance(random_, 30)) keep(where, "atomic", {});
    const std::size_t steps = below(random_, 5);
    for (std::size_t i = 0; i < steps; ++i) rewrite(where);
    if (where.condition.empty() && chance(random_, 6)) specialize(where);
    const std::size_t marks = below(random_, 4);
    for (std::size_t i = 0; i < marks; ++i) mark(where);
    for (int attempt = 0; attempt < 3; ++attempt) fetch(where);
    if (chance(random_, 6) && !loops_[where].empty()) keep(where, "partition", {pick(random_, loops_[where]), chance(random_, 50) ? "Never" : "Auto"});
  }

  void specialize(const Place& where) {
    std::vector<std::string> buffers;
    for (const Argument& argument : algorithm_.arguments)
      for (int d = 0; d < argument.rank; ++d) buffers.push_back(argument.name + ".dim(" + std::to_string(d) + ").extent()");
    const std::string& extent = pick(random_, buffers);
    const std::string number = std::to_string(1 + below(random_, 32));
    const std::string condition = chance(random_, 50) ? extent + " >= " + number : extent + " % " + number + " == 0";
    if (!keep(where, "specialize", {condition})) return;
    Place branch = where;
    branch.condition = condition;
    loops_[branch] = loops_[where];
    transform(branch);
  }

  // Mostly of what is read there, which is known once everything is placed: many attempts are refused.
  void fetch(const Place& where) {
    const std::vector<std::string>& loops = loops_[where];
    if (loops.empty()) return;
    std::vector<std::string> buffers;
    for (const Stage& stage : algorithm_.stages) {
      buffers.push_back(reference_to(stage));
      if (stage.name.ends_with(".in")) buffers.push_back(stage.name.substr(0, stage.name.size() - 3));
    }
    static const std::vector<std::string> kBounds = {"Clamp", "GuardWithIf", "NonFaulting"};
    std::vector<DirectiveArgument> arguments = {pick(random_, buffers), pick(random_, loops), pick(random_, loops)};
    if (chance(random_, 70)) arguments.emplace_back(1 + static_cast<std::int64_t>(below(random_, 5)));
    if (arguments.size() == 4 && chance(random_, 50)) arguments.emplace_back(pick(random_, kBounds));
    keep(where, "prefetch", arguments);
  }

  // Two definitions that are placed alike and have a loop of the same name.
  void propose_companion() {
    std::vector<Place> places;
    for (const auto& [place, loops] : loops_)
      if (place.condition.empty() && !loops.empty()) places.push_back(place);
    if (places.empty()) return;
    const Place &child = pick(random_, places), &parent = pick(random_, places);
    const std::string partner = parent.update < 0 ? parent.stage : parent.stage + ".update(" + std::to_string(parent.update) + ")";
    std::vector<DirectiveArgument> arguments = {partner, pick(random_, loops_[child])};
    static const std::vector<std::string> kAligns = {"Auto", "NoAlign", "AlignStart", "AlignEnd"};
    if (chance(random_, 50)) arguments.emplace_back(pick(random_, kAligns));
    keep(child, "compute_with", arguments);
  }

  std::int64_t factor() {
    static const std::vector<std::int64_t> kFactors = {1, 2, 3, 4, 4, 5, 7, 8, 8, 11, 16};
    return pick(random_, kFactors);
  }

  // Of a stage that is not an output mostly tails that compute no more than is read: the others ask the inputs for more than most problems have,
  // which is known only after the build.
  void add_tail(const Place& where, std::vector<DirectiveArgument>& arguments) {
    if (!algorithm_.is_output(where.stage) && chance(random_, 92)) {
      arguments.emplace_back(chance(random_, 85) ? "GuardWithIf" : "Predicate");
    } else if (!chance(random_, 25)) {
      arguments.emplace_back(chance(random_, 50) ? "GuardWithIf" : pick(random_, tail_strategies()));
    }
  }

  void rewrite(const Place& where) {
    std::vector<std::string>& loops = loops_[where];
    if (loops.empty()) return;
    const std::string loop = pick(random_, loops), other = pick(random_, loops);
    switch (below(random_, 5)) {
      case 0:
      case 1: split(where, loop); break;
      case 2: tile(where, loop, other); break;
      case 3: reorder(where); break;
      default:
        if (chance(random_, 30)) {
          const std::string name = fresh(loop);
          if (keep(where, "rename", {loop, name})) *std::find(loops.begin(), loops.end(), loop) = name;
        } else {
          fuse(where, loop, other);
        }
    }
  }

  void replace(std::vector<std::string>& loops, const std::string& loop, const std::string& outer, const std::string& inner) {
    const auto place = std::find(loops.begin(), loops.end(), loop);
    *place = outer;
    loops.insert(place, inner);
  }

  void split(const Place& where, const std::string& loop) {
    const std::string outer = chance(random_, 30) ? loop : fresh(loop), inner = fresh(loop);
    if (outer.find('.') != std::string::npos) return;
    std::vector<DirectiveArgument> arguments = {loop, outer, inner, factor()};
    add_tail(where, arguments);
    if (keep(where, "split", arguments)) replace(loops_[where], loop, outer, inner);
  }

  void tile(const Place& where, const std::string& x, const std::string& y) {
    const std::string xo = fresh(x), yo = fresh(y), xi = fresh(x), yi = fresh(y);
    std::vector<DirectiveArgument> arguments = {x, y, xo, yo, xi, yi, factor(), factor()};
    add_tail(where, arguments);
    if (!keep(where, "tile", arguments)) return;
    replace(loops_[where], x, xo, xi);
    replace(loops_[where], y, yo, yi);
  }

  void fuse(const Place& where, const std::string& inner, const std::string& outer) {
    const std::string fused = fresh(inner);
    if (!keep(where, "fuse", {inner, outer, fused})) return;
    std::vector<std::string>& loops = loops_[where];
    *std::find(loops.begin(), loops.end(), inner) = fused;
    std::erase(loops, outer);
  }

  void reorder(const Place& where) {
    std::vector<std::string> loops = loops_[where];
    if (loops.size() < 2) return;
    for (std::size_t i = loops.size() - 1; i > 0; --i) std::swap(loops[i], loops[below(random_, i + 1)]);
    loops.resize(2 + below(random_, loops.size() - 1));
    keep(where, "reorder", std::vector<DirectiveArgument>(loops.begin(), loops.end()));
  }

  void mark(const Place& where) {
    const std::vector<std::string>& loops = loops_[where];
    if (loops.empty()) return;
    static const std::vector<std::string> kMarks = {"vectorize", "vectorize", "unroll", "parallel", "serial"};
    const std::string& name = pick(random_, kMarks);
    std::vector<DirectiveArgument> arguments = {pick(random_, loops)};
    if (name != "serial" && chance(random_, 50)) {
      // Many copies of a stencil take Halide seconds to lower and show nothing that a few do not.
      arguments.emplace_back(name == "unroll" ? 1 + static_cast<std::int64_t>(below(random_, 4)) : factor());
      add_tail(where, arguments);
    }
    keep(where, name, arguments);
  }

  void propose_storage(const Stage& stage, const std::string& reference) {
    if (stage.loops.empty()) return;
    const std::string& dimension = pick(random_, stage.loops);
    switch (below(random_, 5)) {
      case 0: keep(reference, -1, "store_in", {pick(random_, memory_types())}); break;
      case 1: keep(reference, -1, "align_storage", {dimension, factor()}); break;
      case 2: keep(reference, -1, "reorder_storage", {dimension, pick(random_, stage.loops)}); break;
      case 3: keep(reference, -1, "align_bounds", {dimension, factor()}); break;
      default: propose_bound(stage, reference, dimension);
    }
  }

  // The extent that the problem gives to a dimension of an output.
  void propose_bound(const Stage& stage, const std::string& reference, const std::string& dimension) {
    const auto d = static_cast<int>(std::find(stage.loops.begin(), stage.loops.end(), dimension) - stage.loops.begin());
    for (const Argument& argument : algorithm_.arguments) {
      if (!argument.is_output || algorithm_.outputs.size() != 1 || !algorithm_.is_output(stage.name)) continue;
      const std::int64_t extent = extent_of(problem_, algorithm_, argument.name, d);
      if (chance(random_, 50)) {
        keep(reference, -1, "bound", {dimension, 0, extent});
      } else {
        keep(reference, -1, "bound_extent", {dimension, extent});
      }
      return;
    }
  }

  const Algorithm& algorithm_;
  const Problem& problem_;
  const Legality legality_;
  Random& random_;
  Schedule schedule_;
  std::map<Place, std::vector<std::string>> loops_;
  int names_ = 0;
};

Condition random_condition(Random& random) {
  Condition condition;
  do {
    condition.clauses.push_back({.argument = chance(random, 50) ? "A" : "out_1", .dimension = static_cast<int>(below(random, 4)),
                                 .modulus = chance(random, 50) ? 0 : 1 + static_cast<std::int64_t>(below(random, 64)),
                                 .comparison = static_cast<Comparison>(below(random, 6)), .number = static_cast<std::int64_t>(below(random, 4000))});
  } while (chance(random, 30));
  return condition;
}

DirectiveArgument random_argument(Random& random, ParameterKind kind) {
  static const std::vector<std::string> kLoops = {"n", "m", "k", "r.x", "xo", "_i", "d0", "n_12"};
  static const std::vector<std::string> kStages = {"c", "blur#2", "B.in()", "f.in(g)", "f.in(g#3)", "y"};
  switch (kind) {
    case ParameterKind::number: return static_cast<std::int64_t>(below(random, 4000)) - 100;
    case ParameterKind::stage: return pick(random, kStages);
    case ParameterKind::definition: return pick(random, kStages) + (chance(random, 50) ? "" : ".update(" + std::to_string(below(random, 12)) + ")");
    case ParameterKind::buffer: return chance(random, 50) ? std::string("A") : pick(random, kStages);
    case ParameterKind::condition: return print(random_condition(random));
    case ParameterKind::word: return std::string("Mullapudi2016");
    case ParameterKind::key_value: return "parallelism=" + std::to_string(below(random, 9));
    case ParameterKind::loop:
    case ParameterKind::new_loop: return pick(random, kLoops);
    default: return pick(random, *words_of(kind));
  }
}

Directive random_directive(Random& random, const DirectiveSpec& spec) {
  static const std::vector<std::string> kStages = {"c", "y", "blur#2", "B.in()", "f.in(g)", "f#4.in(g#3)"};
  Directive directive;
  directive.name = spec.name;
  if (!spec.is_opaque) directive.stage = pick(random, kStages);
  if (!spec.is_opaque && !spec.is_pure_only && chance(random, 40)) directive.update = static_cast<int>(below(random, 3));
  const Signature& signature = pick(random, spec.signatures);
  std::size_t count = signature.parameters.size();
  const std::size_t named = count;
  count += signature.repeated * below(random, 3);
  for (std::size_t i = 0; i < count; ++i)
    directive.arguments.push_back(random_argument(random, signature.parameters[i < named ? i : named - signature.repeated + (i - named) % signature.repeated].kind));
  return directive;
}

// Some of what follows a specialize is said of the specialization; the same specialize comes once.
void append(Random& random, Schedule& schedule, Directive directive) {
  const bool specializes = directive.name == "specialize";
  std::vector<const Directive*> specialized;
  for (const Directive& said : schedule.directives) {
    if (specializes && said == directive) return;
    if (said.name == "specialize") specialized.push_back(&said);
  }
  if (!specialized.empty() && !specializes && !find_directive(directive.name)->is_pure_only && chance(random, 40)) {
    const Directive& of = *pick(random, specialized);
    directive.stage = of.stage;
    directive.update = of.update;
    directive.condition = std::get<std::string>(of.arguments.front());
  }
  schedule.directives.push_back(std::move(directive));
}

}  // namespace

std::uint64_t test_seed(std::uint64_t standard) {
  const char* text = std::getenv("KILN_TEST_SEED");
  const auto given = text ? parse_integer(text) : std::nullopt;
  const std::uint64_t seed = given ? static_cast<std::uint64_t>(*given) : standard;
  std::printf("seed %llu (KILN_TEST_SEED sets another)\n", static_cast<unsigned long long>(seed));
  return seed;
}

Schedule random_legal_schedule(const Algorithm& algorithm, const Problem& problem, std::mt19937_64& random) {
  return Proposer(algorithm, problem, random).propose();
}

Schedule random_text_schedule(std::mt19937_64& random) {
  Schedule schedule;
  const std::size_t length = 1 + below(random, 12);
  while (schedule.directives.size() < length) {
    const DirectiveSpec& spec = pick(random, directives());
    if (spec.is_opaque && schedule.directives.empty()) return {{random_directive(random, spec)}};
    if (!spec.is_opaque) append(random, schedule, random_directive(random, spec));
  }
  return schedule;
}

}  // namespace kiln::tests
