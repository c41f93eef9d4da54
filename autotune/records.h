// The session's values as the store's rows, and back where the session reads them. No logic beyond naming.
#pragma once

#include <string>

#include "autotune/measurer.h"
#include "autotune/probe.h"
#include "db/builds.h"
#include "db/identities.h"
#include "db/races.h"
#include "db/runs.h"
#include "db/trials.h"
#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/problem.h"
#include "dsl/schedule.h"
#include "generators/build.h"

namespace kiln::autotune {

db::AlgorithmRow algorithm_row(const Algorithm& algorithm);
db::ProblemRow problem_row(const Problem& problem, const Algorithm& algorithm, db::AlgorithmId id);
db::DeviceRow device_row(const Device& device);

// A run of this process, without a budget.
struct RunKey {
  db::DeviceId device{};
  db::ToolchainId toolchain{};
  db::ProtocolId protocol{};
};
db::RunRow run_row(const RunKey& key, const Conditions& conditions, std::uint64_t seed, const std::string& command);

// The strongest numerics effect of the schedule's directives in this algorithm, as the store ranks them.
std::string numerics_class(const Schedule& schedule, const Algorithm& algorithm);

db::RejectionRow rejection_row(const generators::Rejection& rejection);
generators::Rejection rejection_from(const db::RejectionRow& row);

// `device` is named as the one that decided when a resource of it was exceeded.
db::BuildRow build_row(const generators::Build& build, const std::optional<ObjectRef>& object, db::ScheduleId schedule, db::ToolchainId toolchain,
                       db::DeviceId device);

db::MeasurementRow measurement_row(const RaceResult& result, db::TrialId trial, bool contended);
db::VerificationRow verification_row(const CheckOutcome& outcome, const std::string& tolerance);

}  // namespace kiln::autotune
