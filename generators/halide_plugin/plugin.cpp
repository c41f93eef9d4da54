// libautoschedule_kiln.so: the autoscheduler `Kiln` of Halide's own builds. It searches nothing: it looks up what a store has chosen for the
// pipeline's structure and estimates, and applies that schedule.
//   autoscheduler=Kiln autoscheduler.db=night.db [autoscheduler.missing=nearest|error] [autoscheduler.device=3f2a…]
#include <Halide.h>

#include <fmt/format.h>

#include <iostream>

#include "db/store.h"
#include "dsl/autoschedulers.h"
#include "dsl/error.h"
#include "generators/halide_plugin/chosen.h"
#include "generators/halide_plugin/source.h"

namespace kiln::generators::halide_plugin {
namespace {

Request read_request(const Halide::AutoschedulerParams& params) {
  Request request;
  for (const auto& [key, value] : params.extra) {
    if (key == "db") {
      request.db = value;
    } else if (key == "device") {
      request.device = value;
    } else if (key == "missing" && (value == "nearest" || value == "error")) {
      request.missing = value == "error" ? Missing::error : Missing::nearest;
    } else if (key == "missing") {
      throw UsageError(fmt::format("autoscheduler.missing is '{}'; it is one of nearest, error", value));
    } else {
      throw UsageError(fmt::format("autoscheduler Kiln knows no '{}'; it takes autoscheduler.db, autoscheduler.missing and autoscheduler.device", key));
    }
  }
  if (request.db.empty()) throw UsageError("autoscheduler Kiln needs a store: autoscheduler.db=FILE");
  return request;
}

// A choice can be what another autoscheduler makes: that one makes it again.
void delegate(const Halide::Pipeline& pipeline, const Halide::Target& target, const Chosen& chosen, Halide::AutoSchedulerResults* results) {
  const Directive& directive = chosen.schedule.directives.front();
  if (directive.name != "autoschedule")
    throw UsageError(fmt::format("what is chosen for {} is the generator's own schedule: build it without an autoscheduler", chosen.problem));
  *results = Halide::Pipeline(pipeline).apply_autoscheduler(target, load_autoscheduler(directive));
}

void schedule_from_store(const Halide::Pipeline& pipeline, const Halide::Target& target, const Halide::AutoschedulerParams& params,
                         Halide::AutoSchedulerResults* results) {
  const Request request = read_request(params);
  db::Store store(request.db, {.access = db::Access::read_only, .now = {}});
  LivePipeline live = read_live(pipeline);
  const Chosen chosen = choose_for(store, live, request);
  if (chosen.warning) std::cerr << "Warning: " << *chosen.warning << "\n";
  if (chosen.schedule.is_opaque()) {
    delegate(pipeline, target, chosen, results);
  } else {
    apply_live(chosen.schedule, live);
    results->schedule_source = schedule_source(pipeline, live, chosen.schedule);
  }
  results->target = target;
  results->autoscheduler_params = params;
  results->schedule_source.insert(0, fmt::format("// Chosen by Kiln for {}\n", chosen.problem));
}

// Halide's callers know Halide's errors only.
void run(const Halide::Pipeline& pipeline, const Halide::Target& target, const Halide::AutoschedulerParams& params, Halide::AutoSchedulerResults* results) {
  try {
    schedule_from_store(pipeline, target, params, results);
  } catch (const std::exception& error) {
    throw Halide::CompileError(fmt::format("Error: autoscheduler Kiln: {}\n", error.what()));
  }
}

// Loaded twice, from two places, the second is the same autoscheduler, and Halide's refusal would end the process. It has no question to ask before.
struct Register {
  Register() {
    try {
      Halide::Pipeline::add_autoscheduler("Kiln", run);
    } catch (const Halide::Error& error) {
      if (std::string_view(error.what()).find("already registered") == std::string_view::npos) throw;
    }
  }
} at_load;

}  // namespace
}  // namespace kiln::generators::halide_plugin
