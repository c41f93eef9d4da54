#include "autotune/cli/export/verify_role.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "autotune/measure/in_parallel.h"
#include "autotune/measure/measure_messages.h"
#include "autotune/worker/gpu_memory.h"
#include "autotune/worker/prepared_subject.h"
#include "autotune/worker/serve.h"
#include "generators/cuda/driver/driver.h"
#include "generators/package/opened.h"
#include "generators/runtime/host.h"

namespace kiln::autotune::cli {
namespace {

namespace cuda = generators::cuda;
namespace driver = generators::cuda::driver;
using generators::package::BufferView;
using generators::package::CallArgument;
using generators::package::CallOutcome;
using generators::package::GpuCall;
using generators::package::OpenedPackage;

constexpr std::byte kPoison{0xff};  // NaN in every float type: an element that is not written cannot pass

// The same of a call on a GPU.
std::vector<CallArgument> call_arguments(const cuda::CallArguments& call, const Case& made, const Algorithm& algorithm, int gpu) {
  std::vector<CallArgument> arguments(algorithm.arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& declared = algorithm.arguments[i];
    if (declared.is_scalar) {
      arguments[i].scalar = call.scalars.at(declared.name).data();
      continue;
    }
    BufferView& view = arguments[i].buffer;
    view.data = reinterpret_cast<void*>(call.buffers.at(declared.name));  // NOLINT(performance-no-int-to-ptr): an address of the device
    view.type = declared.type;
    view.gpu = gpu;
    view.extents = made.inputs.extents[i];
  }
  return arguments;
}

std::vector<CallArgument> call_arguments(CallMemory& memory, const Algorithm& algorithm) {
  std::vector<CallArgument> arguments(algorithm.arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& declared = algorithm.arguments[i];
    if (declared.is_scalar) {
      arguments[i].scalar = memory.call().argv()[i];
      continue;
    }
    const halide_buffer_t& buffer = memory.call().buffer(i);
    BufferView& view = arguments[i].buffer;
    view.data = buffer.host;
    view.type = declared.type;
    for (int d = 0; d < buffer.dimensions; ++d) {
      view.extents.push_back(buffer.dim[d].extent);
      view.strides.push_back(buffer.dim[d].stride);
    }
  }
  return arguments;
}

template <class Memory>
VerifyOutcome compare_outputs(Memory& memory, const Case& made, const Algorithm& algorithm) {
  VerifyOutcome outcome;
  outcome.bit_exact = true;
  for (std::size_t i = 0; i < made.truth.size(); ++i) {
    const OutputTruth& truth = made.truth[i];
    const std::string& name = algorithm.arguments[truth.argument].name;
    const Comparison comparison = compare(memory.output(truth.argument), truth, made.tolerances[i]);
    if (comparison.worst) {
      outcome.max_error = std::max(outcome.max_error, comparison.worst->severity);
      outcome.bit_exact &= comparison.worst->severity == 0;
    }
    if (!comparison.passes) outcome.failure = comparison.worst ? describe(*comparison.worst, name, {}) : "output " + name + " differs";
  }
  if (const auto damage = memory.find_damage()) outcome.failure = *damage;
  return outcome;
}

VerifyOutcome refused(const CallOutcome& called) {
  VerifyOutcome outcome;
  outcome.failure = fmt::format("code {}: {}", called.code, called.text);
  return outcome;
}

VerifyOutcome verify_on_gpu(const OpenedPackage& package, const std::string& entry, int variant, const Algorithm& algorithm, const Case& made, int ordinal) {
  const driver::OpenDevice device(driver::Driver::load(), ordinal);
  const driver::Stream stream(device);
  GpuMemory memory(device, stream, algorithm, made.inputs, std::make_shared<const GpuOriginals>(device, stream, algorithm, made.inputs), false);
  memory.reset(kPoison);
  std::optional<driver::DeviceMemory> workspace;
  const GpuCall gpu{stream.handle(), [&](std::size_t bytes) {
                      workspace.emplace(device, bytes);
                      return reinterpret_cast<void*>(workspace->address());  // NOLINT(performance-no-int-to-ptr): an address of the device
                    }};
  const cuda::CallArguments call = memory.arguments();
  const CallOutcome called = package.call(entry, variant, call_arguments(call, made, algorithm, ordinal), gpu);
  if (called.code != 0) return refused(called);
  stream.wait();
  return compare_outputs(memory, made, algorithm);
}

VerifyOutcome verify(const autotune::Json& body) {
  kiln_host_start(usable_processors());  // for the reference; the package brings its own threads
  const Objects objects(body.at("cache").get<std::string>());
  PreparedSubject subject(subject_from_json(body.at("subject"), objects), objects);
  const Algorithm& algorithm = subject.algorithm();
  const Case& made = subject.timed();
  const OpenedPackage package(body.at("library").get<std::string>(), body.at("set").get<std::string>(), body.at("threads").get<int>());
  const auto entry = body.at("entry").get<std::string>();
  const int variant = body.at("variant").get<int>();
  if (const int gpu = body.at("gpu").get<int>(); gpu >= 0) return verify_on_gpu(package, entry, variant, algorithm, made, gpu);

  CallMemory memory(algorithm, made.inputs, 1);  // pointers aligned to one element and to nothing more
  memory.reset(kPoison);
  const CallOutcome called = package.call(entry, variant, call_arguments(memory, algorithm));
  if (called.code != 0) return refused(called);
  return compare_outputs(memory, made, algorithm);
}

}  // namespace

autotune::Json verify_request_to_json(const VerifyRequest& request, const Subject& subject, const std::string& algorithm_hash, const std::string& cache_folder) {
  return {{"library", request.library}, {"set", request.set},       {"entry", request.entry}, {"variant", request.variant},
          {"threads", request.threads}, {"gpu", request.gpu.value_or(-1)}, {"cache", cache_folder}, {"subject", to_json(subject, algorithm_hash)}};
}

VerifyOutcome verify_outcome_from_json(const autotune::Json& json) {
  VerifyOutcome outcome;
  json.at("failure").get_to(outcome.failure);
  outcome.max_error = number_from(json.at("max_error"));
  json.at("bit_exact").get_to(outcome.bit_exact);
  return outcome;
}

int run_verify_role(Channel& channel) {
  return serve(channel, {{"verify", [](const autotune::Json& body, const Answer& answer) {
                            const VerifyOutcome outcome = verify(body);
                            answer.send("verified", {{"failure", outcome.failure}, {"max_error", number(outcome.max_error)}, {"bit_exact", outcome.bit_exact}});
                          }}});
}

}  // namespace kiln::autotune::cli
