#include "generators/cuda/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "dsl/directive.h"
#include "dsl/error.h"
#include "dsl/legality.h"
#include "dsl/loop_nest.h"
#include "dsl/numerics.h"
#include "dsl/stage_facts.h"

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
                                    "gpu_threads, rows, dots, strips, vector, accesses, cluster, blocks_per_sm, fix, cache, dependent_launch",
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
      throw ScheduleError(fmt::format("{}: the threads of a row would keep partial sums of {}, and the contract of {} is {}, which fixes the order of every addition",
                                      computation.name, value.name, algorithm.generator, print(algorithm.contract)));
}

// What is rounded to 16 bits or fewer in the end does not show how the special-function unit approximates.
Math math_of(const Algorithm& algorithm) {
  const auto is_exact = [](const Argument& argument) { return argument.is_output && argument.type.is_float() && argument.type.bits > 16; };
  return std::any_of(algorithm.arguments.begin(), algorithm.arguments.end(), is_exact) ? Math::exact : Math::approximate;
}

std::string function_name(const Algorithm& algorithm, const Computation& computation) {
  std::string name = algorithm.generator + "_" + computation.name;
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '#' || c == '.'; }, '_');
  return name;
}

}  // namespace

std::string Program::text() const {
  std::vector<const KernelText*> texts;
  for (const Kernel& kernel : kernels) texts.push_back(&kernel.text);
  return translation_unit(texts);
}

Program lower(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem) {
  require_served(schedule);
  const AlgorithmFacts facts = facts_of(algorithm, &problem);
  LoopNest nest(facts);
  if (const auto illegal = rewrite_loops(nest, schedule)) throw ScheduleError(illegal->message);
  require_kernels(nest, schedule);
  Recognised recognised = recognise(nest, algorithm, problem);
  Program program;
  program.intermediates = std::move(recognised.intermediates);
  program.is_strict = algorithm.contract == Contract::strict;
  for (std::size_t i = 0; i < recognised.kernels.size(); ++i) {
    require_contract(algorithm, recognised.kernels[i]);
    Kernel kernel;
    kernel.plan = plan_stream(std::move(recognised.kernels[i]), nest.stage(recognised.leaders[i]));
    kernel.text = emit_stream(kernel.plan, function_name(algorithm, kernel.plan.computation), math_of(algorithm));
    program.kernels.push_back(std::move(kernel));
  }
  return program;
}

}  // namespace kiln::generators::cuda
