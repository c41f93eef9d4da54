// The generic variants of a CPU: builds that are right for every extent.
#include <fmt/format.h>

#include <algorithm>

#include "autotune/builds.h"
#include "autotune/compile_pool.h"
#include "autotune/coverage.h"
#include "autotune/records.h"
#include "autotune/sweep.h"
#include "db/artifacts.h"
#include "db/coverage.h"
#include "generators/host/host.h"
#include "schedules/spaces.h"

namespace kiln::autotune {
namespace {

using generators::host::Isa;

// A generic build takes pointers that are aligned to one element only.
int element_bytes(const Algorithm& algorithm) {
  int least = 64;
  for (const Argument& argument : algorithm.arguments)
    if (!argument.is_scalar) least = std::min(least, argument.type.bytes());
  return least;
}

class GenericBuilder {
 public:
  GenericBuilder(Run& run, CompilePool& pool, const WorkItem& item, ObjectRef reference) : run_(run), pool_(pool), item_(item), reference_(std::move(reference)) {}

  void cover(Isa isa) {
    const Schedule schedule = schedules::any_extent_schedule(*item_.algorithm, run_.device);
    const std::string target = generators::host::target_string(run_.device, isa, item_.algorithm->contract);
    const Digest key = generators::host::build_key(*item_.algorithm, schedule, item_.problem, target);
    for (const db::CoverageRow& row : coverage(run_.store, item_.algorithm_id, run_.device_id))
      if (row.tier == "generic" && db::build(run_.store, row.build, row.problem).row.key == key) return;  // covered by an earlier run

    CompileJob job;
    job.algorithm = item_.algorithm;
    job.schedule = print(schedule);
    job.problem = item_.problem;
    job.isa = isa;
    job.limit_s = run_.limits.build_s;
    std::optional<CompileOutcome> outcome;
    pool_.run({job}, [](std::int64_t) {}, [&](CompileOutcome done) { outcome = std::move(done); });
    if (!outcome) return;
    if (outcome->build.rejection) return complain(target, outcome->build.rejection->text);
    const Sweep found = sweep(run_, item_, reference_, *outcome->object, generic_cases(item_.problem, *item_.algorithm), element_bytes(*item_.algorithm));
    if (!found.failure.empty()) return complain(target, found.failure);
    db::Transaction all = run_.store.transaction("record a generic build in");
    record(schedule, *outcome, found);
    all.commit();
  }

 private:
  void record(const Schedule& schedule, const CompileOutcome& outcome, const Sweep& found) {
    db::ScheduleRow row;
    row.digest = digest(schedule);
    row.algorithm = item_.algorithm_id;
    row.text = print(schedule);
    row.origin = "seed";
    row.numerics_class = numerics_class(schedule, *item_.algorithm);
    const db::ScheduleId schedule_id = keep(run_.store, row);
    const db::BuildId build = record_build(run_.store, item_.problem_id,
                                           build_row(outcome.build, outcome.object, schedule_id, run_.toolchain_id, run_.device_id));
    put_artifact(run_.store, "object", outcome.build.artifact->bytes);
    record_coverage(run_.store, {.tier = "generic",
                                 .build = build,
                                 .problem = item_.problem_id,
                                 .device = run_.device_id,
                                 .extents = {},
                                 .checked = found.checked,
                                 .max_error = found.max_error});
  }

  void complain(const std::string& target, const std::string& why) const {
    run_.note("no_generic", fmt::format("{}: no generic variant for {}: {}", item_.problem.operator_name, target, why));
  }

  Run& run_;
  CompilePool& pool_;
  const WorkItem& item_;
  ObjectRef reference_;
};

}  // namespace

void cover_every_extent(Run& run, CompilePool& pool, const std::vector<Tuning>& tunings) {
  for (const auto& [algorithm, items] : by_algorithm(tunings)) {
    if (run.is_stopped()) return;
    const ObjectRef reference = run.builds.reference(run, *items.front());
    GenericBuilder generic(run, pool, *items.front(), reference);
    generic.cover(Isa::x86_64_v2);
    generic.cover(Isa::native);
  }
}

}  // namespace kiln::autotune
