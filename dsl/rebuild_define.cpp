#include "dsl/rebuild_define.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "dsl/error.h"
#include "dsl/rebuild.h"
#include "dsl/rebuild_mutate.h"

namespace kiln {
namespace {

using namespace Halide::Internal;

std::unique_ptr<Renamer> renamer(Floats floats, Targets& targets, const StageNames& stage, int update, const ReductionDomain& domain) {
  if (floats == Floats::widened) return std::make_unique<Widener>(targets, stage, update, domain);
  return std::make_unique<Renamer>(targets, stage, update, domain);
}

// A domain's bounds and predicate name its variables without the domain itself, which would keep itself alive.
ReductionDomain redefine_domain(const Definition& update, std::size_t index, Targets& targets, const StageNames& stage, Floats floats) {
  if (update.schedule().rvars().empty()) return {};
  const auto rename = renamer(floats, targets, stage, static_cast<int>(index), {});
  std::vector<Halide::Internal::ReductionVariable> variables;
  for (const auto& v : update.schedule().rvars())
    variables.push_back({halide_name(stage.reductions.at(index).at(v.var)), rename->mutate(v.min), rename->mutate(v.extent)});
  ReductionDomain domain(variables);
  if (!is_const_one(update.predicate())) domain.set_predicate(rename->mutate(update.predicate()));
  return domain;
}

Function redefine_function(const Function& old, Targets& targets, Floats floats) {
  const StageNames& stage = targets.names->at(old.name());
  Function fresh(halide_name(stage.stage));
  targets.functions.emplace(old.name(), fresh);
  std::vector<std::string> loops;
  for (const std::string& loop : old.args()) loops.push_back(halide_name(stage.loops.at(loop)));
  const auto values = [&](const Definition& definition, int update, const ReductionDomain& domain) {
    std::vector<Halide::Expr> result;
    for (const Halide::Expr& value : definition.values()) result.push_back(renamer(floats, targets, stage, update, domain)->mutate(value));
    return result;
  };
  fresh.define(loops, values(old.definition(), -1, {}));
  for (std::size_t i = 0; i < old.updates().size(); ++i) {
    const Definition& update = old.updates()[i];
    const int index = static_cast<int>(i);
    const ReductionDomain domain = redefine_domain(update, i, targets, stage, floats);
    std::vector<Halide::Expr> indices;
    for (const Halide::Expr& e : update.args()) indices.push_back(renamer(floats, targets, stage, index, domain)->mutate(e));
    fresh.define_update(indices, values(update, index, domain), domain);
  }
  return fresh;
}

}  // namespace

Redefined redefine(const std::vector<Function>& functions, const std::vector<Stmt>& requirements, const Names& names, Floats floats) {
  Targets targets;
  targets.names = &names;
  Redefined result;
  for (const Function& old : functions) result.functions.push_back(redefine_function(old, targets, floats));
  const StageNames nowhere;
  for (const Stmt& statement : requirements) result.requirements.push_back(renamer(floats, targets, nowhere, -1, {})->mutate(statement));
  result.inputs = std::move(targets.inputs);
  return result;
}

}  // namespace kiln
