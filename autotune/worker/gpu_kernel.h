// Timing on a GPU: calls captured into a graph, so that handing them over costs nothing, between two events of the device.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autotune/measure/protocol.h"
#include "autotune/measure/shared_page.h"
#include "autotune/worker/gpu_memory.h"
#include "autotune/worker/measured_device.h"
#include "generators/cuda/driver/memory.h"
#include "generators/cuda/launch/loaded_program.h"

namespace kiln::autotune {

class GpuRotation : public CallRotation {
 public:
  // Hot: one set. Cold: sets of over twice the device's L2 together, two at least.
  GpuRotation(const generators::cuda::driver::OpenDevice& device, const generators::cuda::driver::Stream& stream, const Algorithm& algorithm, const Inputs& inputs,
              const std::shared_ptr<const GpuOriginals>& originals, Cache cache, std::int64_t l2_bytes);

  std::size_t sets() const override { return sets_.size(); }
  generators::cuda::CallArguments arguments(std::size_t set) const { return sets_[set]->arguments(); }
  const generators::cuda::driver::Stream& stream() const { return stream_; }

  // Hot: fills L2 with what is none of the set. Where a set is about as large as L2, kernels with evict-first stores took 0.91 or 0.98 of another's time without
  // this, by what the kernel before had left there. Cold: nothing, a set is out of L2 when its turn comes.
  void sweep() const;

 private:
  generators::cuda::driver::Stream stream_;
  std::vector<std::unique_ptr<GpuMemory>> sets_;
  std::optional<generators::cuda::driver::DeviceMemory> swept_;  // twice as large as L2
};

class GpuKernel : public TimedKernel {
 public:
  // `program` and `rotation` must outlive the kernel.
  GpuKernel(const generators::cuda::LoadedProgram& program, GpuRotation& rotation, const Protocol& protocol, SharedPage& page, std::int64_t id);

  double warm(double hopeless_ns) override;
  double call_once() override;
  void begin_burst() override;
  Sample sample(int round) override;
  std::optional<std::string> failure() const override { return failure_; }
  int calls_per_sample() const override { return calls_per_sample_; }
  double sample_ns() const override { return call_ns_ * calls_per_sample_; }

 private:
  // What `work` gives to the stream, in ns of the device; 0 after a failure.
  template <typename Work>
  double timed(const Work& work);
  void launch_next();
  void capture(int wanted);  // calls, or a few more

  GpuRotation& rotation_;
  const Protocol& protocol_;
  SharedPage& page_;
  std::int64_t id_;
  std::vector<generators::cuda::BoundCall> calls_;  // one a set
  std::size_t next_ = 0;
  std::optional<generators::cuda::driver::Graph> graph_;  // of calls_per_sample_ calls
  generators::cuda::driver::Event begin_, end_;
  int calls_per_sample_ = 1;
  double call_ns_ = 0;
  std::optional<std::string> failure_;
};

}  // namespace kiln::autotune
