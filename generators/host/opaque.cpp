#include "generators/host/opaque.h"

#include <cstdlib>

#include "dsl/autoschedulers.h"
#include "dsl/error.h"

namespace kiln::generators::host {
namespace {

constexpr const char* kPermitFailedUnroll = "HL_PERMIT_FAILED_UNROLL";

// Linux gives AMX only to a process that asks for it, and neither the tuner nor a package does.
Pipeline without_tiles(Pipeline pipeline) {
  for (auto& [name, stage] : pipeline.stages)
    if (stage.function().schedule().memory_type() == Halide::MemoryType::AMXTile)
      throw ScheduleError("`" + name + "` is stored in AMX tiles, which Kiln does not build for: a call would end the process");
  return pipeline;
}

}  // namespace

Pipeline rebuild_opaque(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const Halide::Target& target) {
  const Directive& directive = schedule.directives.front();
  if (directive.name == "own_schedule") return without_tiles(rebuild_own(algorithm));
  const Halide::AutoschedulerParams arguments = load_autoscheduler(directive);
  Pipeline pipeline = rebuild(algorithm);
  set_estimates(pipeline, algorithm, problem);
  pipeline.pipeline.apply_autoscheduler(target, arguments);
  return pipeline;
}

OpenUnrolls::OpenUnrolls(const Schedule& schedule) {
  const bool is_autoscheduled = schedule.is_opaque() && schedule.directives.front().name == "autoschedule";
  was_set_here_ = is_autoscheduled && std::getenv(kPermitFailedUnroll) == nullptr && setenv(kPermitFailedUnroll, "1", 0) == 0;
}

OpenUnrolls::~OpenUnrolls() {
  if (was_set_here_) unsetenv(kPermitFailedUnroll);
}

}  // namespace kiln::generators::host
