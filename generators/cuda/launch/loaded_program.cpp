#include "generators/cuda/launch/loaded_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "dsl/error.h"
#include "generators/cuda/driver/tensor_map.h"

namespace kiln::generators::cuda {
namespace {

constexpr std::int64_t kSharedWithoutAsking = 48 << 10;  // of a block, dynamic

template <typename T>
std::vector<std::byte> bytes_of(const T& value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

driver::TiledTensor tensor_of(const LaunchParameter& parameter, driver::Address address, const Extents& extents) {
  driver::TiledTensor tensor{.type = parameter.type, .address = address, .extents = {}, .pitches_bytes = {}, .box = {}};
  std::uint64_t pitch = static_cast<std::uint64_t>(parameter.type.bytes());
  for (const Length& length : parameter.counts) {
    tensor.extents.push_back(static_cast<std::uint64_t>(product({length}, extents)));
    if (tensor.extents.size() > 1) tensor.pitches_bytes.push_back(pitch);
    pitch *= tensor.extents.back();
  }
  for (const int elements : parameter.tile.box) tensor.box.push_back(static_cast<std::uint32_t>(elements));
  tensor.swizzle_bytes = parameter.tile.swizzle_bytes;
  tensor.l2_promotion_bytes = parameter.tile.l2_promotion_bytes;
  return tensor;
}

}  // namespace

LoadedProgram::LoadedProgram(const driver::OpenDevice& device, std::string_view cubin, LaunchRecord record) : device_(device), record_(std::move(record)) {
  const driver::LoadedCubin loaded(device, cubin);
  for (const KernelLaunch& kernel : record_.kernels) {
    kernels_.push_back(loaded.kernel(kernel.name));
    if (kernel.shared_bytes > kSharedWithoutAsking) kernels_.back().allow_shared_bytes(static_cast<int>(kernel.shared_bytes));
  }
}

BoundCall::BoundCall(const LoadedProgram& program, const CallArguments& arguments) : program_(program) {
  if (const auto unmet = find_unmet(program.record(), arguments.extents)) throw UsageError(*unmet);
  for (const auto& [name, address] : arguments.buffers)
    if (address % static_cast<driver::Address>(program.record().alignment_bytes) != 0)
      throw UsageError(fmt::format("{} begins at {:#x}, no multiple of {} bytes", name, address, program.record().alignment_bytes));
  for (const IntermediateBuffer& between : program.record().intermediates) {
    const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(1, cuda::bytes(between, arguments.extents)));
    intermediates_.emplace(between.name, driver::DeviceMemory(program.device(), bytes));
  }
  for (const KernelLaunch& kernel : program.record().kernels) bound_.push_back(bind(kernel, arguments));
}

driver::Address BoundCall::address_of(const std::string& buffer, const CallArguments& arguments) const {
  if (const auto between = intermediates_.find(buffer); between != intermediates_.end()) return between->second.address();
  const auto given = arguments.buffers.find(buffer);
  if (given == arguments.buffers.end()) throw UsageError(fmt::format("the call has no buffer {}", buffer));
  return given->second;
}

BoundCall::Bound BoundCall::bind(const KernelLaunch& kernel, const CallArguments& arguments) const {
  Bound bound;
  bound.launch = {.grid = static_cast<unsigned>(blocks(kernel, arguments.extents, kernel.blocks_per_sm > 0 ? program_.device().sms() : 0)),
                  .cluster = 1,  // the text says it: __cluster_dims__
                  .threads = static_cast<unsigned>(kernel.threads),
                  .shared_bytes = static_cast<unsigned>(kernel.shared_bytes),
                  .is_dependent = kernel.is_dependent};
  for (const LaunchParameter& parameter : kernel.parameters) {
    switch (parameter.kind) {
      case LaunchParameter::Kind::buffer: bound.values.push_back(bytes_of(address_of(parameter.name, arguments))); break;
      case LaunchParameter::Kind::scalar: {
        const auto given = arguments.scalars.find(parameter.name);
        if (given == arguments.scalars.end()) throw UsageError(fmt::format("the call has no scalar {}", parameter.name));
        bound.values.push_back(given->second);
        break;
      }
      case LaunchParameter::Kind::count32: bound.values.push_back(bytes_of(static_cast<std::int32_t>(product(parameter.counts, arguments.extents)))); break;
      case LaunchParameter::Kind::count64: bound.values.push_back(bytes_of(product(parameter.counts, arguments.extents))); break;
      case LaunchParameter::Kind::map:
        bound.values.push_back(bytes_of(encode(program_.device().driver(), tensor_of(parameter, address_of(parameter.name, arguments), arguments.extents))));
        break;
    }
  }
  for (std::vector<std::byte>& value : bound.values) bound.pointers.push_back(value.data());
  return bound;
}

void BoundCall::launch(const driver::Stream& stream) {
  for (std::size_t i = 0; i < bound_.size(); ++i) stream.launch(program_.kernels()[i], bound_[i].launch, bound_[i].pointers.data());
}

}  // namespace kiln::generators::cuda
