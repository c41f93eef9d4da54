#include "generators/cuda/build.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "dsl/error.h"
#include "dsl/footprint.h"
#include "dsl/footprint_read.h"
#include "dsl/legality.h"
#include "generators/cuda/compile/compile.h"
#include "generators/cuda/image.h"
#include "generators/cuda/lower.h"
#include "generators/cuda/predict.h"

namespace kiln::generators::cuda {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

const Gpu& gpu_of(const Device& device) {
  if (!device.gpu) throw UsageError(fmt::format("the CUDA back end builds for GPUs; {} is a CPU", device.model));
  return *device.gpu;
}

// A schedule as kernels, or why there are none.
struct Attempt {
  std::optional<Program> program;
  std::optional<Rejection> rejection;
};

Attempt attempt(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const Gpu& gpu) {
  const auto refused = [](std::string text) { return Attempt{{}, Rejection{.reason = Reason::schedule_error, .asked = {}, .allowed = {}, .text = std::move(text)}}; };
  if (schedule.is_opaque()) return refused("own_schedule() and autoschedule() are of CPUs: the CUDA back end makes no kernels of what they do");
  if (const auto illegal = find_illegal(schedule, algorithm, &problem)) return refused(illegal->message);
  try {
    return {lower(algorithm, schedule, problem, capability_of(gpu)), {}};
  } catch (const ScheduleError& error) {
    return refused(error.what());
  }
}

Digest key_of(const Attempt& attempt, const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const std::string& target,
              const std::string& toolchain) {
  std::string text = attempt.program ? "text " + content_digest(attempt.program->text()).hex() + "\nlaunch " + print(launch_record(*attempt.program)) + "\n"
                                     : "algorithm " + digest(algorithm).hex() + "\nschedule " + digest(schedule).hex() + "\nproblem " + print(problem) + "\n";
  text += "target " + target + "\ntoolchain " + digest("toolchain", toolchain).hex() + "\n";
  return digest("build", text);
}

Predicted predicted_of(const Program& program, const Algorithm& algorithm, const Problem& problem, const Gpu& gpu) {
  Predicted predicted;
  // Operations and bytes are the algorithm's own: a kernel repeats none of them but what its plan keeps out of registers.
  if (const ClosedForms forms = read_least_work(algorithm, problem); forms.tree) {
    predicted.flops = flops(*forms.tree);
    predicted.compulsory_bytes = compulsory_bytes(*forms.tree);
  }
  for (const Kernel& kernel : program.kernels) predicted.kernels.push_back(predict(kernel, gpu));
  if (!predicted.kernels.empty()) predicted.parallel_tasks = predicted.kernels.front().blocks;
  return predicted;
}

KernelResources resources_of(const Kernel& kernel, const KernelLaunch& launch, const compile::KernelReport& report, const Gpu& gpu) {
  KernelResources actual;
  actual.name = report.kernel;
  actual.threads = launch.threads;
  actual.blocks = kernel.plan.blocks(gpu.sms);
  actual.registers = report.registers;
  actual.spill_bytes = report.spill_store_bytes;
  actual.shared_bytes = report.shared_bytes + launch.shared_bytes;
  actual.code_bytes = report.code_bytes;
  return with_residency(actual, kernel.plan, gpu);
}

compile::Source source_of(const Program& program, const Gpu& gpu) {
  compile::Source source{program.text(), {}, gpu.arch, !program.is_strict};
  for (const Kernel& kernel : program.kernels) source.kernels.push_back(kernel.text.name);
  return source;
}

}  // namespace

std::string target_string(const Device& device, Contract contract) { return fmt::format("cuda-{}{}", gpu_of(device).arch, contract == Contract::strict ? "-unfused" : ""); }

Digest build_key(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const Device& device, const std::string& toolchain) {
  return key_of(attempt(algorithm, schedule, problem, gpu_of(device)), algorithm, schedule, problem, target_string(device, algorithm.contract), toolchain);
}

Build build(const compile::Nvrtc& nvrtc, const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const Device& device) {
  const Gpu& gpu = gpu_of(device);
  const std::string target = target_string(device, algorithm.contract);
  Build build;
  const auto begun = Clock::now();
  const Attempt made = attempt(algorithm, schedule, problem, gpu);
  build.key = key_of(made, algorithm, schedule, problem, target, compile::toolchain_text(nvrtc));
  build.rejection = made.rejection;
  if (made.program) {
    build.predicted = predicted_of(*made.program, algorithm, problem, gpu);
    build.rejection = find_unfit(*made.program, gpu);
    if (!build.rejection) build.rejection = find_oversized(build.predicted->kernels, gpu);
  }
  build.lower_ms = milliseconds_since(begun);
  if (build.rejection) return build;

  const auto compiling = Clock::now();
  compile::Compiled compiled = compile::compile(nvrtc, source_of(*made.program, gpu));
  build.compile_ms = milliseconds_since(compiling);
  build.log = std::move(compiled.log);
  build.rejection = std::move(compiled.rejection);
  if (build.rejection) return build;
  const LaunchRecord record = launch_record(*made.program);
  Actual actual;
  for (std::size_t i = 0; i < compiled.kernels.size(); ++i)
    actual.kernels.push_back(resources_of(made.program->kernels[i], record.kernels[i], compiled.kernels[i], gpu));
  build.rejection = find_oversized(actual.kernels, gpu);
  build.actual = std::move(actual);
  if (!build.rejection)
    build.artifact = Artifact{.bytes = pack({std::move(compiled.cubin), record}), .symbol = record.kernels.front().name, .target = target, .alignment_bytes = record.alignment_bytes};
  return build;
}

}  // namespace kiln::generators::cuda
