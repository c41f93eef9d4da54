#include "autotune/worker/emulated_candidate.h"

#include <algorithm>

#include <fmt/format.h>

#include "dsl/error.h"

namespace kiln::autotune {
namespace {

namespace cuda = generators::cuda;
using generators::Reason;
using generators::Rejection;

constexpr unsigned kOrders = 4;  // of a call

class EmulatedCall : public CheckedCall {
 public:
  EmulatedCall(const cuda::Emulated& program, const Algorithm& algorithm, const Inputs& inputs, unsigned first_order)
      : program_(program), algorithm_(algorithm), inputs_(inputs), first_order_(first_order) {
    for (std::size_t i = 0; i < algorithm.arguments.size(); ++i) {
      const Argument& argument = algorithm.arguments[i];
      if (argument.is_scalar) call_.scalars[argument.name] = inputs.bytes[i];
      else if (argument.is_output) call_.outputs[argument.name].resize(bytes_of(inputs.extents[i], argument.type));
      else call_.inputs[argument.name] = inputs.bytes[i];
    }
    call_.extents = cuda::extents_by_argument(algorithm, inputs.extents);
  }

  // The emulator knows itself which bytes were written.
  void reset(std::byte) override {}

  std::optional<std::string> run(double& ns) override {
    ns = 0;
    std::map<std::string, std::vector<std::byte>> first;
    for (unsigned order = first_order_; order < first_order_ + kOrders; ++order) {
      if (std::string fault = program_.run(call_, order); !fault.empty()) return fmt::format("{} (order {})", fault, order);
      if (order == first_order_) first = call_.outputs;
      else if (first != call_.outputs) return fmt::format("orders {} and {} give different bits", first_order_, order);
    }
    return std::nullopt;
  }

  Reason failure() const override { return Reason::emulator_fault; }

  // It names stores outside a buffer, and into an input, while they happen.
  std::optional<std::string> find_damage() override { return std::nullopt; }

  OutputView output(std::size_t argument) override {
    const Argument& output = algorithm_.arguments[argument];
    return {call_.outputs.at(output.name).data(), output.type, inputs_.extents[argument]};
  }

 private:
  const cuda::Emulated& program_;
  const Algorithm& algorithm_;
  const Inputs& inputs_;
  unsigned first_order_;
  cuda::Emulated::Call call_;
};

}  // namespace

std::optional<Rejection> EmulatedCandidate::find_unmet(const Algorithm& algorithm, const std::vector<std::vector<std::int64_t>>& extents) {
  const cuda::Extents by_argument = cuda::extents_by_argument(algorithm, extents);
  if (const auto unmet = cuda::find_unmet(program_.record(), by_argument)) return Rejection{Reason::run_error, std::nullopt, std::nullopt, *unmet};
  if (cuda::Emulated::takes(program_.record(), by_argument)) return std::nullopt;
  return Rejection{Reason::run_error, std::nullopt, std::nullopt,
                   fmt::format("the emulator takes {} blocks and {} threads at once", generators::cuda::emulator::kMostBlocks, generators::cuda::emulator::kMostThreads)};
}

std::unique_ptr<CheckedCall> EmulatedCandidate::checked_call(const Algorithm& algorithm, const Inputs& inputs, const CheckOptions&) {
  return std::make_unique<EmulatedCall>(program_, algorithm, inputs, kOrders * calls_++);
}

std::unique_ptr<TimedKernel> EmulatedCandidate::timed_kernel(CallRotation&, std::int64_t) { KILN_CHECK(false, "an emulated kernel was to be timed"); }

}  // namespace kiln::autotune
