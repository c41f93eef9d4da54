#include "generators/halide_plugin/source.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "dsl/directive.h"
#include "dsl/print_halide.h"

namespace kiln::generators::halide_plugin {
namespace {

// Stages by name that the schedule schedules or computes something at. Of an input, the stage that reads it, under the input's name.
std::set<std::string> named_stages(const Schedule& schedule) {
  std::set<std::string> names;
  const auto add = [&](const std::string& reference) { names.insert(reference.substr(0, reference.find(".in("))); };
  for (const Directive& directive : schedule.directives) {
    add(directive.stage);
    const Signature* signature = match_signature(*find_directive(directive.name), directive.arguments);
    for (std::size_t i = 0; i < directive.arguments.size() && i < signature->parameters.size(); ++i)
      if (signature->parameters[i].kind == ParameterKind::stage) add(std::get<std::string>(directive.arguments[i]));
  }
  return names;
}

// `Func c = pipeline.get_func(1);` for each of them.
std::string functions(const Halide::Pipeline& pipeline, const LivePipeline& live, const std::set<std::string>& stages) {
  std::string text;
  Halide::Pipeline asked = pipeline;
  for (std::size_t i = 0; i < live.stages.size(); ++i) {
    const auto found = live.names.find(asked.get_func(i).name());
    if (found == live.names.end()) continue;
    std::string name = found->second.stage;
    if (name.ends_with(".in")) name.resize(name.size() - 3);
    if (stages.contains(name)) text += fmt::format("Func {} = pipeline.get_func({});\n", halide_identifier(name), i);
  }
  return text;
}

// The algorithm's own loops of those stages: `Var n("n");`, and for an RDom r `struct { RVar x, y; } r{RVar("r$x"), RVar("r$y")};`.
std::string loops(const LivePipeline& live, const std::set<std::string>& stages) {
  std::map<std::string, std::string> pure, plain;
  std::map<std::string, std::map<std::string, std::string>> domains;
  for (const auto& [halide, names] : live.names) {
    if (!stages.contains(names.stage)) continue;  // the loops of an input's stage are Halide's own _0, _1, …
    for (const auto& [from, to] : names.loops) pure[to] = from;
    for (const auto& reduction : names.reductions)
      for (const auto& [from, to] : reduction) {
        const std::size_t dot = to.rfind('.');
        if (dot == std::string::npos) plain[to] = from;
        else domains[to.substr(0, dot)][to.substr(dot + 1)] = from;
      }
  }
  std::string text;
  for (const auto& [name, halide] : pure) text += fmt::format("Var {}(\"{}\");\n", halide_identifier(name), halide);
  for (const auto& [name, halide] : plain)
    if (!pure.contains(name)) text += fmt::format("RVar {}(\"{}\");\n", halide_identifier(name), halide);
  for (const auto& [domain, members] : domains) {
    std::string declared, values;
    for (const auto& [member, halide] : members) {
      declared += (declared.empty() ? "" : ", ") + member;
      values += fmt::format("{}RVar(\"{}\")", values.empty() ? "" : ", ", halide);
    }
    text += fmt::format("struct {{ RVar {}; }} {}{{{}}};\n", declared, halide_identifier(domain), values);
  }
  return text;
}

}  // namespace

std::string schedule_source(const Halide::Pipeline& pipeline, const LivePipeline& live, const Schedule& schedule) {
  const std::set<std::string> stages = named_stages(schedule);
  return functions(pipeline, live, stages) + loops(live, stages) + print_halide(schedule, live.structure);
}

}  // namespace kiln::generators::halide_plugin
