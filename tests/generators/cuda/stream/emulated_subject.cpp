#include "tests/generators/cuda/stream/emulated_subject.h"

#include "autotune/measure/compare.h"
#include "autotune/measure/inputs.h"
#include "dsl/error.h"
#include "generators/host/call.h"
#include "generators/runtime/host.h"

namespace kiln::tests {
namespace {

namespace host = generators::host;

std::size_t bytes_of(DType type, const std::vector<std::int64_t>& extents) {
  auto bytes = static_cast<std::size_t>(type.bytes());
  for (const std::int64_t extent : extents) bytes *= static_cast<std::size_t>(extent);
  return bytes;
}

}  // namespace

EmulatedSubject::EmulatedSubject(const Algorithm& algorithm, const std::string& problem, const host::Loaded& reference, std::uint64_t seed)
    : algorithm_(algorithm),
      problem_(resolve(parse_problem_text(problem), algorithm)),
      extents_(host::extents_of(algorithm, problem_)),
      tolerances_(kiln::tolerances(algorithm, problem_)),
      reference_types_(host::reference_types(algorithm)) {
  std::vector<void*> pointers;
  for (std::size_t i = 0; i < algorithm.arguments.size(); ++i) {
    const Argument& argument = algorithm.arguments[i];
    std::vector<std::byte>& memory = expected_.emplace_back(argument.is_scalar ? sizeof(std::uint64_t) : bytes_of(reference_types_[i], extents_[i]));
    if (argument.is_scalar) {
      host::store_scalar(argument.type, autotune::scalar_value(argument, 0), memory.data());
      call_.scalars[argument.name] = memory;
    } else if (argument.is_output) {
      call_.outputs[argument.name].resize(bytes_of(argument.type, extents_[i]));
    } else {
      autotune::fill(memory, argument, seed);
      call_.inputs[argument.name] = memory;
    }
  }
  call_.extents = [this](const Axis& place) { return extent_of(problem_, algorithm_, place.argument, place.dimension); };
  for (std::vector<std::byte>& memory : expected_) pointers.push_back(memory.data());
  host::Call arguments(algorithm, extents_, pointers, reference_types_);
  if (reference(arguments.argv()) != 0) throw Error("the reference of " + problem + " fails: " + kiln_host_error_text());
}

std::string EmulatedSubject::difference(const Run& run) const {
  Call call = call_;
  if (std::string fault = run(call); !fault.empty()) return fault;
  std::size_t output = 0;
  for (std::size_t i = 0; i < algorithm_.arguments.size(); ++i) {
    const Argument& argument = algorithm_.arguments[i];
    if (!argument.is_output) continue;
    const auto comparison = autotune::compare({call.outputs.at(argument.name).data(), argument.type, extents_[i]},
                                              {expected_[i].data(), reference_types_[i], extents_[i]}, tolerances_[output++]);
    if (!comparison.passes) return autotune::describe(*comparison.worst, argument.name, {});
  }
  return {};
}

std::string EmulatedSubject::difference(const generators::cuda::Emulated& program, unsigned seed) const {
  return difference([&](Call& call) { return program.run(call, seed); });
}

std::string EmulatedSubject::difference_between(const Call& one, const Call& other) const {
  std::size_t output = 0;
  for (std::size_t i = 0; i < algorithm_.arguments.size(); ++i) {
    const Argument& argument = algorithm_.arguments[i];
    if (!argument.is_output) continue;
    const auto comparison = autotune::compare({one.outputs.at(argument.name).data(), argument.type, extents_[i]},
                                              {other.outputs.at(argument.name).data(), argument.type, extents_[i]}, tolerances_[output++]);
    if (!comparison.passes) return autotune::describe(*comparison.worst, argument.name, {});
  }
  return {};
}

}  // namespace kiln::tests
