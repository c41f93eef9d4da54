#include "generators/cuda/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "dsl/directive.h"
#include "dsl/error.h"
#include "dsl/legality.h"
#include "dsl/loop_nest.h"
#include "dsl/numerics.h"
#include "dsl/stage_facts.h"
#include "dsl/tolerance.h"

namespace kiln::generators::cuda {
namespace {

// Of the directives that a CPU runs too, those that say something of a kernel.
constexpr std::array<std::string_view, 10> kShared = {"compute_at", "compute_inline", "compute_root", "compute_with", "fuse", "rename", "reorder", "split", "tile", "unroll"};

void require_served(const Schedule& schedule) {
  for (const Directive& directive : schedule.directives) {
    const DirectiveSpec* spec = find_directive(directive.name);
    const bool is_served = spec != nullptr && (spec->is_for_gpu || directive.name == "vectorize" || std::find(kShared.begin(), kShared.end(), directive.name) != kShared.end());
    if (is_served) continue;
    throw ScheduleError(fmt::format("`{}`: the CUDA back end has no place for {}; it follows compute_…, split, tile, fuse, reorder, vectorize, unroll, gpu_blocks, "
                                    "gpu_threads, rows, dots, strips, vector, accesses, cluster, blocks_per_sm, fix, cache, dependent_launch, tensorize, stage_in, split_reduction, "
                                    "warps, swap_operands, store_through, persistent, raster, l2_promotion, evict",
                                    print(directive), directive.name));
  }
}

// What says how a kernel runs is said of the stage that it computes at root.
void require_kernels(const LoopNest& nest, const Schedule& schedule) {
  for (const StageLoops& stage : nest.stages()) {
    if (stage.kernel.said_by == kNoDirective || stage.is_output() || stage.compute.kind == Level::Kind::root) continue;
    const Directive& directive = schedule.directives[stage.kernel.said_by];
    throw ScheduleError(fmt::format("`{}`: {} is computed inside another kernel; say {} of a stage at root", print(directive), stage.name, directive.name));
  }
}

// A row's sum is split over its threads.
void require_contract(const Algorithm& algorithm, const Computation& computation) {
  if (most_allowed(algorithm.contract) >= NumericsEffect::partial_sums) return;
  for (const Value& value : computation.values)
    if (value.kind == Value::Kind::reduction && value.type.is_float() && (value.combine == Op::add || value.combine == Op::mul))
      throw NumericsError(fmt::format("{}: the threads of a row would keep partial sums of {}, and the contract of {} is {}, which fixes the order of every addition",
                                      computation.name, value.name, algorithm.generator, print(algorithm.contract)));
}

// Twice what approximations are wrong by: the argument of fast_exp2 has some 2^-17 left where the exponential is largest.
constexpr double kHidesApproximations = 1.0 / (1 << 16);

// The outputs that would show the errors of the special-function unit: rounding to 16 bits hides them, and so does the error that a long reduction is allowed.
std::set<std::string> exact_outputs(const Algorithm& algorithm, const Problem& problem) {
  const std::vector<Tolerance> allowed = tolerances(algorithm, problem);
  std::set<std::string> names;
  std::size_t output = 0;
  for (const Argument& argument : algorithm.arguments) {
    if (!argument.is_output) continue;
    const double relative = allowed[output++].relative;
    if (argument.type.is_float() && argument.type.bits > 16 && relative < kHidesApproximations) names.insert(argument.name);
  }
  return names;
}

// The operands and earlier values that a value reads.
std::set<std::string> reads_of(const Value& value) {
  std::set<std::string> names;
  for (const ExpressionPtr& part : {value.expression, value.initial})
    if (part)
      for_each_node(*part, [&](const Expression& node) {
        if (node.op == Op::load) names.insert(node.name);
      });
  return names;
}

// What an exact output comes of is not approximated. A buffer between kernels counts as one where the algorithm has one. What is made of the same operands as
// an exact value stays exact too: in one way of writing it the compiler computes it once.
void mark_exact(Computation& computation, const Algorithm& algorithm, const std::set<std::string>& exact_outputs) {
  const auto shows = [&](const std::string& buffer) {
    const bool is_argument = std::any_of(algorithm.arguments.begin(), algorithm.arguments.end(), [&](const Argument& argument) { return argument.name == buffer; });
    return is_argument ? exact_outputs.contains(buffer) : !exact_outputs.empty();
  };
  for (Value& value : computation.values) value.is_exact = false;
  for (const Output& output : computation.outputs)
    if (shows(computation.operands[static_cast<std::size_t>(output.operand)].buffer)) computation.values[static_cast<std::size_t>(output.value)].is_exact = true;
  std::set<std::string> exact;  // operands and values; each value stands after those it uses
  for (std::size_t i = computation.values.size(); i-- > 0;) {
    Value& value = computation.values[i];
    value.is_exact = value.is_exact || exact.contains(value.name);
    if (value.is_exact) exact.merge(reads_of(value));
  }
  const auto reads_exactly = [&](const std::string& name) { return exact.contains(name) && computation.find_operand(name) != nullptr; };
  for (Value& value : computation.values) {
    const std::set<std::string> reads = reads_of(value);
    value.is_exact = value.is_exact || std::any_of(reads.begin(), reads.end(), reads_exactly);
  }
}

std::string function_name(const Algorithm& algorithm, const Computation& computation) {
  std::string name = algorithm.generator + "_" + computation.name;
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '#' || c == '.'; }, '_');
  return name;
}

// The stages that are summed for each element.
std::vector<const StageLoops*> sums_of(const LoopNest& nest, const Computation& computation) {
  std::vector<const StageLoops*> sums;
  for (const Value* dot : computation.dots()) sums.push_back(&nest.stage(nest.find(dot->name)));
  return sums;
}

bool is_tensorized(const StageLoops* sum) { return sum->tensor.said_by != kNoDirective; }

// The schedule's words choose the skeleton: a tensorized sum is the ring's, everything else the stream's.
KernelPlan make_plan(const LoopNest& nest, Computation computation, const StageLoops& leader, const Capability& capability) {
  const std::vector<const StageLoops*> sums = sums_of(nest, computation);
  if (std::any_of(sums.begin(), sums.end(), is_tensorized)) return plan_ring(std::move(computation), leader, sums, capability);
  require_no_ring(leader);
  return plan_stream(std::move(computation), leader, capability);
}

KernelText emit(const KernelPlan& plan, const std::string& name) { return plan.ring() != nullptr ? emit_ring(*plan.ring(), name) : emit_stream(*plan.stream(), name); }

// A word that no kernel took up would be passed over in silence.
void require_taken(const LoopNest& nest, const Schedule& schedule, const std::vector<KernelPlan>& plans) {
  for (const StageLoops& stage : nest.stages()) {
    if (stage.tensor.said_by == kNoDirective) continue;
    const bool is_taken = std::any_of(plans.begin(), plans.end(), [&](const KernelPlan& plan) {
      const Value* value = plan.ring() != nullptr ? plan.computation().find_value(stage.name) : nullptr;
      return value != nullptr && value->kind == Value::Kind::dot;
    });
    if (is_taken) continue;
    const Directive& directive = schedule.directives[stage.tensor.said_by];
    throw ScheduleError(fmt::format("`{}`: {} is no sum of products for each element of a kernel", print(directive), stage.name));
  }
}

struct Planned {
  std::vector<KernelPlan> plans;
  std::vector<Intermediate> intermediates;
};

Planned plan(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const Capability& capability) {
  require_served(schedule);
  const AlgorithmFacts facts = facts_of(algorithm, &problem);
  LoopNest nest(facts);
  if (const auto illegal = rewrite_loops(nest, schedule)) refuse(*illegal);
  require_kernels(nest, schedule);
  Recognised recognised = recognise(nest, algorithm, problem);
  Planned planned{{}, std::move(recognised.intermediates)};
  const std::set<std::string> exact = exact_outputs(algorithm, problem);
  for (std::size_t i = 0; i < recognised.kernels.size(); ++i) {
    require_contract(algorithm, recognised.kernels[i]);
    mark_exact(recognised.kernels[i], algorithm, exact);
    planned.plans.push_back(make_plan(nest, std::move(recognised.kernels[i]), nest.stage(recognised.leaders[i]), capability));
  }
  require_taken(nest, schedule, planned.plans);
  return planned;
}

}  // namespace

std::string Program::text() const {
  std::vector<const KernelText*> texts;
  std::vector<const RingPlan*> rings;
  for (const Kernel& kernel : kernels) {
    texts.push_back(&kernel.text);
    if (kernel.plan.ring() != nullptr) rings.push_back(kernel.plan.ring());
  }
  return with_ring_prelude(translation_unit(texts), rings);
}

std::vector<KernelPlan> plan_kernels(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const Capability& capability) {
  return plan(algorithm, schedule, problem, capability).plans;
}

Program lower(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const Capability& capability) {
  Planned planned = plan(algorithm, schedule, problem, capability);
  Program program;
  program.intermediates = std::move(planned.intermediates);
  program.is_strict = algorithm.contract == Contract::strict;
  for (KernelPlan& kernel : planned.plans) {
    KernelText text = emit(kernel, function_name(algorithm, kernel.computation()));
    program.kernels.push_back({std::move(kernel), std::move(text)});
  }
  return program;
}

}  // namespace kiln::generators::cuda
