// Timing on a CPU: calls bundled into samples, with the samples marked during which the scheduler took a core away.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autotune/measure/protocol.h"
#include "autotune/measure/shared_page.h"
#include "autotune/worker/call_memory.h"
#include "autotune/worker/measured_device.h"
#include "generators/host/loaded.h"

namespace kiln::autotune {

class HostRotation : public CallRotation {
 public:
  HostRotation(const Algorithm& algorithm, const Inputs& inputs, Cache cache, std::int64_t last_level_bytes);

  std::size_t sets() const override { return sets_.size(); }
  void** next_argv() {
    position_ = position_ + 1 == sets_.size() ? 0 : position_ + 1;
    return sets_[position_]->call().argv();
  }

 private:
  std::vector<std::unique_ptr<CallMemory>> sets_;
  std::size_t position_ = 0;
};

class HostKernel : public TimedKernel {
 public:
  // `calls`, `protocol` and `page` must outlive the kernel.
  HostKernel(generators::host::Loaded build, HostRotation& calls, const Protocol& protocol, SharedPage& page, std::int64_t id)
      : build_(std::move(build)), calls_(calls), protocol_(protocol), page_(page), id_(id) {}

  // At least three calls and warm_ms, after which calls are bundled into samples of sample_us.
  double warm(double hopeless_ns) override;
  double call_once() override { return static_cast<double>(run(1)); }
  Sample sample(int round) override;
  std::optional<std::string> failure() const override { return failure_; }
  int calls_per_sample() const override { return calls_per_sample_; }
  double sample_ns() const override { return call_ns_ * calls_per_sample_; }

 private:
  std::int64_t run(int calls);

  generators::host::Loaded build_;
  HostRotation& calls_;
  const Protocol& protocol_;
  SharedPage& page_;
  std::int64_t id_;
  int calls_per_sample_ = 1;
  std::optional<std::string> failure_;
  double call_ns_ = 0;
};

}  // namespace kiln::autotune
