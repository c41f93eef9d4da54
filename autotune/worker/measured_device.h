// What the measuring worker works on, whatever kind of device it is: candidates that can be loaded, called under watch, and timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autotune/measure/clocks.h"
#include "autotune/measure/compare.h"
#include "autotune/measure/shared_page.h"
#include "autotune/measure/statistics.h"
#include "autotune/measurer.h"
#include "autotune/worker/inputs.h"
#include "dsl/error.h"
#include "generators/rejection.h"

namespace kiln::autotune {

// A candidate has broken what this process needs of the device: nothing can run in it any more. `text` is what the device said.
class DeviceLost : public Error {
 public:
  DeviceLost(const std::string& text, const SharedPage& page) : Error(text), suspect(page.candidate.load() - 1) {}
  const std::int64_t suspect;  // who ran; -1: nobody
};

// One call with memory of its own: inputs as they were made, outputs poisoned before, guards around both.
class CheckedCall {
 public:
  virtual ~CheckedCall() = default;

  virtual void reset(std::byte poison) = 0;

  // Calls and waits; `ns` is what the call took. Nothing when it ended well, else what the device or the runtime said. Throws DeviceLost.
  virtual std::optional<std::string> run(double& ns) = 0;

  // What a failed run is, of a candidate.
  virtual generators::Reason failure() const { return generators::Reason::run_error; }

  // What a call must not have done: "wrote 12 bytes outside output c", "changed input A". Nothing: it did neither.
  virtual std::optional<std::string> find_damage() = 0;

  // As the last call left it; valid until the next.
  virtual OutputView output(std::size_t argument) = 0;
};

// A contender of a race: its calls on the race's buffers, bundled into samples. What calls throws DeviceLost.
class TimedKernel {
 public:
  virtual ~TimedKernel() = default;

  // Until the protocol's warm-up is over and calls are bundled; ends after a second call above `hopeless_ns` (0: none). Returns the least of all calls but
  // the first.
  virtual double warm(double hopeless_ns) = 0;

  // A single call, as it is.
  virtual double call_once() = 0;

  // Before samples in a row: one call, untimed, because whoever was called before has left its own code and data in the caches.
  virtual void begin_burst() { call_once(); }

  virtual Sample sample(int round) = 0;

  // What was said of the first call that failed.
  virtual std::optional<std::string> failure() const = 0;
  virtual int calls_per_sample() const = 0;
  virtual double sample_ns() const = 0;  // as estimated by warm()
};

// Buffers that all contenders of a race use in turn: one set when hot; when cold, sets in rotation over twice the last-level cache.
class CallRotation {
 public:
  virtual ~CallRotation() = default;
  virtual std::size_t sets() const = 0;
};

// A candidate's build, ready to be called.
class LoadedCandidate {
 public:
  virtual ~LoadedCandidate() = default;

  // run_error with both numbers when it asks for more than arguments of these extents give.
  virtual std::optional<generators::Rejection> find_unmet(const Algorithm& algorithm, const std::vector<std::vector<std::int64_t>>& extents) = 0;

  // The candidate and the inputs outlive the call.
  virtual std::unique_ptr<CheckedCall> checked_call(const Algorithm& algorithm, const Inputs& inputs, const CheckOptions& options) = 0;

  // `rotation` is of the same device; it and the candidate outlive the kernel.
  virtual std::unique_ptr<TimedKernel> timed_kernel(CallRotation& rotation, std::int64_t id) = 0;

  // As a graph and as plain launches, hot and cold; a failed call is the rejection. Throws DeviceLost.
  virtual ClocksOutcome clocks(const Algorithm&, const Inputs&) { return {{}, {}, "only a GPU's calls are handed over"}; }
};

class MeasuredDevice {
 public:
  virtual ~MeasuredDevice() = default;

  // Throws Error when the build cannot be loaded: the candidate's fault; DataError for a damaged file, EnvironmentError for what the machine lacks.
  virtual std::unique_ptr<LoadedCandidate> load(const ObjectRef& object, const Objects& objects) = 0;

  virtual std::unique_ptr<CallRotation> rotation(const Algorithm& algorithm, const Inputs& inputs) = 0;

  // A computation with a known answer: empty when it comes out, else what is wrong.
  virtual std::string find_health_complaint() = 0;
};

}  // namespace kiln::autotune
