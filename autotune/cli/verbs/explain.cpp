// kiln explain
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "autotune/cli/arguments.h"
#include "autotune/cli/open_store.h"
#include "autotune/cli/pages/explain.h"
#include "autotune/cli/pages/explain_gpu.h"
#include "autotune/cli/pages/rows.h"
#include "autotune/cli/pages/tried_on.h"
#include "autotune/cli/print.h"
#include "autotune/cli/read_text.h"
#include "autotune/cli/verbs/verbs.h"
#include "autotune/probe.h"
#include "autotune/process/objects.h"
#include "dsl/error.h"
#include "generators/cuda/image.h"
#include "generators/cuda/lower.h"
#include "generators/cuda/predict_time.h"
#include "schedules/devices.h"

namespace kiln::autotune::cli {
namespace {

namespace cuda = generators::cuda;

struct Flags {
  std::string candidate, schedule_file, problem, device, threads, cubin_file;
  bool emulate = false, text = false;
  std::vector<std::string> libraries;
};

void require_one_subject(const Flags& flags) {
  if (flags.candidate.empty() == flags.schedule_file.empty())
    throw UsageError("`kiln explain` needs a CANDIDATE of the store, or --schedule FILE with --problem P");
  if (!flags.schedule_file.empty() && flags.problem.empty()) throw UsageError("--schedule needs --problem P: what is the schedule for?");
}

Schedule read_schedule(const std::string& file) {
  try {
    return parse_schedule(read_text(file));
  } catch (const ScheduleError& error) {
    throw ScheduleError(fmt::format("while reading schedule file '{}', {}", file, error.what()));
  }
}

// This machine's processor, a device that is here, or one by name.
Device device_of(const std::string& name) {
  if (name.empty()) return probe().device;
  if (const schedules::NamedDevice* known = schedules::find_device(name)) return known->device;
  return probe({}, name).device;
}

// What a candidate is, on which device, and how it fared before on one of that kind.
struct Named {
  ExplainSubject subject;
  Device device;
  std::optional<KnownTime> known;
};

Named named(const Flags& flags, const Common& common) {
  if (!flags.schedule_file.empty()) {
    const Device device = device_of(flags.device);
    Reader reader(flags.libraries, device);
    return {read_subject(reader, flags.problem, read_schedule(flags.schedule_file)), device, {}};
  }
  db::Store store = open_to_read(common);
  const db::CandidateName name = one_candidate(store, flags.candidate, flags.problem);
  const std::optional<Device> gpu = flags.device.empty() ? gpu_tried_on(store, name) : std::nullopt;
  const Device device = gpu ? *gpu : device_of(flags.device);
  return {stored_subject(store, name.schedule, name.problem), device, known_time(store, name.schedule, name.problem, device.gpu ? "cuda" : "cpu")};
}

Explanation explain(const Flags& flags, Named named) {
  Explanation explanation;
  explanation.device = named.device;
  explanation.threads = flags.threads.empty() ? named.device.cores : static_cast<int>(parse_whole("--threads", flags.threads, 1, 4096));
  explanation.subject = std::move(named.subject);
  explanation.known = std::move(named.known);
  explanation.costs = costs_of(explanation.subject, explanation.device);
  explanation.build = build_once(explanation.subject, explanation.device);
  explanation.advice = advise(explanation.build, explanation.device, explanation.threads, element_bytes_of(*explanation.subject.algorithm),
                              explanation.costs.least);
  return explanation;
}

std::string text_of(const ExplainSubject& subject, const Gpu& gpu) {
  return cuda::lower(*subject.algorithm, subject.schedule, subject.problem, capability_of(gpu)).text();
}

std::vector<ExpectedTime> expected_times(const ExplainSubject& subject, const std::vector<generators::KernelResources>& kernels, const Gpu& gpu) {
  std::vector<ExpectedTime> times;
  const std::vector<cuda::KernelPlan> plans = cuda::plan_kernels(*subject.algorithm, subject.schedule, subject.problem, capability_of(gpu));
  for (std::size_t i = 0; i < plans.size() && i < kernels.size(); ++i)
    if (const auto time = cuda::predict_time(plans[i], gpu)) times.push_back({kernels[i].name, cuda::work_of(*plans[i].ring()), *time});
  return times;
}

GpuExplanation explain_gpu(const Flags& flags, Named named) {
  GpuExplanation explanation{std::move(named.subject), named.device, {}, {}, {}, std::move(named.known)};
  explanation.build = build_once(explanation.subject, explanation.device);
  if (explanation.build.predicted) explanation.times = expected_times(explanation.subject, explanation.build.predicted->kernels, *explanation.device.gpu);
  explanation.expected_ns = cuda::predict_ns(*explanation.subject.algorithm, explanation.subject.schedule, explanation.subject.problem, *explanation.device.gpu);
  if (flags.text && explanation.build.predicted) explanation.text = text_of(explanation.subject, *explanation.device.gpu);
  if (!flags.cubin_file.empty() && explanation.build.artifact) write_whole(flags.cubin_file, cuda::unpack(explanation.build.artifact->bytes).code);
  if (flags.emulate && !explanation.build.rejection) explanation.emulation = emulate_once(explanation.subject, explanation.device);
  return explanation;
}

int run(const Flags& flags, const Common& common) {
  require_one_subject(flags);
  Named subject = named(flags, common);
  if ((flags.emulate || flags.text || !flags.cubin_file.empty()) && !subject.device.gpu)
    throw UsageError(fmt::format("--emulate, --text and --cubin are of a GPU's kernels; {} is a CPU: --device h200 names a GPU", subject.device.model));
  if (subject.device.gpu) {
    const GpuExplanation explanation = explain_gpu(flags, std::move(subject));
    print_result(common.json ? explanation_json(explanation) : print_explanation(explanation));
    return explanation.build.rejection || (explanation.emulation && (explanation.emulation->rejection || !explanation.emulation->too_large.empty())) ? kNegative : kDone;
  }
  const Explanation explanation = explain(flags, std::move(subject));
  print_result(common.json ? explanation_json(explanation) : print_explanation(explanation));
  return explanation.build.rejection ? kNegative : kDone;
}

}  // namespace

Action declare_explain(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("CANDIDATE", flags->candidate, "of the store, by the beginning of its digest");
  app.add_option("--schedule", flags->schedule_file, "or a schedule from a file; needs no store")->option_text("FILE");
  app.add_option("--problem", flags->problem, "what the schedule is for, as in 'matmul(m=256, n=1024, k=1024)'")->option_text("P");
  app.add_option("--load", flags->libraries, "a shared library with generators; may be repeated")->option_text("LIB")->allow_extra_args(false);
  app.add_option("--threads", flags->threads, "threads that a call may use (default: the usable cores)")->option_text("N");
  app.add_option("--device", flags->device, "cpu, cuda:0, or a GPU by name: h100, h200, sm_80 (default: the GPU that CANDIDATE was tried on, else cpu)")->option_text("NAME");
  app.add_flag("--text", flags->text, "also print the CUDA text of a GPU's kernels");
  app.add_option("--cubin", flags->cubin_file, "write what a GPU's kernels were compiled to, as for nvdisasm")->option_text("FILE");
  app.add_flag("--emulate", flags->emulate, "also run a GPU's kernels in the emulator, against the reference");
  return [flags](const Common& common) { return run(*flags, common); };
}

}  // namespace kiln::autotune::cli
