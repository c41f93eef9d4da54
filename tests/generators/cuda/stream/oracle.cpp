#include "tests/generators/cuda/stream/oracle.h"

#include <map>
#include <memory>

#include "dsl/problem.h"
#include "dsl/read_algorithm.h"
#include "generators/host/host.h"
#include "generators/operators/operators.h"

namespace kiln::tests {
namespace {

namespace host = generators::host;

Algorithm read(const ProblemText& text, const Device& device) {
  generators::shipped_operators();
  const std::string target = host::target_string(device, host::Isa::native, Contract::bounded);
  const OperatorSignature signature = signature_of(text.operator_name, target);
  return read_algorithm(text.operator_name, params_of(text, signature.default_params, signature.type_param), target);
}

}  // namespace

Algorithm algorithm_of(const std::string& problem) { return read(parse_problem_text(problem), host::probe_cpu()); }

const Oracle& oracle(const std::string& problem) {
  static std::map<std::string, std::unique_ptr<Oracle>> known;
  const ProblemText text = parse_problem_text(problem);
  std::string key = text.operator_name;
  for (const ProblemText::Item& item : text.items)
    if (item.value.find_first_not_of("0123456789") != std::string::npos) key += "," + item.name + "=" + item.value;
  std::unique_ptr<Oracle>& found = known[key];
  if (!found) {
    const Device device = host::probe_cpu();
    Algorithm algorithm = read(text, device);
    const generators::Artifact reference = host::build_reference(algorithm, device);
    found = std::make_unique<Oracle>(std::move(algorithm), reference);
  }
  return *found;
}

}  // namespace kiln::tests
