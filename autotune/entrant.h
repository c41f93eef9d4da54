// A candidate on its way through a run: from a schedule someone proposed to an object that passed its check.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autotune/run.h"
#include "autotune/search/proposer.h"
#include "autotune/work_item.h"
#include "db/builds.h"
#include "db/identities.h"
#include "dsl/schedule.h"
#include "generators/report.h"

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

// What is known of a build on its way to be measured.
struct Built {
  db::ScheduleId schedule{};
  db::TrialId trial{};
  db::BuildId build{};
  ObjectRef object;
  std::optional<generators::Predicted> predicted;
};
Entrant entrant_of(const WorkItem& item, const Wish& wish, const Built& built);

// "Mullapudi2016", "Adams2019"; empty for any other schedule.
std::string autoscheduler_of(const Schedule& schedule);

// The time that a build of this schedule may take: an autoscheduler searches before anything is compiled.
double build_limit_s(const Limits& limits, const Schedule& schedule);

db::ScheduleRow schedule_row(const Wish& wish, const WorkItem& item);

// The object of a known build, when its bytes are still at hand; the store's copy is put back into the cache.
std::optional<ObjectRef> object_of(const Run& run, const db::BuildRow& row);

// A time-out under a limit shorter than today's for such a schedule: no outcome that keeps from trying again.
bool may_end_now(const db::RejectionRow& rejection, const Schedule& schedule, const Limits& limits);

// Brings back what an earlier run measured: its trial, its object from the cache, the store or the compiler. Nothing when it no longer builds.
std::optional<Entrant> restore(Run& run, const WorkItem& item, const db::KnownOutcome& known);

// Checks a built entrant against the reference and stores the verdict; its trial stays planned when it passes, and is rejected otherwise.
// One whose first call takes longer than `hopeless_ns` is right as far as that shows, and rejected as cut_slow; 0: none is.
std::optional<generators::Rejection> check(Run& run, const WorkItem& item, const std::string& subject, const Entrant& entrant, double hopeless_ns = 0);

}  // namespace kiln::autotune
