// A GPU's kernels as a candidate that can be checked without a GPU: their text runs in the emulator.
#pragma once

#include <memory>

#include "autotune/worker/measured_device.h"
#include "generators/cuda/emulated/emulated.h"
#include "generators/cuda/image.h"

namespace kiln::autotune {

class EmulatedCandidate : public LoadedCandidate {
 public:
  // `program` is the kernels' text with its launch record (generators/cuda/image.h). Throws what Emulated throws.
  explicit EmulatedCandidate(const generators::cuda::Image& program) : program_(program.code, program.record) {}

  // Also run_error for a launch beyond the emulator's limits.
  std::optional<generators::Rejection> find_unmet(const Algorithm& algorithm, const std::vector<std::vector<std::int64_t>>& extents) override;

  // A call is four runs, in which threads and asynchronous operations take turns in four ways, and in the next call in four others. All must give the same bits.
  std::unique_ptr<CheckedCall> checked_call(const Algorithm& algorithm, const Inputs& inputs, const CheckOptions& options) override;

  // Nothing here tells how long a kernel takes.
  std::unique_ptr<TimedKernel> timed_kernel(CallRotation& rotation, std::int64_t id) override;

 private:
  generators::cuda::Emulated program_;
  unsigned calls_ = 0;
};

}  // namespace kiln::autotune
