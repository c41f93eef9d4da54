#include "dsl/read_algorithm_names.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "dsl/error.h"

namespace kiln {
namespace {

using Halide::Internal::Call;
using Halide::Internal::Function;

std::string without_suffix(const std::string& name) { return name.substr(0, name.find('$')); }

// "blur$3" -> "blur", "f12" -> "f", "lambda_4" and "lambda_4$1" -> "lambda": Halide's boundary conditions are full of lambdas, and its names collide now
// and then (it counts by hashes), which adds a suffix.
std::string base_name(const std::string& name) {
  if (is_made_up(name)) return name.substr(0, 1);
  const std::string plain = without_suffix(name);
  constexpr std::string_view kLambda = "lambda_";
  if (plain.starts_with(kLambda) && plain.find_first_not_of("0123456789", kLambda.size()) == std::string::npos) return "lambda";
  return plain;
}

class CalledFunctions : public Halide::Internal::IRVisitor {
 public:
  std::vector<Function> found;

 private:
  using IRVisitor::visit;
  void visit(const Call* op) override {
    IRVisitor::visit(op);
    if (op->call_type == Call::Halide && op->func.defined()) found.emplace_back(op->func);
  }
};

// Recursion depth is the longest chain of stages.
void visit_producers_first(const Function& function, std::set<std::string>& seen, std::vector<Function>& order) {
  if (!seen.insert(function.name()).second) return;
  CalledFunctions calls;
  function.accept(&calls);
  for (const Function& called : calls.found) visit_producers_first(called, seen, order);
  order.push_back(function);
}

std::map<std::string, std::string> name_loops(const Function& function) {
  std::map<std::string, std::string> names;
  std::set<std::string> taken;
  int made_up = 0, dimension = 0;
  for (const std::string& loop : function.args()) {
    std::string name = wrapped_input(function) != nullptr ? fmt::format("d{}", dimension++)
                       : is_made_up(loop)                 ? fmt::format("v{}", made_up++)
                                                          : without_suffix(loop);
    for (int n = 2; !taken.insert(name).second; ++n) name = fmt::format("{}_{}", without_suffix(loop), n);
    names[loop] = name;
  }
  return names;
}

std::map<std::string, std::string> name_reductions(const std::vector<Halide::Internal::ReductionVariable>& domain,
                                                   const std::map<std::string, std::string>& loops) {
  std::map<std::string, std::string> names;
  for (const auto& variable : domain) {
    const std::size_t dollar = variable.var.rfind('$');
    const std::string domain_name = variable.var.substr(0, dollar);
    const std::string base = base_name(domain_name);
    bool alone = domain.size() == 1;
    for (const auto& [raw, loop] : loops) alone = alone && loop != base;
    names[variable.var] = alone || dollar == std::string::npos ? base : base + "." + variable.var.substr(dollar + 1);
  }
  return names;
}

}  // namespace

bool is_made_up(const std::string& name) {
  return name.size() >= 2 && name.find_first_not_of("0123456789", 1) == std::string::npos && (name[0] < '0' || name[0] > '9');
}

const Call* wrapped_input(const Function& function) {
  if (function.has_extern_definition() || !function.is_pure() || function.values().size() != 1) return nullptr;
  const Call* load = function.values()[0].as<Call>();
  if (load == nullptr || load->call_type != Call::Image || !load->param.defined() || load->args.size() != function.args().size()) return nullptr;
  for (std::size_t i = 0; i < load->args.size(); ++i) {
    const auto* index = load->args[i].as<Halide::Internal::Variable>();
    if (index == nullptr || index->name != function.args()[i]) return nullptr;
  }
  return load;
}

std::vector<Function> functions_of(const Halide::Pipeline& pipeline) {
  std::set<std::string> seen;
  std::vector<Function> order;
  for (const Halide::Func& output : pipeline.outputs()) visit_producers_first(output.function(), seen, order);
  return order;
}

Names canonical_names(const std::vector<Function>& functions) {
  Names names;
  std::map<std::string, int> uses;
  for (const Function& function : functions) {
    const Call* input = wrapped_input(function);
    const std::string base = input != nullptr ? input->param.name() + ".in" : base_name(function.name());
    const int use = ++uses[base];
    StageNames stage{use == 1 ? base : fmt::format("{}#{}", base, use), name_loops(function), {}};
    for (const Halide::Internal::Definition& update : function.updates())
      stage.reductions.push_back(name_reductions(update.schedule().rvars(), stage.loops));
    names[function.name()] = std::move(stage);
  }
  return names;
}

}  // namespace kiln
