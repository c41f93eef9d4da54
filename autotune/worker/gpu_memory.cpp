#include "autotune/worker/gpu_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace kiln::autotune {
namespace {

namespace driver = generators::cuda::driver;

constexpr std::size_t kGuard = 4096;             // bytes before and after
constexpr std::uint8_t kGuardByte = 0xA5;
constexpr driver::Address kLeastAlignment = 16;  // what kernels ask for

}  // namespace

GpuOriginals::GpuOriginals(const driver::OpenDevice& device, const driver::Stream& stream, const Algorithm& algorithm, const Inputs& inputs) {
  for (std::size_t i = 0; i < algorithm.arguments.size(); ++i) {
    const Argument& argument = algorithm.arguments[i];
    std::optional<driver::DeviceMemory>& buffer = buffers_.emplace_back();
    if (argument.is_scalar || argument.is_output) continue;
    const std::size_t bytes = bytes_of(inputs.extents[i], argument.type);
    buffer.emplace(device, std::max<std::size_t>(bytes, 1));
    stream.write(buffer->address(), inputs.bytes[i].data(), bytes);
  }
}

GpuMemory::GpuMemory(const driver::OpenDevice& device, const driver::Stream& stream, const Algorithm& algorithm, const Inputs& inputs,
                     std::shared_ptr<const GpuOriginals> originals, bool is_aligned)
    : stream_(stream), algorithm_(algorithm), inputs_(inputs), originals_(std::move(originals)) {
  for (std::size_t i = 0; i < algorithm.arguments.size(); ++i) {
    const Argument& argument = algorithm.arguments[i];
    Buffer& buffer = buffers_.emplace_back();
    if (argument.is_scalar) continue;
    buffer.bytes = bytes_of(inputs.extents[i], argument.type);
    buffer.memory.emplace(device, buffer.bytes + 2 * kGuard + kLeastAlignment);
    // cuMemAlloc aligns to 256 bytes at least, and the guard keeps that.
    buffer.address = buffer.memory->address() + kGuard + (is_aligned ? 0 : kLeastAlignment);
  }
}

generators::cuda::CallArguments GpuMemory::arguments() const {
  generators::cuda::CallArguments arguments;
  for (std::size_t i = 0; i < algorithm_.arguments.size(); ++i) {
    const Argument& argument = algorithm_.arguments[i];
    if (argument.is_scalar) {
      arguments.scalars[argument.name] = inputs_.bytes[i];
    } else {
      arguments.buffers[argument.name] = buffers_[i].address;
    }
  }
  arguments.extents = generators::cuda::extents_by_argument(algorithm_, inputs_.extents);
  return arguments;
}

void GpuMemory::reset(std::byte poison) {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& buffer = buffers_[i];
    if (!buffer.memory) continue;
    stream_.fill(buffer.memory->address(), kGuardByte, buffer.memory->bytes());
    if (algorithm_.arguments[i].is_output) {
      stream_.fill(buffer.address, static_cast<std::uint8_t>(poison), buffer.bytes);
    } else {
      stream_.copy(buffer.address, originals_->address(i), buffer.bytes);
    }
  }
  stream_.wait();
}

std::size_t GpuMemory::damaged_guard_bytes(const Buffer& buffer) const {
  const auto before = static_cast<std::size_t>(buffer.address - buffer.memory->address()), after = buffer.memory->bytes() - before - buffer.bytes;
  std::vector<std::uint8_t> guards(before + after);
  stream_.read(guards.data(), buffer.memory->address(), before);
  stream_.read(guards.data() + before, buffer.address + buffer.bytes, after);
  return static_cast<std::size_t>(std::count_if(guards.begin(), guards.end(), [](std::uint8_t byte) { return byte != kGuardByte; }));
}

// Piece by piece through one small buffer: new memory of an input's size would cost more than the copy.
bool GpuMemory::has_changed(const Buffer& buffer, const std::byte* original) const {
  constexpr std::size_t kPiece = 8 << 20;
  std::vector<std::byte> now(std::min(kPiece, buffer.bytes));
  for (std::size_t at = 0; at < buffer.bytes; at += kPiece) {
    const std::size_t bytes = std::min(kPiece, buffer.bytes - at);
    stream_.read(now.data(), buffer.address + at, bytes);
    if (std::memcmp(now.data(), original + at, bytes) != 0) return true;
  }
  return false;
}

std::optional<std::string> GpuMemory::find_damage() {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& buffer = buffers_[i];
    if (!buffer.memory) continue;
    const Argument& argument = algorithm_.arguments[i];
    if (const std::size_t bytes = damaged_guard_bytes(buffer); bytes > 0)
      return fmt::format("wrote {} bytes outside {} {}", bytes, argument.is_output ? "output" : "input", argument.name);
    if (argument.is_output) continue;
    if (has_changed(buffer, inputs_.bytes[i].data())) return fmt::format("changed input {}", argument.name);
  }
  return std::nullopt;
}

OutputView GpuMemory::output(std::size_t argument) {
  Buffer& buffer = buffers_[argument];
  buffer.copy.resize(buffer.bytes);
  stream_.read(buffer.copy.data(), buffer.address, buffer.bytes);
  return {buffer.copy.data(), algorithm_.arguments[argument].type, inputs_.extents[argument]};
}

}  // namespace kiln::autotune
