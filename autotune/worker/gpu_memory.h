// The memory of one call on a GPU: a buffer for each argument between guard zones, inputs copied, outputs poisoned.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autotune/measure/compare.h"
#include "autotune/worker/inputs.h"
#include "dsl/algorithm.h"
#include "generators/cuda/driver/memory.h"
#include "generators/cuda/driver/stream.h"
#include "generators/cuda/launch/loaded_program.h"

namespace kiln::autotune {

// Inputs as they were made, in the device's memory: no kernel sees them, every call is given copies.
class GpuOriginals {
 public:
  GpuOriginals(const generators::cuda::driver::OpenDevice& device, const generators::cuda::driver::Stream& stream, const Algorithm& algorithm, const Inputs& inputs);

  generators::cuda::driver::Address address(std::size_t argument) const { return buffers_[argument]->address(); }

 private:
  std::vector<std::optional<generators::cuda::driver::DeviceMemory>> buffers_;  // absent but for inputs that are buffers
};

class GpuMemory {
 public:
  // `inputs` must outlive the value, and contents are what they are until reset(). Buffers begin on multiples of 16 bytes and of nothing larger, so that a check proves what the kernels ask for; those that
  // are only timed are `is_aligned` as an application's are.
  GpuMemory(const generators::cuda::driver::OpenDevice& device, const generators::cuda::driver::Stream& stream, const Algorithm& algorithm, const Inputs& inputs,
            std::shared_ptr<const GpuOriginals> originals, bool is_aligned);

  // Buffers, scalars and extents of the call.
  generators::cuda::CallArguments arguments() const;

  void reset(std::byte poison);
  std::optional<std::string> find_damage();
  OutputView output(std::size_t argument);  // copied to the host

 private:
  struct Buffer {
    std::optional<generators::cuda::driver::DeviceMemory> memory;  // absent for a scalar
    generators::cuda::driver::Address address = 0;
    std::size_t bytes = 0;
    std::vector<std::byte> copy;  // an output as it was last read
  };
  // How many bytes beside the buffer are not what reset() wrote there.
  std::size_t damaged_guard_bytes(const Buffer& buffer) const;
  bool has_changed(const Buffer& buffer, const std::byte* original) const;

  generators::cuda::driver::Stream stream_;
  const Algorithm& algorithm_;
  const Inputs& inputs_;
  std::shared_ptr<const GpuOriginals> originals_;
  std::vector<Buffer> buffers_;  // by argument
};

}  // namespace kiln::autotune
