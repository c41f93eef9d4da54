#include "generators/host/opaque.h"

#include "dsl/autoschedulers.h"

namespace kiln::generators::host {

Pipeline rebuild_opaque(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const Halide::Target& target) {
  const Directive& directive = schedule.directives.front();
  if (directive.name == "own_schedule") return rebuild_own(algorithm);
  const Halide::AutoschedulerParams arguments = load_autoscheduler(directive);
  Pipeline pipeline = rebuild(algorithm);
  set_estimates(pipeline, algorithm, problem);
  pipeline.pipeline.apply_autoscheduler(target, arguments);
  return pipeline;
}

}  // namespace kiln::generators::host
