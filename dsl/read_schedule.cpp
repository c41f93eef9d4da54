#include "dsl/read_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "dsl/error.h"
#include "dsl/loop_nest.h"
#include "dsl/read_algorithm_names.h"
#include "dsl/read_schedule_factoring.h"
#include "dsl/read_schedule_words.h"

namespace kiln {
namespace {

using namespace Halide::Internal;

std::int64_t number(const Halide::Expr& e, const std::string& stage, const std::string& what) {
  const auto value = as_const_int(e);
  if (!value) cannot_say(stage, fmt::format("{} is no number known while compiling", what));
  return *value;
}

std::string print(Halide::TailStrategy tail) {
  switch (tail) {
    case Halide::TailStrategy::RoundUp: return "RoundUp";
    case Halide::TailStrategy::GuardWithIf: return "GuardWithIf";
    case Halide::TailStrategy::Predicate: return "Predicate";
    case Halide::TailStrategy::PredicateLoads: return "PredicateLoads";
    case Halide::TailStrategy::PredicateStores: return "PredicateStores";
    case Halide::TailStrategy::ShiftInwards: return "ShiftInwards";
    case Halide::TailStrategy::ShiftInwardsAndBlend: return "ShiftInwardsAndBlend";
    case Halide::TailStrategy::RoundUpAndBlend: return "RoundUpAndBlend";
    case Halide::TailStrategy::Auto: break;
  }
  return "Auto";
}

std::string print(Halide::LoopAlignStrategy align) {
  switch (align) {
    case Halide::LoopAlignStrategy::AlignStart: return "AlignStart";
    case Halide::LoopAlignStrategy::AlignEnd: return "AlignEnd";
    case Halide::LoopAlignStrategy::NoAlign: return "NoAlign";
    case Halide::LoopAlignStrategy::Auto: break;
  }
  return "Auto";
}

// `tap.x` as part of a new loop's name.
std::string one_word(std::string name) {
  std::ranges::replace_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

// The loops of one definition while its splits are followed: Halide's names and ours, in Halide's order of that moment.
class Loops {
 public:
  Loops(const std::string& stage, const StageNames& names, int update, const std::vector<std::string>& args, const StageSchedule& schedule) : stage_(stage) {
    if (update >= 0) {
      for (const auto& variable : schedule.rvars()) add(variable.var, names.reductions.at(static_cast<std::size_t>(update)).at(variable.var));
    }
    std::set<std::string> stem;  // an update has only those pure loops that its left-hand side has
    for (const Split& split : schedule.splits()) stem.insert({split.old_var, split.outer, split.inner});
    for (const Dim& dim : schedule.dims()) stem.insert(dim.var);
    for (const std::string& arg : args)
      if (stem.contains(arg)) add(arg, names.loops.at(arg));
  }

  // The order that rfactor leaves behind is not ours to know.
  void forget_order() { order_.clear(); }

  const std::string& ours(const std::string& loop) const {
    const auto found = names_.find(loop);
    if (found == names_.end()) cannot_say(stage_, fmt::format("loop {} comes from nowhere", loop));
    return found->second;
  }
  bool knows(const std::string& loop) const { return names_.contains(loop); }
  const std::map<std::string, std::string>& names() const { return names_; }
  const std::vector<std::string>& order() const { return order_; }  // ours, innermost first

  // A name for a loop that comes of `old`, whose own name is free again.
  std::string name_for(const std::string& loop, const std::string& old, const std::string& suffix) {
    const std::string word = last_word(loop);
    const std::string wanted = is_nobodys(word) && word != old ? one_word(old) + suffix : word;
    std::string name = wanted;
    for (int n = 2; name != old && taken_.contains(name); ++n) name = fmt::format("{}_{}", wanted, n);
    taken_.insert(name);
    names_[loop] = name;
    return name;
  }

  void split(const std::string& old, const std::string& outer, const std::string& inner) {
    const auto at = place(old);
    *at = inner;
    order_.insert(at + 1, outer);
  }

  void fuse(const std::string& outer, const std::string& inner, const std::string& fused) {
    order_.erase(place(outer));
    *place(inner) = fused;
  }

  void alias(const std::string& renamed, const std::string& loop) { names_[renamed] = ours(loop); }
  void move_just_outside(const std::string& outer, const std::string& inner) {
    order_.erase(place(outer));
    order_.insert(place(inner) + 1, outer);
  }
  bool is_just_outside(const std::string& outer, const std::string& inner) { return place(outer) == place(inner) + 1; }
  void reorder(std::vector<std::string> order) { order_ = std::move(order); }

 private:
  void add(const std::string& loop, const std::string& name) {
    names_[loop] = name;
    taken_.insert(name);
    order_.push_back(name);
  }
  std::vector<std::string>::iterator place(const std::string& name) {
    const auto found = std::ranges::find(order_, name);
    if (found == order_.end()) cannot_say(stage_, fmt::format("loop {} is split where it is no loop", name));
    return found;
  }

  std::string stage_;
  std::map<std::string, std::string> names_;
  std::set<std::string> taken_;
  std::vector<std::string> order_;
};

// A function with what directives call it and its loops.
struct Scheduled {
  Function function;
  std::string reference;
  StageNames names;
  bool is_output = false;
  std::optional<Factoring> factoring;  // of one of its updates
  bool is_factored = false;            // it holds another's partial sums
  std::vector<Loops> loops;            // the pure definition's, then its updates'
};

class Reader {
 public:
  Reader(const Halide::Pipeline& pipeline, const Algorithm& algorithm) {
    std::vector<Function> functions = functions_of(pipeline);
    const std::map<std::string, std::string> factored = find_factored(functions, algorithm);
    std::vector<Function> own_functions = functions;
    std::erase_if(own_functions, [&](const Function& function) { return factored.contains(function.name()); });
    const Names names = canonical_names(own_functions);
    std::reverse(functions.begin(), functions.end());
    for (const Function& function : functions) {
      if (const auto reduced = factored.find(function.name()); reduced != factored.end()) {
        add_partial_sums(function, reduced->second, algorithm);
        continue;
      }
      const StageNames& own = names.at(function.name());
      if (!algorithm.find_stage(own.stage)) cannot_say(own.stage, "it is no stage of the algorithm");
      add_wrappers(function, own, names);
      const std::string reference = wrapped_input(function) != nullptr ? own.stage + "()" : own.stage;
      scheduled_.push_back({function, reference, own, algorithm.is_output(own.stage), {}, false, {}});
    }
  }

  Schedule read() {
    for (Scheduled& stage : scheduled_) {
      read_placement(stage);
      read_storage(stage);
      for (int update = -1; update < static_cast<int>(stage.function.updates().size()); ++update) read_loops(stage, update);
    }
    for (const Scheduled& stage : scheduled_)
      for (int update = -1; update < static_cast<int>(stage.function.updates().size()); ++update) read_companion(stage, update);
    return std::move(schedule_);
  }

 private:
  static const Halide::Internal::Definition& definition(const Scheduled& stage, int update) {
    return update < 0 ? stage.function.definition() : stage.function.update(update);
  }

  // The reduced stage comes first: it reads them.
  void add_partial_sums(const Function& partial, const std::string& reduced_name, const Algorithm& algorithm) {
    const auto reduced = std::ranges::find_if(scheduled_, [&](const Scheduled& stage) { return stage.function.name() == reduced_name; });
    if (reduced == scheduled_.end()) cannot_say(partial.name(), "it holds partial sums that nobody reads");
    if (reduced->factoring) cannot_say(reduced->reference, "rfactor of two updates");
    reduced->factoring = read_factoring(algorithm.stage(reduced->names.stage), reduced->function, partial);
    const Factoring& factoring = *reduced->factoring;
    reduced->names.reductions[static_cast<std::size_t>(factoring.update)] = factoring.reduced_loops;
    const auto is_taken = [&](const std::string& name) {
      return algorithm.find_stage(name) != nullptr || std::ranges::any_of(scheduled_, [&](const Scheduled& stage) { return stage.reference == name; });
    };
    StageNames names{factored_name(reduced->reference, is_taken), reduced->names.loops, {factoring.partial_loops}};
    names.loops.insert(factoring.dimensions.begin(), factoring.dimensions.end());
    scheduled_.push_back({partial, names.stage, names, false, {}, true, {}});
  }

  void add_wrappers(const Function& wrapped, const StageNames& own, const Names& names) {
    const std::string base = wrapped_input(wrapped) != nullptr ? own.stage.substr(0, own.stage.rfind(".in")) : own.stage;
    std::set<std::string> seen;
    for (const auto& [consumer, pointer] : wrapped.schedule().wrappers()) {
      const Function wrapper(pointer);
      if (!seen.insert(wrapper.name()).second) cannot_say(own.stage, "a wrapper has several consumers");
      if (!wrapper.schedule().wrappers().empty()) cannot_say(own.stage, "a wrapper has a wrapper");
      if (consumer.empty() && base != own.stage) cannot_say(own.stage, "an input's wrapper has a wrapper");
      if (!consumer.empty() && !names.contains(consumer)) cannot_say(own.stage, fmt::format("a wrapper's consumer {} is no stage", consumer));
      StageNames loops = own;
      loops.loops.clear();
      for (std::size_t d = 0; d < wrapper.args().size(); ++d) loops.loops[wrapper.args()[d]] = own.loops.at(wrapped.args()[d]);
      scheduled_.push_back({wrapper, fmt::format("{}.in({})", base, consumer.empty() ? "" : names.at(consumer).stage), loops, false, {}, false, {}});
    }
  }

  template <typename... Arguments>
  void say(const Scheduled& stage, int update, const std::string& name, const Arguments&... arguments) {
    Chain(schedule_, stage.reference, update).add(name, arguments...);
  }

  // The stage and loop of a level, as directives say them.
  std::pair<std::string, std::string> level(const Scheduled& stage, const Halide::LoopLevel& level) const {
    for (const Scheduled& host : scheduled_) {
      if (host.function.name() != level.func_name()) continue;
      const std::string suffix = "." + level.var_name();
      std::set<std::string> found;
      for (const Loops& loops : host.loops)
        for (const auto& [halide, ours] : loops.names())
          if ((halide == level.var_name() || halide.ends_with(suffix)) && std::ranges::find(loops.order(), ours) != loops.order().end()) found.insert(ours);
      if (found.size() == 1) return {host.reference, *found.begin()};
    }
    cannot_say(stage.reference, fmt::format("it is placed at loop {} of {}, which is no loop there", level.var_name(), level.func_name()));
  }

  void read_placement(const Scheduled& stage) {
    const FuncSchedule& schedule = stage.function.schedule();
    if (schedule.async() || schedule.memoized() || schedule.ring_buffer().defined()) cannot_say(stage.reference, "async, memoize or ring_buffer");
    const Halide::LoopLevel &compute = schedule.compute_level(), &store = schedule.store_level(), &hoist = schedule.hoist_storage_level();
    if (stage.is_output || is_inlined(compute)) return;
    say_level(stage, compute, "compute_root", "compute_at");
    if (!is_inlined(store) && !is_same(store, compute)) say_level(stage, store, "store_root", "store_at");
    if (!is_inlined(hoist) && !is_same(hoist, store)) say_level(stage, hoist, "hoist_storage_root", "hoist_storage");
  }

  void say_level(const Scheduled& stage, const Halide::LoopLevel& where, const std::string& root, const std::string& at) {
    if (is_same(where, Halide::LoopLevel::root())) return say(stage, -1, root);
    const auto [host, loop] = level(stage, where);
    say(stage, -1, at, host, loop);
  }

  static bool is_same(const Halide::LoopLevel& a, const Halide::LoopLevel& b) { return a.func_name() == b.func_name() && a.var_name() == b.var_name(); }
  static bool is_inlined(const Halide::LoopLevel& level) { return is_same(level, Halide::LoopLevel::inlined()); }

  void read_storage(const Scheduled& stage) {
    const FuncSchedule& schedule = stage.function.schedule();
    for (const Bound& bound : schedule.bounds()) {
      if (!bound.min.defined() || !bound.extent.defined() || bound.modulus.defined()) cannot_say(stage.reference, "an alignment of its bounds");
      say(stage, -1, "bound", stage.names.loops.at(bound.var), number(bound.min, stage.reference, "a bound"), number(bound.extent, stage.reference, "a bound"));
    }
    std::vector<std::string> order;
    for (const StorageDim& dim : schedule.storage_dims()) order.push_back(stage.names.loops.at(dim.var));
    std::vector<std::string> as_written;
    for (const std::string& arg : stage.function.args()) as_written.push_back(stage.names.loops.at(arg));
    if (order != as_written) Chain(schedule_, stage.reference).add("reorder_storage", order);
    for (const StorageDim& dim : schedule.storage_dims()) {
      const std::string& name = stage.names.loops.at(dim.var);
      if (dim.bound.defined()) cannot_say(stage.reference, "bound_storage");
      if (dim.alignment.defined()) say(stage, -1, "align_storage", name, number(dim.alignment, stage.reference, "an alignment"));
      if (dim.fold_factor.defined())
        say(stage, -1, "fold_storage", name, number(dim.fold_factor, stage.reference, "a fold"), dim.fold_forward ? "true" : "false");
    }
    switch (schedule.memory_type()) {
      case Halide::MemoryType::Auto: break;
      case Halide::MemoryType::Heap: say(stage, -1, "store_in", "Heap"); break;
      case Halide::MemoryType::Stack: say(stage, -1, "store_in", "Stack"); break;
      default: cannot_say(stage.reference, "a memory that no processor has");
    }
  }

  void read_loops(Scheduled& stage, int update) {
    const Halide::Internal::Definition& own = definition(stage, update);
    const StageSchedule& schedule = own.schedule();
    if (!own.specializations().empty()) cannot_say(stage.reference, "specializations");
    if (!schedule.prefetches().empty()) cannot_say(stage.reference, "prefetches");
    if (schedule.allow_race_conditions() || schedule.override_atomic_associativity_test()) cannot_say(stage.reference, "races that its author allowed");
    stage.loops.emplace_back(stage.reference, stage.names, update, stage.function.args(), schedule);
    Loops& loops = stage.loops.back();
    const bool is_reduced = stage.factoring && stage.factoring->update == update;
    if (is_reduced) {
      if (const auto& split = stage.factoring->split; !split.empty()) schedule_.directives.push_back({stage.reference, update, "split", split});
      Chain(schedule_, stage.reference, update).add("rfactor", stage.factoring->kept);
    }
    for (const Split& split : schedule.splits()) read_split(stage, update, loops, split);
    if (is_reduced || (stage.is_factored && update >= 0)) loops.forget_order();
    read_order(stage, update, loops, schedule);
    if (schedule.atomic()) say(stage, update, "atomic");
    for (const Dim& dim : schedule.dims()) read_mark(stage, update, loops, dim);
  }

  void read_split(const Scheduled& stage, int update, Loops& loops, const Split& split) {
    if (split.split_type == Split::RenameVar) return loops.alias(split.outer, split.old_var);
    if (split.split_type == Split::FuseVars) {
      const std::string outer = loops.ours(split.outer), inner = loops.ours(split.inner);
      if (!loops.is_just_outside(outer, inner)) {
        loops.move_just_outside(outer, inner);
        Chain(schedule_, stage.reference, update).add("reorder", loops.order());
      }
      const std::string fused = loops.name_for(split.old_var, inner, "_fused");
      loops.fuse(outer, inner, fused);
      return say(stage, update, "fuse", inner, outer, fused);
    }
    const std::string old = loops.ours(split.old_var);
    const std::string outer = loops.name_for(split.outer, old, "_out"), inner = loops.name_for(split.inner, old, "_in");
    loops.split(old, outer, inner);
    say(stage, update, "split", old, outer, inner, number(split.factor, stage.reference, "a split factor"), print(split.tail));
  }

  void read_order(const Scheduled& stage, int update, Loops& loops, const StageSchedule& schedule) {
    std::vector<std::string> order;
    for (const Dim& dim : schedule.dims())
      if (loops.knows(dim.var)) order.push_back(loops.ours(dim.var));
    if (order == loops.order()) return;
    loops.reorder(order);
    if (order.size() < 2) return;
    Chain(schedule_, stage.reference, update).add("reorder", order);
  }

  void read_mark(const Scheduled& stage, int update, const Loops& loops, const Dim& dim) {
    if (dim.device_api != Halide::DeviceAPI::None && dim.device_api != Halide::DeviceAPI::Host) cannot_say(stage.reference, "loops of another device");
    if (!loops.knows(dim.var)) return;  // Halide's outermost
    const std::string& name = loops.ours(dim.var);
    switch (dim.for_type) {
      case ForType::Serial: break;
      case ForType::Parallel: say(stage, update, "parallel", name); break;
      case ForType::Vectorized: say(stage, update, "vectorize", name); break;
      case ForType::Unrolled: say(stage, update, "unroll", name); break;
      default: cannot_say(stage.reference, "loops of another device");
    }
    if (dim.partition_policy == Halide::Partition::Never) say(stage, update, "partition", name, "Never");
    if (dim.partition_policy == Halide::Partition::Always) cannot_say(stage.reference, "partition(…, Always)");
  }

  void read_companion(const Scheduled& stage, int update) {
    const Halide::FuseLoopLevel& along = definition(stage, update).schedule().fuse_level();
    if (is_inlined(along.level)) return;
    const auto [host, loop] = level(stage, along.level);
    const int index = along.level.get_stage_index();
    const std::string partner = index <= 0 ? host : fmt::format("{}.update({})", host, index - 1);
    std::set<std::string> aligns;
    for (const auto& [name, align] : along.align) aligns.insert(print(align));
    if (aligns.size() > 1) cannot_say(stage.reference, "loops that compute_with aligns each in its own way");
    if (aligns.empty() || *aligns.begin() == "Auto") return say(stage, update, "compute_with", partner, loop);
    say(stage, update, "compute_with", partner, loop, *aligns.begin());
  }

  std::vector<Scheduled> scheduled_;  // consumers first
  Schedule schedule_;
};

}  // namespace

Schedule read_schedule(const Halide::Pipeline& pipeline, const Algorithm& algorithm) { return Reader(pipeline, algorithm).read(); }

}  // namespace kiln
