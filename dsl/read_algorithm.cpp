// Runs a generator twice, once for its algorithm and once for its author's schedule, and keeps both as values.

#include "dsl/read_algorithm.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>

#include "dsl/error.h"
#include "dsl/read_algorithm_expression.h"
#include "dsl/read_algorithm_generator.h"
#include "dsl/read_algorithm_names.h"
#include "dsl/rebuild.h"
#include "dsl/rebuild_define.h"
#include "dsl/registration.h"

namespace kiln {
namespace {

using Halide::Internal::Function;

std::string serialize(const Halide::Pipeline& pipeline) {
  std::vector<std::uint8_t> bytes;
  Halide::serialize_pipeline(pipeline, bytes);
  return {bytes.begin(), bytes.end()};
}

// What generate() built, before any schedule().
void read_pipeline(Algorithm& algorithm, const Halide::Pipeline& pipeline) {
  const std::vector<Function> functions = functions_of(pipeline);
  const Names names = canonical_names(functions);
  algorithm.stages = read_stages(functions, names);
  algorithm.requirements = read_requirements(pipeline);
  algorithm.outputs.clear();
  for (const Halide::Func& output : pipeline.outputs()) algorithm.outputs.push_back(names.at(output.name()).stage);
}

Names same_names(const std::vector<Function>& functions) {
  Names names;
  for (const Function& function : functions) {
    StageNames stage{function.name(), {}, {}};
    for (const std::string& loop : function.args()) stage.loops[loop] = loop;
    for (const Halide::Internal::Definition& update : function.updates()) {
      stage.reductions.emplace_back();
      for (const auto& r : update.schedule().rvars()) stage.reductions.back()[r.var] = r.var;
    }
    names[function.name()] = std::move(stage);
  }
  return names;
}

// Estimates, and what is asked of an output's shape, belong to no stage's schedule.
void copy_all_but_schedule(const Function& from, Function& to) {
  to.schedule().estimates() = from.schedule().estimates();
  for (std::size_t i = 0; i < from.output_buffers().size(); ++i) {
    const Halide::Parameter& old = from.output_buffers()[i];
    Halide::Parameter fresh = to.output_buffers()[i];
    for (int d = 0; d < old.dimensions(); ++d) {
      if (old.min_constraint(d).defined()) fresh.set_min_constraint(d, old.min_constraint(d));
      if (old.extent_constraint(d).defined()) fresh.set_extent_constraint(d, old.extent_constraint(d));
      fresh.set_stride_constraint(d, old.stride_constraint(d));
      fresh.set_min_constraint_estimate(d, old.min_constraint_estimate(d));
      fresh.set_extent_constraint_estimate(d, old.extent_constraint_estimate(d));
    }
    fresh.set_host_alignment(old.host_alignment());
  }
}

std::string bytes_of(const Function& function) { return serialize(Halide::Pipeline(Halide::Func(function))); }

// Does some stage's schedule differ from what a stage starts with? Answered by Halide's own serializer: a stage defined anew under the same
// name has equal bytes iff nothing was scheduled. Stages are compared each with its producers, so one difference is enough.
bool is_scheduled(const Halide::Pipeline& pipeline) {
  const std::vector<Function> functions = functions_of(pipeline);
  Redefined fresh = redefine(functions, {}, same_names(functions), Floats::as_written);
  for (std::size_t i = 0; i < functions.size(); ++i) copy_all_but_schedule(functions[i], fresh.functions[i]);
  for (const Halide::Func& output : pipeline.outputs())
    for (std::size_t i = 0; i < functions.size(); ++i)
      if (functions[i].name() == output.name() && bytes_of(functions[i]) != bytes_of(fresh.functions[i])) return true;
  return false;
}

void refuse_unkeepable(const Halide::Pipeline& pipeline) {
  const std::vector<Function> functions = functions_of(pipeline);
  read_stages(functions, canonical_names(functions));  // schedule() may have added memoize or async
}

// The second run: as `halide` itself would build it. Whatever keeps its schedule from being used is a reason in words, not a failure.
void read_own_schedule(Algorithm& algorithm, const std::map<std::string, std::string>& params, const std::string& target) {
  Algorithm plain = algorithm;
  GeneratorRun run(algorithm.generator, params, target, false);
  try {
    run.generate();
    read_pipeline(plain, run.pipeline());
  } catch (const AlgorithmError& error) {
    algorithm.own_schedule_absent = error.what();
    return;
  }
  if (digest(plain) != digest(algorithm)) {
    algorithm.own_schedule_absent = "the generator builds another algorithm when it is autoscheduled";
    return;
  }
  const std::size_t stages = plain.stages.size();
  try {
    run.schedule();
  } catch (const AlgorithmError& error) {
    algorithm.own_schedule_absent = error.what();
    return;
  }
  refuse_unkeepable(run.pipeline());
  const bool added_stages = functions_of(run.pipeline()).size() != stages;  // rfactor
  if (!added_stages && !is_scheduled(run.pipeline())) {
    algorithm.own_schedule_absent = "schedule() leaves every stage at its default";
    return;
  }
  algorithm.own_pipeline = serialize(run.pipeline());
}

}  // namespace

std::vector<std::string> registered_generators() {
  std::vector<std::string> names = Halide::Internal::GeneratorRegistry::enumerate();
  std::ranges::sort(names);
  return names;
}

void load_plugin(const std::string& path) {
  // A path without a slash would be searched in the system's folders.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  void* library = nullptr;
  try {
    library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  } catch (const Halide::Error& error) {
    throw UsageError(fmt::format("plugin '{}' cannot register its generators: {}", path, error.what()));
  }
  if (library == nullptr) throw UsageError(fmt::format("plugin '{}' cannot be loaded: {}", path, dlerror()));
  const auto* abi = static_cast<const int*>(dlsym(library, "kiln_plugin_abi"));
  if (abi != nullptr && *abi != kPluginAbi)
    throw UsageError(fmt::format("plugin '{}' was built for plugin interface {}, and this program has {}; build it again", path, *abi, kPluginAbi));
}

OperatorSignature signature_of(const std::string& generator, const std::string& target) {
  OperatorSignature signature;
  signature.name = generator;
  signature.default_params = default_parameters(generator, target);
  Algorithm algorithm;
  algorithm.generator = generator;
  GeneratorRun run(generator, {}, target, true);
  run.generate();
  algorithm.arguments = run.arguments();
  apply_registration(algorithm);
  signature.type_param = algorithm.type_param;
  signature.arguments = algorithm.arguments;
  signature.symbol_order = algorithm.symbol_order;
  signature.symbols = algorithm.symbols;
  return signature;
}

Algorithm read_algorithm(const std::string& generator, const std::map<std::string, std::string>& params, const std::string& target) {
  Algorithm algorithm;
  algorithm.generator = generator;
  algorithm.halide_version = linked_halide_version();
  GeneratorRun run(generator, params, target, true);
  algorithm.default_params = default_parameters(generator, target);
  run.generate();
  algorithm.params = run.params();
  read_pipeline(algorithm, run.pipeline());
  algorithm.pipeline = serialize(run.pipeline());
  try {
    run.schedule();  // authors set estimates here
  } catch (const AlgorithmError&) {
    // The algorithm stands without its schedule; the plain run below says what schedule() threw.
  }
  algorithm.arguments = run.arguments();
  apply_registration(algorithm);
  read_own_schedule(algorithm, params, target);
  return algorithm;
}

}  // namespace kiln
