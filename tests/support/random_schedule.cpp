#include "tests/support/random_schedule.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "dsl/directive.h"
#include "dsl/legality.h"
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
    return std::move(schedule_);
  }

 private:
  using Place = std::pair<std::string, int>;  // a stage's reference and which of its definitions

  // Appends the directive if the schedule stays legal.
  bool keep(const std::string& stage, int update, const std::string& name, std::vector<DirectiveArgument> arguments) {
    schedule_.directives.push_back({stage, update, name, std::move(arguments)});
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
    if (!algorithm_.is_output(stage.name) && !place(reference) && stage.updates.empty()) return;
    transform({reference, -1});
    for (std::size_t u = 0; u < stage.updates.size(); ++u) transform({reference, static_cast<int>(u)});
    if (chance(random_, 40)) propose_storage(stage, reference);
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
      if (chance(random_, 15)) keep(reference, -1, "store_root", {});
      if (chance(random_, 15)) {
        const auto [store_host, store_loop] = random_loop();
        if (!store_loop.empty()) keep(reference, -1, "store_at", {store_host, store_loop});
      }
      return true;
    }
    return keep(reference, -1, "compute_root", {});
  }

  std::pair<std::string, std::string> random_loop() {
    if (loops_.empty()) return {};
    auto found = loops_.begin();
    std::advance(found, static_cast<std::ptrdiff_t>(below(random_, loops_.size())));
    if (found->second.empty()) return {};
    return {found->first.first, pick(random_, found->second)};
  }

  void transform(const Place& where) {
    if (where.second >= 0 && chance(random_, 30)) keep(where.first, where.second, "atomic", {});
    const std::size_t steps = below(random_, 5);
    for (std::size_t i = 0; i < steps; ++i) rewrite(where);
    const std::size_t marks = below(random_, 4);
    for (std::size_t i = 0; i < marks; ++i) mark(where);
  }

  std::int64_t factor() {
    static const std::vector<std::int64_t> kFactors = {1, 2, 3, 4, 4, 5, 7, 8, 8, 11, 16};
    return pick(random_, kFactors);
  }

  // Of a stage that is not an output mostly tails that compute no more than is read: the others ask the inputs for more than most problems have,
  // which is known only after the build.
  void add_tail(const Place& where, std::vector<DirectiveArgument>& arguments) {
    if (!algorithm_.is_output(where.first) && chance(random_, 92)) {
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
          if (keep(where.first, where.second, "rename", {loop, name})) *std::find(loops.begin(), loops.end(), loop) = name;
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
    if (keep(where.first, where.second, "split", arguments)) replace(loops_[where], loop, outer, inner);
  }

  void tile(const Place& where, const std::string& x, const std::string& y) {
    const std::string xo = fresh(x), yo = fresh(y), xi = fresh(x), yi = fresh(y);
    std::vector<DirectiveArgument> arguments = {x, y, xo, yo, xi, yi, factor(), factor()};
    add_tail(where, arguments);
    if (!keep(where.first, where.second, "tile", arguments)) return;
    replace(loops_[where], x, xo, xi);
    replace(loops_[where], y, yo, yi);
  }

  void fuse(const Place& where, const std::string& inner, const std::string& outer) {
    const std::string fused = fresh(inner);
    if (!keep(where.first, where.second, "fuse", {inner, outer, fused})) return;
    std::vector<std::string>& loops = loops_[where];
    *std::find(loops.begin(), loops.end(), inner) = fused;
    std::erase(loops, outer);
  }

  void reorder(const Place& where) {
    std::vector<std::string> loops = loops_[where];
    if (loops.size() < 2) return;
    for (std::size_t i = loops.size() - 1; i > 0; --i) std::swap(loops[i], loops[below(random_, i + 1)]);
    loops.resize(2 + below(random_, loops.size() - 1));
    keep(where.first, where.second, "reorder", std::vector<DirectiveArgument>(loops.begin(), loops.end()));
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
    keep(where.first, where.second, name, arguments);
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

DirectiveArgument random_argument(Random& random, ParameterKind kind) {
  static const std::vector<std::string> kLoops = {"n", "m", "k", "r.x", "xo", "_i", "d0", "n_12"};
  static const std::vector<std::string> kStages = {"c", "blur#2", "B.in()", "f.in(g)", "f.in(g#3)", "y"};
  switch (kind) {
    case ParameterKind::number: return static_cast<std::int64_t>(below(random, 4000)) - 100;
    case ParameterKind::stage: return pick(random, kStages);
    case ParameterKind::tail: return pick(random, tail_strategies());
    case ParameterKind::memory: return pick(random, memory_types());
    case ParameterKind::word: return std::string("Mullapudi2016");
    case ParameterKind::key_value: return "parallelism=" + std::to_string(below(random, 9));
    case ParameterKind::loop:
    case ParameterKind::new_loop: return pick(random, kLoops);
  }
  return std::int64_t{0};
}

Directive random_directive(Random& random, const DirectiveSpec& spec) {
  static const std::vector<std::string> kStages = {"c", "y", "blur#2", "B.in()", "f.in(g)", "f#4.in(g#3)"};
  Directive directive;
  directive.name = spec.name;
  if (!spec.is_opaque) directive.stage = pick(random, kStages);
  if (!spec.is_opaque && !spec.is_pure_only && chance(random, 40)) directive.update = static_cast<int>(below(random, 3));
  const Signature& signature = pick(random, spec.signatures);
  std::size_t count = signature.parameters.size();
  if (signature.is_variadic) count += below(random, 3);
  for (std::size_t i = 0; i < count; ++i)
    directive.arguments.push_back(random_argument(random, signature.parameters[std::min(i, signature.parameters.size() - 1)].kind));
  return directive;
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
    if (!spec.is_opaque) {
      schedule.directives.push_back(random_directive(random, spec));
    } else if (schedule.directives.empty()) {
      return {{random_directive(random, spec)}};
    }
  }
  return schedule;
}

}  // namespace kiln::tests
