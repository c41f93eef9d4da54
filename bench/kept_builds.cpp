#include "bench/kept_builds.h"

#include "autotune/compiled_builds.h"
#include "autotune/process/messages.h"
#include "dsl/error.h"
#include "generators/host/host.h"

namespace kiln::bench {

namespace host = generators::host;
using autotune::CompileJob;
using autotune::CompileOutcome;
using autotune::Json;

CompileOutcome KeptBuilds::build(const std::shared_ptr<const Algorithm>& algorithm, const Problem& problem, const Schedule& schedule) {
  const Digest key = host::build_key(*algorithm, schedule, problem, host::target_string(device_, host::Isa::native, algorithm->contract));
  const std::filesystem::path file = folder_ / "outcomes" / (key.hex() + ".json");
  if (std::filesystem::exists(file)) {
    const Json kept = Json::parse(autotune::read_whole(file));
    CompileOutcome outcome;
    outcome.build = autotune::build_from_json(kept.at("build"));
    if (!kept.at("object").is_null()) outcome.object = autotune::object_from_json(kept.at("object"));
    if (!outcome.object || objects_.has_object(outcome.object->hash)) return outcome;
  }
  autotune::WorkItem item;
  item.algorithm = algorithm;
  item.problem = problem;
  CompileOutcome outcome = run(autotune::job_for(autotune::Limits{}, item, schedule, 0));
  const Json object = outcome.object ? autotune::to_json(*outcome.object) : Json(nullptr);
  autotune::write_whole(file, Json{{"build", autotune::to_json(outcome.build)}, {"object", object}}.dump());
  return outcome;
}

autotune::ObjectRef KeptBuilds::reference(const std::shared_ptr<const Algorithm>& algorithm) {
  CompileJob job;
  job.what = CompileJob::What::reference;
  job.algorithm = algorithm;
  job.limit_s = autotune::Limits{}.autoschedule_s;
  const CompileOutcome outcome = run(std::move(job));
  if (!outcome.object) throw Error("the reference of " + algorithm->generator + " cannot be built: " + outcome.build.rejection.value().text);
  return *outcome.object;
}

CompileOutcome KeptBuilds::run(CompileJob job) {
  std::optional<CompileOutcome> outcome;
  pool_.run({std::move(job)}, [](std::int64_t) {}, [&](CompileOutcome done) { outcome = std::move(done); });
  KILN_CHECK(outcome.has_value(), "a compile pool without a stop gave no outcome");
  return *std::move(outcome);
}

}  // namespace kiln::bench
