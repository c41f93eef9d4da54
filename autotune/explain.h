// One candidate looked at closely: what it asks of the machine, what binds it, what would help. Builds it once and runs nothing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autotune/process/child.h"
#include "autotune/reader.h"
#include "db/trials.h"
#include "dsl/algorithm.h"
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

// How the candidate fared when it was timed: its latest outcome under the newest results of its problem. Nothing: never tried.
struct KnownTime {
  db::KnownOutcome outcome;
  std::string device, protocol;
};
std::optional<KnownTime> known_time(db::Store& store, db::ScheduleId schedule, db::ProblemId problem);

// Builds in a compile worker whose files are gone afterwards. A crash or a time-out of the compiler is the rejection.
generators::Build build_once(const ExplainSubject& subject, const Device& device, const Launch& launch = {});

// The limiting resource by name and, in sentences with their numbers, what would help; the most useful first.
struct Advice {
  // parallel_tasks · vector_width · registers · compute · l2_bandwidth · l3_bandwidth · memory_bandwidth · unknown, or the reason of a rejection
  std::string binds;
  std::vector<std::string> lines;
};

// Pure. `element_bytes`: of the numbers that are computed; `threads`: what a call may use.
Advice advise(const generators::Build& build, const Device& device, int threads, int element_bytes);

// Bytes of the widest float that the algorithm computes, else of its widest value.
int element_bytes_of(const Algorithm& algorithm);

// FLOPs a byte that comes from memory (absent: a byte of the arguments); nothing when the FLOPs are not known.
std::optional<double> intensity(const generators::Predicted& predicted);

}  // namespace kiln::autotune
