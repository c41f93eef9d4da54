#include "generators/cuda/emulated/emulated.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <list>

#include "dsl/error.h"

namespace kiln::generators::cuda {
namespace {

// Global memory of a call, by the buffers' names.
class CallMemory {
 public:
  CallMemory(const LaunchRecord& record, const Emulated::Call& call) {
    for (const auto& [name, bytes] : call.inputs) {
      void* to = add(name, bytes.size(), emulator::Memory::Use::input);
      std::memcpy(to, bytes.data(), bytes.size());
    }
    for (const auto& [name, bytes] : call.outputs) add(name, bytes.size(), emulator::Memory::Use::output);
    for (const IntermediateBuffer& between : record.intermediates)
      add(between.name, static_cast<std::size_t>(cuda::bytes(between, call.extents)), emulator::Memory::Use::output);
  }

  void* at(const std::string& name) const {
    const auto found = addresses_.find(name);
    KILN_CHECK(found != addresses_.end(), "a kernel's buffer that the call does not have: " + name);
    return found->second;
  }
  emulator::Memory& memory() { return memory_; }

 private:
  void* add(const std::string& name, std::size_t bytes, emulator::Memory::Use use) { return addresses_[name] = memory_.allocate(name, bytes, use); }

  emulator::Memory memory_;
  std::map<std::string, void*> addresses_;
};

// The arguments of one launch, as cuLaunchKernel takes them.
class Arguments {
 public:
  Arguments(const KernelLaunch& kernel, const CallMemory& memory, const Emulated::Call& call) {
    for (const LaunchParameter& parameter : kernel.parameters) {
      switch (parameter.kind) {
        case LaunchParameter::Kind::buffer: add(memory.at(parameter.name)); break;
        case LaunchParameter::Kind::scalar: add_bytes(call.scalars.at(parameter.name)); break;
        case LaunchParameter::Kind::count32: add(static_cast<std::int32_t>(product(parameter.counts, call.extents))); break;
        case LaunchParameter::Kind::count64: add(product(parameter.counts, call.extents)); break;
      }
    }
  }
  void** data() { return pointers_.data(); }

 private:
  template <typename T>
  void add(T value) {
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    add_bytes(std::move(bytes));
  }
  void add_bytes(std::vector<std::byte> bytes) { pointers_.push_back(values_.emplace_back(std::move(bytes)).data()); }

  std::list<std::vector<std::byte>> values_;
  std::vector<void*> pointers_;
};

emulator::Launch launch_of(const KernelLaunch& kernel, const Extents& extents, unsigned seed) {
  emulator::Launch launch;
  launch.grid = static_cast<unsigned>(blocks(kernel, extents));
  launch.cluster = static_cast<unsigned>(kernel.cluster);
  launch.threads = static_cast<unsigned>(kernel.threads);
  launch.shared_bytes = static_cast<unsigned>(kernel.shared_bytes);
  launch.seed = seed;
  launch.is_dependent = kernel.is_dependent;
  return launch;
}

}  // namespace

Emulated::Emulated(const std::string& text, LaunchRecord record) : record_(std::move(record)) {
  for (const KernelLaunch& kernel : record_.kernels) compiled_.emplace_back(text, kernel.name);
}

bool Emulated::takes(const LaunchRecord& record, const Extents& extents) {
  return std::all_of(record.kernels.begin(), record.kernels.end(), [&](const KernelLaunch& kernel) {
    const std::int64_t grid = blocks(kernel, extents);
    return grid <= emulator::kMostBlocks && grid * kernel.threads <= emulator::kMostThreads;
  });
}

std::string Emulated::run(Call& call, unsigned seed) const {
  CallMemory memory(record_, call);
  for (std::size_t i = 0; i < record_.kernels.size(); ++i) {
    const KernelLaunch& kernel = record_.kernels[i];
    Arguments arguments(kernel, memory, call);
    const emulator::Report report = emulator::run(launch_of(kernel, call.extents, seed), memory.memory(), compiled_[i].entry(), arguments.data());
    if (!report.ok()) return fmt::format("{}: {}", kernel.name, report.text);
  }
  for (auto& [name, bytes] : call.outputs) {
    const std::size_t written = memory.memory().first_unwritten(memory.at(name));
    if (written < bytes.size()) return fmt::format("{} is not written from byte {} of {} on", name, written, bytes.size());
    std::memcpy(bytes.data(), memory.at(name), bytes.size());
  }
  return {};
}

}  // namespace kiln::generators::cuda
