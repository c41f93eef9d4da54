#include "autotune/worker/inputs.h"

#include <atomic>

#include <fmt/format.h>

#include "autotune/measure/inputs.h"
#include "dsl/error.h"
#include "generators/host/call.h"

namespace kiln::autotune {

Inputs make_inputs(const Algorithm& algorithm, const Problem& problem, std::uint64_t seed, std::size_t scalar_choice) {
  if (!problem.orders.empty())
    throw UsageError(fmt::format("{} asks for {}.order={}; kernels for a CPU read every argument in its declared order", print(problem),
                                 problem.orders.begin()->first, problem.orders.begin()->second));
  static std::atomic<std::uint64_t> made = 0;
  Inputs inputs;
  inputs.serial = ++made;
  inputs.extents = generators::host::extents_of(algorithm, problem);
  for (std::size_t i = 0; i < algorithm.arguments.size(); ++i) {
    const Argument& argument = algorithm.arguments[i];
    std::vector<std::byte>& bytes = inputs.bytes.emplace_back();
    if (argument.is_scalar) {
      bytes.resize(sizeof(std::uint64_t));
      store_element(bytes.data(), argument.type, scalar_value(argument, scalar_choice));
    } else if (!argument.is_output) {
      bytes.resize(bytes_of(inputs.extents[i], argument.type));
      fill(bytes, argument, seed);
    }
  }
  return inputs;
}

std::size_t bytes_of(const std::vector<std::int64_t>& extents, DType type) {
  auto bytes = static_cast<std::size_t>(type.bytes());
  for (const std::int64_t extent : extents) bytes *= static_cast<std::size_t>(extent);
  return bytes;
}

std::size_t bytes_of(const Algorithm& algorithm, const Inputs& inputs) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < algorithm.arguments.size(); ++i)
    if (!algorithm.arguments[i].is_scalar) bytes += bytes_of(inputs.extents[i], algorithm.arguments[i].type);
  return bytes;
}

}  // namespace kiln::autotune
