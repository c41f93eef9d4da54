#include "autotune/worker/gpu_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "autotune/worker/gpu_clocks.h"
#include "autotune/worker/gpu_failure.h"
#include "autotune/worker/gpu_kernel.h"
#include "autotune/worker/gpu_memory.h"
#include "autotune/worker/running.h"
#include "dsl/error.h"
#include "generators/cuda/image.h"

namespace kiln::autotune {
namespace {

namespace cuda = generators::cuda;
namespace driver = generators::cuda::driver;
using generators::Reason;
using generators::Rejection;

constexpr std::size_t kOriginals = 6;  // inputs that stay on the device: of some problems, the timed ones and the ragged ones

class GpuCall : public CheckedCall {
 public:
  GpuCall(const driver::OpenDevice& device, const driver::Stream& stream, const cuda::LoadedProgram& program, const Algorithm& algorithm, const Inputs& inputs,
          std::shared_ptr<const GpuOriginals> originals, SharedPage& page)
      : stream_(stream), memory_(device, stream, algorithm, inputs, std::move(originals), false), call_(program, memory_.arguments()), begin_(device), end_(device), page_(page) {}

  void reset(std::byte poison) override { memory_.reset(poison); }

  std::optional<std::string> run(double& ns) override {
    try {
      const InCall in_call(page_);
      stream_.record(begin_);
      call_.launch(stream_);
      stream_.record(end_);
      end_.wait();
      ns = driver::ns_between(begin_, end_);
      return std::nullopt;
    } catch (const driver::DriverError& error) {
      return words_of(error, stream_, page_);
    }
  }

  std::optional<std::string> find_damage() override { return memory_.find_damage(); }
  OutputView output(std::size_t argument) override { return memory_.output(argument); }

 private:
  driver::Stream stream_;
  GpuMemory memory_;
  cuda::BoundCall call_;
  driver::Event begin_, end_;
  SharedPage& page_;
};

class GpuCandidate : public LoadedCandidate {
 public:
  // `owner` must outlive the value.
  GpuCandidate(GpuDevice& owner, const driver::OpenDevice& device, const driver::Stream& stream, cuda::Image image, std::int64_t l2_bytes, const Protocol& protocol,
               SharedPage& page)
      : owner_(owner), device_(device), stream_(stream), program_(device, image.code, std::move(image.record)), l2_bytes_(l2_bytes), protocol_(protocol), page_(page) {}

  std::optional<Rejection> find_unmet(const Algorithm& algorithm, const std::vector<std::vector<std::int64_t>>& extents) override {
    const auto unmet = cuda::find_unmet(program_.record(), cuda::extents_by_argument(algorithm, extents));
    if (!unmet) return std::nullopt;
    return Rejection{Reason::run_error, std::nullopt, std::nullopt, *unmet};
  }

  std::unique_ptr<CheckedCall> checked_call(const Algorithm& algorithm, const Inputs& inputs, const CheckOptions&) override {
    return std::make_unique<GpuCall>(device_, stream_, program_, algorithm, inputs, owner_.originals(algorithm, inputs), page_);
  }

  std::unique_ptr<TimedKernel> timed_kernel(CallRotation& rotation, std::int64_t id) override {
    return std::make_unique<GpuKernel>(program_, dynamic_cast<GpuRotation&>(rotation), protocol_, page_, id);
  }

  ClocksOutcome clocks(const Algorithm& algorithm, const Inputs& inputs) override {
    ClocksOutcome outcome;
    std::optional<driver::Hold> hold;
    try {
      hold.emplace(device_);
    } catch (const driver::DriverError& error) {
      outcome.absent = error.what();
      return outcome;
    }
    try {
      for (const Cache cache : {Cache::hot, Cache::cold}) {
        GpuRotation rotation(device_, stream_, algorithm, inputs, owner_.originals(algorithm, inputs), cache, l2_bytes_);
        const std::vector<Clocks> taken = measure_clocks(program_, rotation, *hold, {protocol_, cache, page_});
        outcome.clocks.insert(outcome.clocks.end(), taken.begin(), taken.end());
      }
    } catch (const driver::DriverError& error) {
      outcome.rejection = Rejection{Reason::run_error, std::nullopt, std::nullopt, fmt::format("a timed call failed: {}", words_of(error, stream_, page_))};
    }
    return outcome;
  }

 private:
  GpuDevice& owner_;
  driver::OpenDevice device_;
  driver::Stream stream_;
  cuda::LoadedProgram program_;
  std::int64_t l2_bytes_;
  const Protocol& protocol_;
  SharedPage& page_;
};

int ordinal_of(const driver::Driver& driver, const Device& facts) {
  std::string seen;
  for (int ordinal = 0; ordinal < driver.devices(); ++ordinal) {
    const Device device = driver.device(ordinal);
    if (digest(device) == digest(facts)) return ordinal;
    seen += fmt::format("{}{}", seen.empty() ? "" : ", ", device.model);
  }
  throw EnvironmentError(fmt::format("no GPU here is the {} of this run: {}", facts.model, seen.empty() ? "there is none" : "there are " + seen));
}

}  // namespace

GpuDevice::GpuDevice(const Device& facts, const Protocol& protocol, SharedPage& page)
    : driver_(driver::Driver::load()),
      device_(driver_, ordinal_of(driver_, facts)),
      stream_(device_),
      l2_bytes_(facts.gpu->l2_bytes),
      protocol_(protocol),
      page_(page) {}

std::unique_ptr<LoadedCandidate> GpuDevice::load(const ObjectRef& object, const Objects& objects) {
  return std::make_unique<GpuCandidate>(*this, device_, stream_, cuda::unpack(objects.object(object.hash)), l2_bytes_, protocol_, page_);
}

std::unique_ptr<CallRotation> GpuDevice::rotation(const Algorithm& algorithm, const Inputs& inputs) {
  return std::make_unique<GpuRotation>(device_, stream_, algorithm, inputs, originals(algorithm, inputs), protocol_.cache, l2_bytes_);
}

std::shared_ptr<const GpuOriginals> GpuDevice::originals(const Algorithm& algorithm, const Inputs& inputs) {
  for (auto at = originals_.begin(); at != originals_.end(); ++at) {
    if (at->first != inputs.serial) continue;
    originals_.splice(originals_.begin(), originals_, at);
    return at->second;
  }
  if (originals_.size() >= kOriginals) originals_.pop_back();
  originals_.emplace_front(inputs.serial, std::make_shared<const GpuOriginals>(device_, stream_, algorithm, inputs));
  return originals_.front().second;
}

// A device that was lost, or whose context a kernel has broken, fails here.
std::string GpuDevice::find_health_complaint() {
  constexpr std::size_t kBytes = 1 << 20;
  try {
    const driver::DeviceMemory memory(device_, kBytes);
    std::vector<std::uint8_t> read(kBytes);
    for (const std::uint8_t byte : {std::uint8_t{0x5A}, std::uint8_t{0xC3}}) {
      stream_.fill(memory.address(), byte, kBytes);
      stream_.read(read.data(), memory.address(), kBytes);
      const auto wrong = std::count_if(read.begin(), read.end(), [byte](std::uint8_t got) { return got != byte; });
      if (wrong > 0) return fmt::format("{} of {} bytes that the device wrote come back as others", wrong, kBytes);
    }
    return {};
  } catch (const driver::DriverError& error) {
    return error.what();
  }
}

std::unique_ptr<MeasuredDevice> open_gpu(const MeasuredRequest& request) {
  try {
    return std::make_unique<GpuDevice>(request.facts, request.protocol, request.page);
  } catch (const driver::DriverError& error) {
    throw EnvironmentError(fmt::format("{} cannot be used: {}", request.facts.model, error.what()));
  }
}

}  // namespace kiln::autotune
