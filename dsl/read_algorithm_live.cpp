#include "dsl/read_algorithm_live.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "dsl/apply.h"
#include "dsl/directive.h"
#include "dsl/error.h"
#include "dsl/read_algorithm_expression.h"
#include "dsl/read_algorithm_generator.h"
#include "dsl/rebuild.h"

namespace kiln {
namespace {

using Halide::Internal::Function;

std::vector<Argument> read_arguments(const Halide::Pipeline& pipeline) {
  std::vector<Argument> arguments;
  Halide::Pipeline copy = pipeline;  // infer_arguments keeps what it finds
  for (const Halide::Argument& input : copy.infer_arguments()) {
    Argument argument;
    argument.name = input.name;
    argument.is_scalar = !input.is_buffer();
    argument.type = dtype_of(input.type, "input `" + input.name + "`");
    argument.rank = input.dimensions;
    for (const Halide::Range& range : input.argument_estimates.buffer_estimates) argument.estimates.push_back(read_estimate(range.min, range.extent));
    arguments.push_back(std::move(argument));
  }
  for (const Halide::Func& output : pipeline.outputs()) {
    const Function function = output.function();
    for (std::size_t component = 0; component < function.output_types().size(); ++component) {
      Argument argument;
      argument.is_output = true;
      argument.rank = function.dimensions();
      for (int d = 0; d < argument.rank; ++d) argument.estimates.push_back(read_output_estimate(function, component, d));
      arguments.push_back(std::move(argument));
    }
  }
  return arguments;
}

// The live argument that stands for one of the algorithm's: inputs by name, outputs by their order.
const Argument* live_argument(const Algorithm& structure, const Algorithm& algorithm, const std::string& name) {
  std::size_t output = 0;
  for (const Argument& argument : algorithm.arguments) {
    if (argument.name != name) {
      output += argument.is_output ? 1 : 0;
      continue;
    }
    for (const Argument& live : structure.arguments) {
      if (!argument.is_output && !live.is_output && live.name == name) return &live;
      if (argument.is_output && live.is_output && output-- == 0) return &live;
    }
  }
  return nullptr;
}

// Loops as the schedule calls them -> as Halide does, of one definition. Loops that the schedule makes itself keep their names.
std::map<std::string, std::string> loops_of(const StageNames& names, int update) {
  std::map<std::string, std::string> loops;
  for (const auto& [halide, ours] : names.loops) loops[ours] = halide;
  for (std::size_t u = 0; u < names.reductions.size(); ++u)
    if (update < 0 || static_cast<int>(u) == update)
      for (const auto& [halide, ours] : names.reductions[u]) loops.try_emplace(ours, halide);
  return loops;
}

class InHalidesNames {
 public:
  explicit InHalidesNames(const Names& names) {
    for (const auto& [halide, stage] : names) stages_[stage.stage] = &stage;
  }

  Directive operator()(Directive directive) const {
    const DirectiveSpec* spec = find_directive(directive.name);
    const Signature* signature = spec ? match_signature(*spec, directive.arguments) : nullptr;
    KILN_CHECK(signature != nullptr, "a legal schedule with an unknown directive: " + print(directive));
    std::string scope = directive.stage;
    int update = directive.update;
    for (std::size_t i = 0; i < directive.arguments.size(); ++i) {
      const ParameterKind kind = signature->parameters[std::min(i, signature->parameters.size() - 1)].kind;
      if (kind == ParameterKind::stage) {  // the loop behind it is one of that stage
        scope = std::get<std::string>(directive.arguments[i]);
        update = -1;
      } else if (kind == ParameterKind::loop || kind == ParameterKind::new_loop) {
        auto& word = std::get<std::string>(directive.arguments[i]);
        word = loop(scope, update, word);
      }
    }
    return directive;
  }

 private:
  std::string loop(const std::string& reference, int update, const std::string& word) const {
    const std::string base = reference.substr(0, reference.find(".in("));
    auto stage = stages_.find(base);
    if (stage == stages_.end()) stage = stages_.find(base + ".in");
    if (stage == stages_.end()) return word;
    const auto loops = loops_of(*stage->second, update);
    const auto found = loops.find(word);
    return found == loops.end() ? word : found->second;
  }

  std::map<std::string, const StageNames*> stages_;
};

}  // namespace

LivePipeline read_live(const Halide::Pipeline& pipeline) {
  LivePipeline live;
  const std::vector<Function> functions = functions_of(pipeline);
  live.names = canonical_names(functions);
  live.structure.stages = read_stages(functions, live.names);
  live.structure.requirements = read_requirements(pipeline);
  for (const Halide::Func& output : pipeline.outputs()) live.structure.outputs.push_back(live.names.at(output.name()).stage);
  live.structure.arguments = read_arguments(pipeline);
  for (const Function& function : functions) live.stages.emplace(live.names.at(function.name()).stage, Halide::Func(function));
  return live;
}

bool is_same_structure(const Algorithm& a, const Algorithm& b) {
  const auto bare = [](const Algorithm& algorithm) {
    Algorithm structure;
    structure.stages = algorithm.stages;
    structure.outputs = algorithm.outputs;
    structure.requirements = algorithm.requirements;
    return print(structure);
  };
  return bare(a) == bare(b);
}

std::map<std::string, std::int64_t> estimated_extents(const LivePipeline& live, const Algorithm& algorithm) {
  std::map<std::string, std::int64_t> extents;
  for (const auto& [symbol, axes] : algorithm.symbols)
    for (const Axis& axis : axes) {
      const Argument* argument = live_argument(live.structure, algorithm, axis.argument);
      const auto d = static_cast<std::size_t>(axis.dimension);
      if (argument == nullptr || d >= argument->estimates.size() || !argument->estimates[d]) continue;
      const std::int64_t extent = argument->estimates[d]->extent;
      if (const auto [known, is_new] = extents.emplace(symbol, extent); !is_new && known->second != extent)
        throw UsageError(fmt::format("{} is estimated at {} and, in {}.{}, at {}; one problem has one extent for it", symbol, known->second, axis.argument,
                                     axis.dimension, extent));
    }
  return extents;
}

void apply_live(const Schedule& schedule, LivePipeline& live) {
  const InHalidesNames in_halides_names(live.names);
  Schedule renamed;
  for (const Directive& directive : schedule.directives) renamed.directives.push_back(in_halides_names(directive));
  Pipeline pipeline;
  pipeline.stages = live.stages;
  apply(renamed, pipeline);
}

}  // namespace kiln
