#include "autotune/worker/host_device.h"

#include "autotune/worker/call_memory.h"
#include "autotune/worker/health.h"
#include "autotune/worker/host_kernel.h"
#include "autotune/worker/running.h"
#include "dsl/error.h"
#include "generators/runtime/host.h"

namespace kiln::autotune {
namespace {

using generators::Reason;
using generators::Rejection;
using generators::host::Loaded;

// Both numbers of the first dimension that does not fit.
Rejection numbers_of(std::string text, const std::vector<std::vector<Interval>>& required, const std::vector<std::vector<std::int64_t>>& extents) {
  Rejection rejection{Reason::run_error, std::nullopt, std::nullopt, std::move(text)};
  for (std::size_t i = 0; i < required.size(); ++i)
    for (std::size_t d = 0; d < required[i].size(); ++d) {
      const Interval& region = required[i][d];
      if (region.extent <= 0 || (region.min >= 0 && region.min + region.extent <= extents[i][d])) continue;
      rejection.asked = static_cast<double>(region.min < 0 ? region.min : region.min + region.extent);
      rejection.allowed = static_cast<double>(region.min < 0 ? 0 : extents[i][d]);
      return rejection;
    }
  return rejection;
}

class HostCall : public CheckedCall {
 public:
  HostCall(const Loaded& build, const Algorithm& algorithm, const Inputs& inputs, std::size_t alignment, SharedPage& page)
      : build_(build), memory_(algorithm, inputs, alignment), page_(page) {}

  void reset(std::byte poison) override { memory_.reset(poison); }

  std::optional<std::string> run(double& ns) override {
    kiln_host_clear_error();
    int code = 0;
    const std::int64_t begun = monotonic_ns();
    {
      const InCall in_call(page_);
      code = build_(memory_.call().argv());
    }
    ns = static_cast<double>(monotonic_ns() - begun);
    if (code == 0) return std::nullopt;
    return failure_text(code);
  }

  std::optional<std::string> find_damage() override { return memory_.find_damage(); }
  OutputView output(std::size_t argument) override { return memory_.output(argument); }

 private:
  const Loaded& build_;
  CallMemory memory_;
  SharedPage& page_;
};

class HostCandidate : public LoadedCandidate {
 public:
  HostCandidate(const generators::Artifact& artifact, const Protocol& protocol, SharedPage& page) : build_(artifact), protocol_(protocol), page_(page) {}

  // Asked of the build itself, whose bounds query may fail.
  std::optional<Rejection> find_unmet(const Algorithm& algorithm, const std::vector<std::vector<std::int64_t>>& extents) override {
    const InCall in_call(page_);
    try {
      const auto required = generators::host::required_regions(build_, algorithm, extents);
      const auto short_of = generators::host::find_shortfall(required, algorithm, extents);
      if (!short_of) return std::nullopt;
      return numbers_of(*short_of, required, extents);
    } catch (const Error& error) {
      return Rejection{Reason::run_error, std::nullopt, std::nullopt, error.what()};
    }
  }

  std::unique_ptr<CheckedCall> checked_call(const Algorithm& algorithm, const Inputs& inputs, const CheckOptions& options) override {
    return std::make_unique<HostCall>(build_, algorithm, inputs, static_cast<std::size_t>(options.alignment_bytes), page_);
  }

  std::unique_ptr<TimedKernel> timed_kernel(CallRotation& rotation, std::int64_t id) override {
    return std::make_unique<HostKernel>(build_, dynamic_cast<HostRotation&>(rotation), protocol_, page_, id);
  }

 private:
  Loaded build_;
  const Protocol& protocol_;
  SharedPage& page_;
};

}  // namespace

std::unique_ptr<LoadedCandidate> HostDevice::load(const ObjectRef& object, const Objects& objects) {
  return std::make_unique<HostCandidate>(generators::Artifact{objects.object(object.hash), object.symbol, object.target}, protocol_, page_);
}

std::unique_ptr<CallRotation> HostDevice::rotation(const Algorithm& algorithm, const Inputs& inputs) {
  return std::make_unique<HostRotation>(algorithm, inputs, protocol_.cache, last_level_bytes_);
}

std::string HostDevice::find_health_complaint() { return autotune::find_health_complaint(protocol_.threads); }

}  // namespace kiln::autotune
