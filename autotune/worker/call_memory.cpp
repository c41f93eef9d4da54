#include "autotune/worker/call_memory.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "generators/runtime/host.h"

namespace kiln::autotune {
CallMemory::CallMemory(const Algorithm& algorithm, const Inputs& inputs, std::size_t alignment, const std::vector<DType>& element_types)
    : algorithm_(algorithm), inputs_(inputs), types_(element_types), scalars_(inputs.bytes.size()) {
  std::vector<void*> pointers;
  if (types_.empty())
    for (const Argument& argument : algorithm.arguments) types_.push_back(argument.type);
  for (std::size_t i = 0; i < algorithm.arguments.size(); ++i) {
    std::unique_ptr<GuardedBuffer>& buffer = buffers_.emplace_back();
    if (algorithm.arguments[i].is_scalar) {
      scalars_[i] = inputs.bytes[i];
      pointers.push_back(scalars_[i].data());
      continue;
    }
    buffer = std::make_unique<GuardedBuffer>(bytes_of(inputs.extents[i], types_[i]), std::max(alignment, static_cast<std::size_t>(types_[i].bytes())));
    pointers.push_back(buffer->data());
  }
  call_ = std::make_unique<generators::host::Call>(algorithm, inputs.extents, pointers, types_);
  reset(std::byte{0xff});
}

OutputView CallMemory::output(std::size_t argument) const { return {buffers_[argument]->data(), types_[argument], inputs_.extents[argument]}; }

void CallMemory::reset(std::byte poison) const {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (!buffers_[i]) continue;
    if (algorithm_.arguments[i].is_output) buffers_[i]->fill(poison);
    else std::memcpy(buffers_[i]->data(), inputs_.bytes[i].data(), inputs_.bytes[i].size());
  }
}

std::optional<std::string> CallMemory::find_damage() const {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (!buffers_[i]) continue;
    const Argument& argument = algorithm_.arguments[i];
    const char* role = argument.is_output ? "output" : "input";
    if (const std::size_t bytes = buffers_[i]->damaged_guard_bytes(); bytes > 0) return fmt::format("wrote {} bytes outside {} {}", bytes, role, argument.name);
    if (!argument.is_output && std::memcmp(buffers_[i]->data(), inputs_.bytes[i].data(), inputs_.bytes[i].size()) != 0)
      return fmt::format("changed input {}", argument.name);
  }
  return std::nullopt;
}

std::string failure_text(int code) {
  const std::string words = kiln_host_error_code() == code ? kiln_host_error_text() : "";
  return fmt::format("Halide's code {}{}{}", code, words.empty() ? "" : ": ", words);
}

}  // namespace kiln::autotune
