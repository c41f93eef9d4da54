#include "tests/equivalence/subject.h"

#include "autotune/measure/compare.h"
#include "autotune/measure/inputs.h"
#include "dsl/error.h"
#include "generators/host/call.h"
#include "generators/runtime/host.h"

namespace kiln::tests {

namespace host = generators::host;

Subject::Subject(const Algorithm& algorithm, const std::string& problem, const host::Loaded& reference, std::uint64_t seed)
    : algorithm_(algorithm),
      seed_(seed),
      problem_(resolve(parse_problem_text(problem), algorithm)),
      extents_(host::extents_of(algorithm, problem_)),
      tolerances_(kiln::tolerances(algorithm, problem_)),
      reference_types_(host::reference_types(algorithm)) {
  Called called = call(reference, reference_types_);
  if (called.code != 0) throw Error("the reference of " + problem + " fails: " + kiln_host_error_text());
  expected_ = std::move(called.memory);
}

std::optional<std::string> Subject::shortfall(const host::Loaded& build) const {
  return host::find_shortfall(host::required_regions(build, algorithm_, extents_), algorithm_, extents_);
}

std::string Subject::difference(const host::Loaded& build) const {
  std::vector<DType> types;
  for (const Argument& argument : algorithm_.arguments) types.push_back(argument.type);
  const Called called = call(build, types);
  if (called.code != 0) return "the call fails with code " + std::to_string(called.code) + ": " + kiln_host_error_text();
  std::size_t output = 0;
  for (std::size_t i = 0; i < called.memory.size(); ++i) {
    const Argument& argument = algorithm_.arguments[i];
    if (!called.memory[i].guards_stand()) return "it wrote outside " + argument.name;
    if (!argument.is_output) continue;
    const auto comparison = autotune::compare({called.memory[i].data(), types[i], extents_[i]}, {expected_[i].data(), reference_types_[i], extents_[i]},
                                              tolerances_[output++]);
    if (!comparison.passes) return autotune::describe(*comparison.worst, argument.name, {});
  }
  return {};
}

// Every buffer starts one element past an aligned address: a build may rely on an element's alignment only.
Subject::Called Subject::call(const host::Loaded& build, const std::vector<DType>& types) const {
  Called called;
  std::vector<void*> pointers;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const Argument& argument = algorithm_.arguments[i];
    const auto element = static_cast<std::size_t>(types[i].bytes());
    std::size_t bytes = element;
    for (const std::int64_t extent : extents_[i]) bytes *= static_cast<std::size_t>(extent);
    GuardedMemory& memory = called.memory.emplace_back(argument.is_scalar ? sizeof(std::uint64_t) : bytes, argument.is_scalar ? 0 : element);
    if (argument.is_scalar) {
      host::store_scalar(argument.type, autotune::scalar_value(argument, 0), memory.data());
    } else if (!argument.is_output) {
      autotune::fill(memory.span(), argument, seed_);
    }
    pointers.push_back(memory.data());
  }
  host::Call arguments(algorithm_, extents_, pointers, types);
  called.code = build(arguments.argv());
  return called;
}

}  // namespace kiln::tests
