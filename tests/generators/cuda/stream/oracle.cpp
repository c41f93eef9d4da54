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

Algorithm read(const std::string& problem, const Device& device) {
  generators::shipped_operators();
  const std::string target = host::target_string(device, host::Isa::native, Contract::bounded);
  const ProblemText text = parse_problem_text(problem);
  const OperatorSignature signature = signature_of(text.operator_name, target);
  return read_algorithm(text.operator_name, params_of(text, signature.default_params, signature.type_param), target);
}

std::unique_ptr<Oracle> made(const std::string& problem) {
  const Device device = host::probe_cpu();
  Algorithm algorithm = read(problem, device);
  host::Loaded reference(host::build_reference(algorithm, device));
  return std::make_unique<Oracle>(Oracle{std::move(algorithm), std::move(reference)});
}

}  // namespace

// Problems of one algorithm differ in extents alone, which stand before all else.
const Oracle& oracle(const std::string& problem) {
  static std::map<std::string, std::unique_ptr<Oracle>> known;
  std::string key;
  for (const ProblemText::Item& item : parse_problem_text(problem).items)
    if (item.value.find_first_not_of("0123456789") != std::string::npos) key += "," + item.name + "=" + item.value;
  std::unique_ptr<Oracle>& found = known[problem.substr(0, problem.find('(')) + key];
  if (!found) found = made(problem);
  return *found;
}

}  // namespace kiln::tests
