// The memory of one call on the host: a buffer for each argument between guards, outputs poisoned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autotune/measure/compare.h"
#include "autotune/worker/guarded_buffer.h"
#include "autotune/worker/inputs.h"
#include "dsl/algorithm.h"
#include "generators/host/call.h"
#include "generators/host/loaded.h"

namespace kiln::autotune {

// Dense buffers for all arguments, and the call that points at them.
class CallMemory {
 public:
  // `element_types` as generators::host::Call wants them. `alignment` is raised to an element's size where it is smaller.
  CallMemory(const Algorithm& algorithm, const Inputs& inputs, std::size_t alignment, const std::vector<DType>& element_types = {});

  generators::host::Call& call() { return *call_; }
  OutputView output(std::size_t argument) const;

  // Inputs as they were made, outputs full of `poison`: 0xff is NaN in every float type.
  void reset(std::byte poison) const;
  // What a call must not have done: "wrote 12 bytes outside output c", "changed input A". Nothing: it did neither.
  std::optional<std::string> find_damage() const;

 private:
  const Algorithm& algorithm_;
  const Inputs& inputs_;
  std::vector<DType> types_;
  std::vector<std::unique_ptr<GuardedBuffer>> buffers_;  // null for scalars
  std::vector<std::vector<std::byte>> scalars_;          // private copies: an argv points at them
  std::unique_ptr<generators::host::Call> call_;
};

// "Halide's code -8: Input buffer A is accessed at …": what the runtime said about the last call on this thread.
std::string failure_text(int code);

}  // namespace kiln::autotune
