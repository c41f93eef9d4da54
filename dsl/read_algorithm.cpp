// Runs a generator twice, once for its algorithm and once for its author's schedule, and keeps both as values.

#include "dsl/read_algorithm.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>

#include "dsl/error.h"
#include "dsl/read_algorithm_expression.h"
#include "dsl/read_algorithm_generator.h"
#include "dsl/read_algorithm_names.h"
#include "dsl/read_algorithm_schedule.h"
#include "dsl/rebuild.h"
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
  const std::vector<Function> functions = functions_of(run.pipeline());
  const bool added_stages = functions.size() != stages;  // rfactor
  if (!added_stages && !is_scheduled(functions, run.pipeline().outputs())) {
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
  algorithm.params = signature.default_params;
  const auto is_open = [](const auto& param) { return param.second.empty() && param.first.find('.') != std::string::npos; };
  if (std::ranges::none_of(signature.default_params, is_open)) {
    GeneratorRun run(generator, {}, target, true);
    run.generate();
    algorithm.arguments = run.arguments();
  }
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
