#include "generators/cuda/driver/kernel.h"

#include <fmt/format.h>

#include <utility>

namespace kiln::generators::cuda::driver {
namespace {

// CUfunction_attribute.
enum FunctionAttribute : int {
  max_threads_per_block = 0,
  shared_size_bytes = 1,
  const_size_bytes = 2,
  local_size_bytes = 3,
  num_regs = 4,
  binary_version = 6,
  max_dynamic_shared_size_bytes = 8,
};

}  // namespace

LaunchCall::LaunchCall(const Launch& launch, CuStream stream) {
  shape_.grid[0] = launch.grid;
  shape_.threads[0] = launch.threads;
  shape_.shared_bytes = launch.shared_bytes;
  shape_.stream = stream;
  shape_.attributes = attributes_;
  if (launch.cluster > 1) {
    LaunchAttribute& attribute = attributes_[shape_.attribute_count++];
    attribute.kind = LaunchAttribute::cluster_dimension;
    attribute.cluster[0] = launch.cluster;
    attribute.cluster[1] = attribute.cluster[2] = 1;
  }
  if (launch.is_dependent) {
    LaunchAttribute& attribute = attributes_[shape_.attribute_count++];
    attribute.kind = LaunchAttribute::programmatic_stream_serialization;
    attribute.is_allowed = 1;
  }
}

Kernel::Kernel(const OpenDevice& device, std::shared_ptr<CUlib_st> library, std::string name)
    : device_(device), library_(std::move(library)), name_(std::move(name)) {
  CuKernel kernel = nullptr;
  device_.check(device_.api().kernel(&kernel, library_.get(), name_.c_str()), fmt::format("cuLibraryGetKernel of {}", name_));
  device_.check(device_.api().function(&function_, kernel), fmt::format("cuKernelGetFunction of {}", name_));
}

int Kernel::attribute(int number) const {
  int value = 0;
  device_.check(device_.api().attribute(&value, number, function_), fmt::format("cuFuncGetAttribute {} of {}", number, name_));
  return value;
}

KernelFacts Kernel::facts() const {
  return {.registers = attribute(num_regs),
          .local_bytes = attribute(local_size_bytes),
          .shared_bytes = attribute(shared_size_bytes),
          .constant_bytes = attribute(const_size_bytes),
          .most_threads = attribute(max_threads_per_block),
          .binary_version = attribute(binary_version)};
}

std::vector<std::size_t> Kernel::parameter_bytes() const {
  // Past the last parameter the driver answers with an error.
  std::vector<std::size_t> all;
  std::size_t offset = 0, bytes = 0;
  while (device_.api().parameter(function_, all.size(), &offset, &bytes) == kSuccess) all.push_back(bytes);
  return all;
}

void Kernel::allow_shared_bytes(int bytes) const {
  device_.check(device_.api().set_attribute(function_, max_dynamic_shared_size_bytes, bytes),
                fmt::format("cuFuncSetAttribute of {} to {} bytes of dynamic shared memory", name_, bytes));
}

int Kernel::blocks_per_sm(int threads, std::size_t shared_bytes) const {
  int blocks = 0;
  device_.check(device_.api().blocks_per_sm(&blocks, function_, threads, shared_bytes),
                fmt::format("cuOccupancyMaxActiveBlocksPerMultiprocessor of {} with {} threads and {} bytes", name_, threads, shared_bytes));
  return blocks;
}

int Kernel::clusters_at_once(const Launch& launch) const {
  int clusters = 0;
  const LaunchCall call(launch, nullptr);
  device_.check(device_.api().clusters(&clusters, function_, call.shape()),
                fmt::format("cuOccupancyMaxActiveClusters of {} in clusters of {}", name_, launch.cluster));
  return clusters;
}

LoadedCubin::LoadedCubin(const OpenDevice& device, std::string_view cubin) : device_(device) {
  CuLibrary library = nullptr;
  device_.check(device_.api().load(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
                fmt::format("cuLibraryLoadData of {} bytes", cubin.size()));
  library_ = {library, [device](CuLibrary loaded) { device.api().unload(loaded); }};
}

}  // namespace kiln::generators::cuda::driver
