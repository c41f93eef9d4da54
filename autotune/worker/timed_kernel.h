// One contender of a race: its object, the calls it makes, its samples.
#pragma once

#include <memory>
#include <vector>

#include "autotune/measure/protocol.h"
#include "autotune/measure/shared_page.h"
#include "autotune/measure/statistics.h"
#include "autotune/worker/call_memory.h"

namespace kiln::autotune {

// Buffers that all contenders of a race use in turn: one set when hot; when cold, sets in rotation over twice the last-level cache.
class CallRotation {
 public:
  CallRotation(const Algorithm& algorithm, const Inputs& inputs, Cache cache, std::int64_t last_level_bytes);

  void** next_argv() {
    position_ = position_ + 1 == sets_.size() ? 0 : position_ + 1;
    return sets_[position_]->call().argv();
  }
  std::size_t sets() const { return sets_.size(); }

 private:
  std::vector<std::unique_ptr<CallMemory>> sets_;
  std::size_t position_ = 0;
};

class TimedKernel {
 public:
  TimedKernel(generators::host::Loaded build, CallRotation& calls, const Protocol& protocol, SharedPage& page, std::int64_t id)
      : build_(std::move(build)), calls_(calls), protocol_(protocol), page_(page), id_(id) {}

  // At least three calls and warm_ms, after which calls are bundled into samples of sample_us. Ends after a second call above `hopeless_ns`
  // (0: none). Returns the least of all calls but the first.
  double warm(double hopeless_ns);

  // A single call, cold as it is.
  double call_once() { return static_cast<double>(run(1)); }

  Sample sample(int round);

  // Non-zero when a call failed: what the runtime said.
  int failure_code() const { return failure_code_; }
  int calls_per_sample() const { return calls_per_sample_; }
  double sample_ns() const { return call_ns_ * calls_per_sample_; }  // as estimated by warm()

 private:
  std::int64_t run(int calls);

  generators::host::Loaded build_;
  CallRotation& calls_;
  const Protocol& protocol_;
  SharedPage& page_;
  std::int64_t id_;
  int calls_per_sample_ = 1;
  int failure_code_ = 0;
  double call_ns_ = 0;
};

}  // namespace kiln::autotune
