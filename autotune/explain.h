// One candidate looked at closely: what it asks of the machine, before anything is lowered and after. Builds it once and runs nothing.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "autotune/emulate.h"
#include "autotune/process/child.h"
#include "autotune/reader.h"
#include "db/trials.h"
#include "dsl/algorithm.h"
#include "dsl/footprint_read.h"
#include "dsl/least_traffic.h"
#include "dsl/problem.h"
#include "dsl/schedule.h"
#include "generators/build.h"

namespace kiln::autotune {

struct ExplainSubject {
  std::shared_ptr<const Algorithm> algorithm;
  Problem problem;
  Schedule schedule;
};

// Reads the operator that the problem names and completes the problem from its estimates. Throws what the reader and the parsers throw.
ExplainSubject read_subject(Reader& reader, const std::string& problem, const Schedule& schedule);

// What the store keeps of a candidate: no plugin is needed.
ExplainSubject stored_subject(db::Store& store, db::ScheduleId schedule, db::ProblemId problem);

// How the candidate fared when it was timed: its latest outcome under the newest results of its problem, on a device of this kind (cpu, cuda; empty: on any).
// Nothing: never tried.
struct KnownTime {
  db::KnownOutcome outcome;
  std::string device, protocol;
};
std::optional<KnownTime> known_time(db::Store& store, db::ScheduleId schedule, db::ProblemId problem, const std::string& kind = {});

// What algorithm, schedule and problem say without a compiler, with the least that must cross into each cache of the device whatever the schedule.
struct Costs {
  ClosedForms closed;
  std::map<std::string, LeastTraffic> least;  // by cache
};
Costs costs_of(const ExplainSubject& subject, const Device& device);

// Builds in a compile worker whose files are gone afterwards. A crash or a time-out of the compiler is the rejection.
generators::Build build_once(const ExplainSubject& subject, const Device& device, const Launch& launch = {});

// Runs a GPU's candidate in the emulator, in processes whose files are gone afterwards.
Emulation emulate_once(const ExplainSubject& subject, const Device& gpu, const Launch& launch = {});

}  // namespace kiln::autotune
