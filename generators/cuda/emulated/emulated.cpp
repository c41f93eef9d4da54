#include "generators/cuda/emulated/emulated.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <list>

#include "dsl/error.h"
#include "generators/cuda/emulator/tensor_map.h"

namespace kiln::generators::cuda {
namespace {

// A persistent kernel's blocks then have several tiles each, also of small problems.
constexpr int kEmulatedSms = 2;

emulator::Swizzle swizzle_of(int bytes) {
  return bytes == 128 ? emulator::Swizzle::b128 : bytes == 64 ? emulator::Swizzle::b64 : bytes == 32 ? emulator::Swizzle::b32 : emulator::Swizzle::none;
}

// Global memory of a call, by the buffers' names.
class CallMemory {
 public:
  CallMemory(const LaunchRecord& record, const Emulated::Call& call) {
    for (const auto& [name, bytes] : call.inputs) {
      void* to = add(name, bytes.size(), emulator::Memory::Use::input);
      std::memcpy(to, bytes.data(), bytes.size());
    }
    for (const auto& [name, bytes] : call.outputs) add(name, bytes.size(), emulator::Memory::Use::output);
    for (const IntermediateBuffer& between : record.intermediates) {
      between_[between.name] = static_cast<std::size_t>(cuda::bytes(between, call.extents));
      add(between.name, between_[between.name], emulator::Memory::Use::output);
    }
  }

  // What one kernel wrote whole lies elsewhere for those after it: where nobody writes, and where one that was launched while that kernel still ran reads only
  // when it has waited.
  void hand_on() {
    for (auto between = between_.begin(); between != between_.end();) {
      const auto [name, bytes] = *between;
      void* written = at(name);
      if (memory_.first_unwritten(written) < bytes) {
        ++between;
        continue;
      }
      std::memcpy(add(name, bytes, emulator::Memory::Use::fresh), written, bytes);
      between = between_.erase(between);
    }
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
  std::map<std::string, std::size_t> between_;  // bytes of the buffers that no kernel has written yet
};

// The arguments of one launch, as cuLaunchKernel takes them.
class Arguments {
 public:
  Arguments(const KernelLaunch& kernel, const CallMemory& memory, const Emulated::Call& call) {
    for (const LaunchParameter& parameter : kernel.parameters) {
      switch (parameter.kind) {
        case LaunchParameter::Kind::buffer: add(memory.at(parameter.name)); break;
        case LaunchParameter::Kind::scalar: std::memcpy(fresh(), call.scalars.at(parameter.name).data(), call.scalars.at(parameter.name).size()); break;
        case LaunchParameter::Kind::count32: add(static_cast<std::int32_t>(product(parameter.counts, call.extents))); break;
        case LaunchParameter::Kind::count64: add(product(parameter.counts, call.extents)); break;
        case LaunchParameter::Kind::map: add(map_of(parameter, memory, call)); break;
      }
    }
  }
  void** data() { return pointers_.data(); }

 private:
  static emulator::EncodedMap map_of(const LaunchParameter& parameter, const CallMemory& memory, const Emulated::Call& call) {
    emulator::TensorMap2d map;
    map.base = memory.at(parameter.name);
    map.element_bytes = static_cast<std::uint32_t>(parameter.type.bytes());
    map.inner = static_cast<std::uint64_t>(product({parameter.counts[0]}, call.extents));
    map.outer = static_cast<std::uint64_t>(product({parameter.counts[1]}, call.extents));
    map.pitch_bytes = map.inner * map.element_bytes;
    map.box_inner = static_cast<std::uint32_t>(parameter.tile.box[0]);
    map.box_outer = static_cast<std::uint32_t>(parameter.tile.box[1]);
    map.swizzle = swizzle_of(parameter.tile.swizzle_bytes);
    return emulator::encode(map);
  }

  // A tensor map is the largest parameter, and the most aligned.
  struct alignas(64) Word {
    std::byte bytes[128];
  };
  void* fresh() {
    pointers_.push_back(words_.emplace_back().bytes);
    return pointers_.back();
  }
  template <typename T>
  void add(const T& value) {
    static_assert(sizeof value <= sizeof(Word));
    std::memcpy(fresh(), &value, sizeof value);
  }

  std::list<Word> words_;
  std::vector<void*> pointers_;
};

emulator::Launch launch_of(const KernelLaunch& kernel, const Extents& extents, unsigned seed) {
  emulator::Launch launch;
  launch.grid = static_cast<unsigned>(blocks(kernel, extents, kEmulatedSms));
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
  return std::all_of(record.kernels.begin(), record.kernels.end(), [&](KernelLaunch kernel) {
    kernel.blocks_per_sm = 0;  // however few blocks go on to them, tiles take their time
    const std::int64_t grid = blocks(kernel, extents, kEmulatedSms);
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
    memory.hand_on();
  }
  for (auto& [name, bytes] : call.outputs) {
    const std::size_t written = memory.memory().first_unwritten(memory.at(name));
    if (written < bytes.size()) return fmt::format("{} is not written from byte {} of {} on", name, written, bytes.size());
    std::memcpy(bytes.data(), memory.at(name), bytes.size());
  }
  return {};
}

}  // namespace kiln::generators::cuda
