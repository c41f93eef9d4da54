// A candidate on its way through a run: from a schedule someone proposed to an object that passed its check.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autotune/run.h"
#include "autotune/search/proposer.h"
#include "autotune/work_list.h"
#include "dsl/schedule.h"

namespace kiln::autotune {

// A schedule to try, and who proposed it.
struct Wish {
  Schedule schedule;
  std::string origin;                    // a word of db::ScheduleRow::origin
  std::optional<Suggestion> suggestion;  // of the search, when it was the search
  std::string space;                     // the name of its space, with a suggestion
  bool alone = false;                    // a suspect: retried with nothing else in flight
};

struct Entrant {
  Wish wish;
  Digest digest;                         // of the schedule
  bool may_differ_in_order = false;      // its threads add terms as they come: two calls need not give the same bits
  db::ScheduleId schedule{};
  db::TrialId trial{};
  db::BuildId build{};
  ObjectRef object;
  std::optional<generators::Predicted> predicted;
  std::string directives;                // what an opaque schedule did, when it was built now and can be said
  std::optional<double> ratio;           // time / baseline's, of its latest race
  std::string stage;                     // of that race; empty: not timed yet

  Candidate candidate() const;
};

// What became of a wish: an entrant that is built, or nothing (its rejection is in the store).
struct Admission {
  Wish wish;
  std::optional<Entrant> entrant;
  std::optional<generators::Rejection> rejection;
};

// The reference of an algorithm as an object: built once, found in the cache folder afterwards. Throws UsageError with the compiler's words.
ObjectRef build_reference(Run& run, const WorkItem& item);

// The build of a schedule, with the time and memory that this one may take: an autoscheduler searches before anything is compiled.
CompileJob job_for(const Limits& limits, const WorkItem& item, const Schedule& schedule, std::int64_t id);

// A time-out under a limit shorter than today's for such a schedule: no outcome that keeps from trying again.
bool may_end_now(const db::RejectionRow& rejection, const Schedule& schedule, const Limits& limits);

// Legality, then the compile workers; every step is committed. A build whose key is known is not made again while its object is in the cache.
// An object equal to one that was timed already is rejected as same_as_build. Order of the result is that of the wishes.
std::vector<Admission> build(Run& run, const WorkItem& item, const std::vector<Wish>& wishes);

// Brings back what an earlier run measured: its trial, its object from the cache, the store or the compiler. Nothing when it no longer builds.
std::optional<Entrant> restore(Run& run, const WorkItem& item, const db::KnownOutcome& known);

// What an opaque schedule does, as directives; builds it once more, since the store keeps no more than its object. Empty where directives cannot say it.
std::string directives_of(Run& run, const WorkItem& item, const Schedule& opaque);

// Checks a built entrant against the reference and stores the verdict; its trial stays planned when it passes, and is rejected otherwise.
// One whose first call takes longer than `hopeless_ns` is right as far as that shows, and rejected as cut_slow; 0: none is.
std::optional<generators::Rejection> check(Run& run, const WorkItem& item, const std::string& subject, const Entrant& entrant, double hopeless_ns = 0);

}  // namespace kiln::autotune
