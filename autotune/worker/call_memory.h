// The memory of one call: inputs made from a seed, outputs that are poisoned before and looked at after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autotune/measure/compare.h"
#include "autotune/worker/guarded_buffer.h"
#include "dsl/algorithm.h"
#include "dsl/problem.h"
#include "generators/host/call.h"
#include "generators/host/loaded.h"

namespace kiln::autotune {

// What every call of one problem is given.
struct Inputs {
  std::vector<std::vector<std::int64_t>> extents;  // one an argument; empty for a scalar
  std::vector<std::vector<std::byte>> bytes;       // one an argument: an input's elements, a scalar's value; empty for an output
};

// Throws UsageError for a scalar without a value, and for dimension orders other than the declared ones, which host builds do not read.
Inputs make_inputs(const Algorithm& algorithm, const Problem& problem, std::uint64_t seed, std::size_t scalar_choice);

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
