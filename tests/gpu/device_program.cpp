#include "device_program.h"

#include <map>
#include <vector>

#include "generators/cuda/driver/memory.h"
#include "hopper.h"
#include "nvrtc.h"

namespace kiln::gpu {
namespace {

namespace cuda = generators::cuda;
namespace cu = generators::cuda::driver;

cuda::LoadedProgram loaded(const cuda::Program& program, cuda::LaunchRecord record) {
  const cu::OpenDevice& device = hopper();
  return {device, cubin_of(program.text(), program.kernels.front().text.name, !program.is_strict), std::move(record)};
}

}  // namespace

DeviceProgram::DeviceProgram(const cuda::Program& program, cuda::LaunchRecord record) : program_(loaded(program, std::move(record))) {}

std::string DeviceProgram::run(cuda::Emulated::Call& call) const try {
  std::map<std::string, cu::DeviceMemory> memory;
  cuda::CallArguments arguments{{}, call.scalars, call.extents};
  const auto allocate = [&](const std::string& name, std::size_t bytes) {
    const cu::DeviceMemory& made = memory.emplace(name, cu::DeviceMemory(hopper(), bytes)).first->second;
    arguments.buffers[name] = made.address();
    return made.address();
  };
  for (const auto& [name, bytes] : call.inputs) stream().write(allocate(name, bytes.size()), bytes.data(), bytes.size());
  for (const auto& [name, bytes] : call.outputs) stream().fill(allocate(name, bytes.size()), 0xFF, bytes.size());
  cuda::BoundCall bound(program_, arguments);
  bound.launch(stream());
  wait();
  for (const auto& [name, bytes] : call.inputs) {
    std::vector<std::byte> now(bytes.size());
    stream().read(now.data(), arguments.buffers.at(name), now.size());
    if (now != bytes) return "wrote to input " + name;
  }
  for (auto& [name, bytes] : call.outputs) stream().read(bytes.data(), arguments.buffers.at(name), bytes.size());
  return {};
} catch (const cu::DriverError& error) {
  end_if_lost(error.what());
  return error.what();
} catch (const Error& error) {
  return error.what();
}

}  // namespace kiln::gpu
