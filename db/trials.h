// Trials: one candidate's way through a run. Committed as `running` before anything is launched; failures are rows like successes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/store.h"

namespace kiln::db {

// The words a rejection may carry, in the order in which they are shown.
inline constexpr const char* kReasons[] = {
    "schedule_error", "over_shared",   "over_registers",  "over_threads",   "over_scratch",   "over_grid",    "bad_alignment",    "numerics",
    "spills",         "compile_error", "compile_timeout", "compiler_crash", "emulator_fault", "wrong_result", "nondeterministic", "run_error",
    "run_timeout",    "worker_crash",  "device_lost",     "implausible",    "cut_slow",       "same_as_build"};

// A new trial, `planned`. Its attempt is one more than the candidate's last in this run, or than that of a suspect it retries.
TrialId plan_trial(Store& store, RunId run, ProblemId problem, ScheduleId schedule);
void attach_build(Store& store, TrialId trial, BuildId build);
void start_trial(Store& store, TrialId trial);    // `running`: committed when this returns, so launch after it
void requeue_trial(Store& store, TrialId trial);  // back to `planned`: an innocent whose worker died of another
void finish_trial(Store& store, TrialId trial);   // done, ok; needs a build. Like reject_trial, closes the candidate's suspect
void reject_trial(Store& store, TrialId trial, const RejectionRow& rejection);

// plan + attach + reject in one commit: for what is pruned or does not compile.
TrialId record_rejected(Store& store, RunId run, ProblemId problem, ScheduleId schedule, std::optional<BuildId> build, const RejectionRow& rejection);

struct TrialRow {
  TrialId id{};
  RunId run{};
  ProblemId problem{};
  ScheduleId schedule{};
  int attempt = 1;
  std::optional<BuildId> build;
  std::string state;                      // planned · running · suspect · done
  std::optional<RejectionRow> rejection;  // done and no rejection: ok
  std::string planned;
  std::optional<std::string> started, ended;
};
TrialRow trial(Store& store, TrialId id);
std::vector<TrialRow> trials(Store& store, RunId run);
std::vector<TrialRow> trials_of(Store& store, ProblemId problem, ScheduleId schedule);  // newest first
std::vector<DeviceId> devices_of(Store& store, ProblemId problem, ScheduleId schedule);  // that it was tried on, the latest first

// What a resumed run compares by.
struct ResultKey {
  ProblemId problem{};
  DeviceId device{};
  ToolchainId toolchain{};
  ProtocolId protocol{};
};

// Candidates that died with their process and were not tried again: each is retried once, alone, last.
struct Suspect {
  TrialId trial{};
  ProblemId problem{};
  ScheduleId schedule{};
  int attempt = 1;
};
std::vector<Suspect> suspects(Store& store, DeviceId device, ToolchainId toolchain);

// One row a schedule that needs no second try under `key`: the latest own outcome. A rejection from building or checking counts under any
// protocol, one from running or timing only under the key's; device_lost never counts. An ok trial that was not timed under the key's
// protocol has no stage.
struct KnownOutcome {
  TrialId trial{};
  ScheduleId schedule{};
  Digest digest;
  std::optional<BuildId> build;
  std::optional<RejectionRow> rejection;
  std::string stage;                      // the furthest timed: screen · rank · final · revalidate; empty: not timed
  std::optional<double> ratio, value_ns;  // of its latest measurement in that stage, clean or not
  bool clean = false;                     // whether that one was clean
};
std::vector<KnownOutcome> known_outcomes(Store& store, const ResultKey& key);

// Results that came with a merge and were not adopted: seeds for search, best ratio first; never chosen.
struct Hint {
  ScheduleId schedule{};
  double ratio = 1;
};
std::vector<Hint> hints(Store& store, AlgorithmId algorithm);

struct VerificationRow {
  std::string what = "candidate";      // candidate · exported
  std::string reference, tolerance;    // as text
  int cases = 1;
  bool passed = false;
  bool bit_exact = false;
  std::optional<double> max_error;     // of the worst output, as a multiple of its budget
  std::string worst_output;            // with its index: "y[3,17]"; empty: none
};
void record_verification(Store& store, TrialId trial, const VerificationRow& row);
std::vector<VerificationRow> verifications(Store& store, TrialId trial);
bool is_verified(Store& store, TrialId trial);  // a passed check of the candidate, and none of any kind failed

}  // namespace kiln::db
