#include "generators/cuda/emulated/emulated.h"

#include <fmt/format.h>

#include <cstring>
#include <list>

#include "dsl/error.h"

namespace kiln::generators::cuda {
namespace {

// Global memory of a call, by the buffers' names.
class CallMemory {
 public:
  CallMemory(const Program& program, const Emulated::Call& call) {
    for (const auto& [name, bytes] : call.inputs) {
      void* to = add(name, bytes.size(), emulator::Memory::Use::input);
      std::memcpy(to, bytes.data(), bytes.size());
    }
    for (const auto& [name, bytes] : call.outputs) add(name, bytes.size(), emulator::Memory::Use::output);
    for (const Intermediate& between : program.intermediates) add(between.name, static_cast<std::size_t>(between.bytes()), emulator::Memory::Use::output);
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
  Arguments(const Kernel& kernel, const CallMemory& memory, const Emulated::Call& call) {
    const Computation& computation = kernel.plan.computation;
    for (const KernelParameter& parameter : kernel.text.parameters) {
      switch (parameter.kind) {
        case KernelParameter::Kind::operand: add(memory.at(computation.operands[static_cast<std::size_t>(parameter.place)].buffer)); break;
        case KernelParameter::Kind::scalar: add_bytes(call.scalars.at(computation.scalars[static_cast<std::size_t>(parameter.place)].name)); break;
        case KernelParameter::Kind::columns: add(static_cast<int>(computation.columns())); break;
        case KernelParameter::Kind::terms: add(static_cast<int>(computation.terms->extent)); break;
        case KernelParameter::Kind::rows: add(static_cast<int>(computation.rows())); break;
        case KernelParameter::Kind::elements: add(static_cast<long long>(computation.columns() * computation.rows())); break;
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

}  // namespace

Emulated::Emulated(const Program& program) : program_(program) {
  const std::string text = program.text();
  for (const Kernel& kernel : program.kernels) compiled_.emplace_back(text, kernel.text.name);
}

emulator::Launch Emulated::launch_of(const StreamPlan& plan, unsigned seed) {
  emulator::Launch launch;
  launch.grid = static_cast<unsigned>(plan.blocks());
  launch.cluster = static_cast<unsigned>(plan.cluster);
  launch.threads = static_cast<unsigned>(plan.threads);
  launch.shared_bytes = static_cast<unsigned>(plan.shared_bytes());
  if (plan.blocks_per_sm > 0) launch.blocks_per_sm = static_cast<unsigned>(plan.blocks_per_sm);
  launch.seed = seed;
  launch.is_dependent = plan.is_dependent;
  return launch;
}

std::string Emulated::run(Call& call, unsigned seed) const {
  CallMemory memory(program_, call);
  for (std::size_t i = 0; i < program_.kernels.size(); ++i) {
    const Kernel& kernel = program_.kernels[i];
    Arguments arguments(kernel, memory, call);
    const emulator::Report report = emulator::run(launch_of(kernel.plan, seed), memory.memory(), compiled_[i].entry(), arguments.data());
    if (!report.ok()) return fmt::format("{}: {}", kernel.text.name, report.text);
  }
  for (auto& [name, bytes] : call.outputs) {
    const std::size_t written = memory.memory().first_unwritten(memory.at(name));
    if (written < bytes.size()) return fmt::format("{} is not written from byte {} of {} on", name, written, bytes.size());
    std::memcpy(bytes.data(), memory.at(name), bytes.size());
  }
  return {};
}

}  // namespace kiln::generators::cuda
