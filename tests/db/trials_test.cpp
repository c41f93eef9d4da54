// A candidate's way through the store: builds, trials, crashes, what a resumed run knows.
#include "db/trials.h"

#include <gtest/gtest.h>

#include "dsl/error.h"
#include "tests/db/sample_store.h"

namespace kiln::db {
namespace {

const Process kGone{999999, "another-boot/pid:[1]/5"};

TEST(Trials, are_committed_as_running_before_launch_and_as_their_outcome_after) {
  SampleStore sample;
  const RunId run = sample.run();
  const ScheduleId schedule = sample.schedule("c.parallel(m)");
  const TrialId id = plan_trial(*sample, run, sample.key.problem, schedule);
  EXPECT_EQ(trial(*sample, id).state, "planned");
  start_trial(*sample, id);
  EXPECT_EQ(trial(*sample, id).state, "running");
  EXPECT_FALSE(sample->connection().in_transaction());
  requeue_trial(*sample, id);
  EXPECT_EQ(trial(*sample, id).state, "planned");
  reject_trial(*sample, id, {"wrong_result", 0.5, 0.25, "y[3] is off"});
  const TrialRow row = trial(*sample, id);
  EXPECT_EQ(row.state, "done");
  EXPECT_EQ(row.rejection, (RejectionRow{"wrong_result", 0.5, 0.25, "y[3] is off"}));
  EXPECT_TRUE(row.ended.has_value());
}

TEST(Trials, join_the_callers_transaction) {
  SampleStore sample;
  const RunId run = sample.run();
  {
    Transaction all = sample->transaction("record a batch in");
    plan_trial(*sample, run, sample.key.problem, sample.schedule("a.unroll(x)"));
  }  // not committed
  EXPECT_TRUE(trials(*sample, run).empty());
  EXPECT_FALSE(find_schedule(*sample, sample.algorithm, digest("schedule", "a.unroll(x)")).has_value());
}

TEST(Trials, of_a_dead_process_become_suspect_and_a_second_death_is_a_worker_crash) {
  SampleStore sample;
  const ScheduleId poison = sample.schedule("poison"), innocent = sample.schedule("innocent");
  const RunId first = sample.run(kGone);
  const TrialId killer = plan_trial(*sample, first, sample.key.problem, poison);
  start_trial(*sample, killer);
  plan_trial(*sample, first, sample.key.problem, innocent);

  Recovery recovery = recover(*sample);
  EXPECT_EQ(recovery.interrupted_runs, 1);
  EXPECT_EQ(recovery.suspects, 1);
  EXPECT_EQ(recovery.crashed, 0);
  EXPECT_EQ(run(*sample, first).state, "interrupted");
  ASSERT_EQ(trials(*sample, first).size(), 1u) << "the planned trial is dropped";
  std::vector<Suspect> found = suspects(*sample, sample.key.device, sample.key.toolchain);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].schedule, poison);
  EXPECT_TRUE(known_outcomes(*sample, sample.key).empty());

  const RunId second = sample.run(kGone);
  const TrialId retry = plan_trial(*sample, second, sample.key.problem, poison);
  EXPECT_EQ(trial(*sample, retry).attempt, 2);
  EXPECT_TRUE(suspects(*sample, sample.key.device, sample.key.toolchain).empty()) << "its retry is under way";
  start_trial(*sample, retry);
  recovery = recover(*sample);
  EXPECT_EQ(recovery.suspects, 0);
  EXPECT_EQ(recovery.crashed, 1);
  EXPECT_EQ(trial(*sample, retry).rejection->reason, "worker_crash");
  EXPECT_EQ(trial(*sample, retry).rejection->text, "its process ended twice while this candidate ran");
  EXPECT_EQ(trial(*sample, killer).rejection->text, "its process ended while this candidate ran");
  ASSERT_EQ(known_outcomes(*sample, sample.key).size(), 1u);
  EXPECT_EQ(recover(*sample).interrupted_runs, 0);
}

TEST(Trials, a_retry_that_ends_well_settles_the_suspect) {
  SampleStore sample;
  const RunId first = sample.run(kGone);
  const TrialId unlucky = plan_trial(*sample, first, sample.key.problem, sample.schedule("unlucky"));
  start_trial(*sample, unlucky);
  recover(*sample);
  sample.ok_trial(sample.run(), "unlucky");
  EXPECT_TRUE(suspects(*sample, sample.key.device, sample.key.toolchain).empty());
  EXPECT_EQ(trial(*sample, unlucky).rejection->reason, "worker_crash");
  const std::vector<KnownOutcome> known = known_outcomes(*sample, sample.key);
  ASSERT_EQ(known.size(), 1u);
  EXPECT_FALSE(known[0].rejection.has_value());
}

TEST(Trials, that_were_checked_and_wait_for_a_race_go_with_their_dead_run) {
  SampleStore sample;
  const RunId run = sample.run();
  const TrialId trial = plan_trial(*sample, run, sample.key.problem, sample.schedule("y.vectorize(n, 8)"));
  start_trial(*sample, trial);
  VerificationRow passed;
  passed.reference = "reference";
  passed.tolerance = "exact";
  passed.passed = true;
  record_verification(*sample, trial, passed);
  requeue_trial(*sample, trial);
  const Recovery recovery = recover(*sample, [](const Process&) { return Liveness::dead; });
  EXPECT_EQ(recovery.interrupted_runs, 1);
  EXPECT_EQ(recovery.suspects, 0);
  EXPECT_TRUE(trials(*sample, run).empty());
  EXPECT_TRUE(verifications(*sample, trial).empty());
}

TEST(Trials, of_a_living_process_are_left_alone) {
  SampleStore sample;
  const RunId run_id = sample.run();
  start_trial(*sample, plan_trial(*sample, run_id, sample.key.problem, sample.schedule("a")));
  EXPECT_EQ(recover(*sample).interrupted_runs, 0);
  EXPECT_EQ(running_run(*sample), run_id);
  const auto elsewhere = [](const Process&) { return Liveness::elsewhere; };
  EXPECT_EQ(recover(*sample, elsewhere).interrupted_runs, 0) << "its heartbeat is fresh";
  for (int i = 0; i < 130; ++i) sample->now();
  EXPECT_EQ(recover(*sample, elsewhere).interrupted_runs, 1) << "two minutes without one";
}

TEST(Processes, are_told_apart_from_later_ones_with_their_number) {
  const Process self = this_process();
  EXPECT_EQ(liveness(self), Liveness::alive);
  Process later = self;
  later.started += "1";
  EXPECT_EQ(liveness(later), Liveness::dead);
  EXPECT_EQ(liveness(kGone), Liveness::dead);
  Process elsewhere = self;
  const std::size_t slash = self.started.find('/');
  elsewhere.started = self.started.substr(0, slash) + "/pid:[1]/7";
  EXPECT_EQ(liveness(elsewhere), Liveness::elsewhere);
}

TEST(KnownOutcomes, follow_device_toolchain_and_protocol) {
  SampleStore sample;
  const RunId run_id = sample.run();
  const TrialId base = sample.ok_trial(run_id, "base"), fast = sample.ok_trial(run_id, "fast");
  record_rejected(*sample, run_id, sample.key.problem, sample.schedule("broken"), std::nullopt, {"compile_error", {}, {}, "no"});
  record_rejected(*sample, run_id, sample.key.problem, sample.schedule("slow"), std::nullopt, {"cut_slow", 3.0, 2.0, "3x"});
  record_rejected(*sample, run_id, sample.key.problem, sample.schedule("lost"), std::nullopt, {"device_lost", {}, {}, "Xid"});
  sample.race(run_id, base, {SampleStore::timing(base, 1), SampleStore::timing(fast, 0.6)}, "screen");
  sample.race(run_id, base, {SampleStore::timing(base, 1), SampleStore::timing(fast, 0.5, 0.01, "contended")}, "final");

  const std::vector<KnownOutcome> known = known_outcomes(*sample, sample.key);
  ASSERT_EQ(known.size(), 4u) << "all but the lost device";
  EXPECT_EQ(known[1].trial, fast);
  EXPECT_EQ(known[1].stage, "final");
  EXPECT_EQ(known[1].ratio, 0.5);
  EXPECT_FALSE(known[1].clean);
  EXPECT_EQ(known[3].rejection->asked, 3.0);

  ResultKey one_thread = sample.key;
  one_thread.protocol = keep_protocol(*sample, "v1;cpu;threads=1;cache=hot;stat=q1");
  const std::vector<KnownOutcome> other = known_outcomes(*sample, one_thread);
  ASSERT_EQ(other.size(), 3u) << "cut_slow is asked again under another protocol, compile_error is not";
  EXPECT_EQ(other[1].stage, "");
  EXPECT_FALSE(other[1].ratio.has_value());

  ResultKey new_compiler = sample.key;
  new_compiler.toolchain = keep(*sample, ToolchainRow{digest("toolchain", "gcc 13"), "gcc 13"});
  EXPECT_TRUE(known_outcomes(*sample, new_compiler).empty());
}

TEST(Builds, belong_to_their_key_and_are_seen_by_each_problem_in_its_own_way) {
  SampleStore sample;
  const ProblemId small = sample.key.problem, large = sample.problem(4096);
  BuildRow row;
  row.key = digest("build", "k");
  row.schedule = sample.schedule("s");
  row.toolchain = sample.key.toolchain;
  row.target = "x86-64-linux";
  row.predicted = R"({"peak_intermediate_bytes": 99})";
  row.rejection = RejectionRow{"over_scratch", 99.0, 10.0, "too much scratch"};
  row.decided_by = sample.key.device;
  const BuildId id = record_build(*sample, large, row);
  EXPECT_EQ(find_build(*sample, row.key, large)->row.rejection, row.rejection);
  EXPECT_FALSE(find_build(*sample, row.key, small)->row.rejection.has_value()) << "scratch follows the extents";
  EXPECT_FALSE(find_build(*sample, row.key, small)->row.binary.has_value());

  BuildRow built = row;
  built.rejection.reset();
  built.decided_by.reset();
  built.binary = content_digest("object");
  built.binary_bytes = 6;
  EXPECT_EQ(record_build(*sample, small, built), id);
  EXPECT_EQ(build(*sample, id, small).row.binary, built.binary);
  EXPECT_EQ(build(*sample, id, large).row.rejection, row.rejection);
  EXPECT_EQ(record_build(*sample, large, row), id);
  EXPECT_EQ(build(*sample, id, small).row.binary, built.binary) << "an object once made is not forgotten";

  BuildRow failed = row;
  failed.key = digest("build", "other");
  failed.rejection = RejectionRow{"compile_error", {}, {}, "LLVM ERROR"};
  failed.decided_by.reset();
  record_build(*sample, small, failed);
  EXPECT_EQ(find_build(*sample, failed.key, large)->row.rejection->text, "LLVM ERROR") << "holds for every problem";
  EXPECT_FALSE(find_build(*sample, digest("build", "unknown"), small).has_value());
}

TEST(Builds, with_equal_objects_are_found_by_their_bytes) {
  SampleStore sample;
  const RunId run_id = sample.run();
  const TrialId base = sample.ok_trial(run_id, "base");
  const Digest binary = content_digest("object of base");
  EXPECT_FALSE(find_same_binary(*sample, binary, sample.key.problem, sample.key.device, sample.key.protocol)) << "not timed yet";
  sample.race(run_id, base, {SampleStore::timing(base, 1)});
  EXPECT_EQ(find_same_binary(*sample, binary, sample.key.problem, sample.key.device, sample.key.protocol)->trial, base);
  EXPECT_FALSE(find_same_binary(*sample, binary, sample.problem(1), sample.key.device, sample.key.protocol));
}

TEST(Races, keep_their_samples_and_need_their_baseline) {
  SampleStore sample;
  const RunId run_id = sample.run();
  const TrialId base = sample.ok_trial(run_id, "base"), fast = sample.ok_trial(run_id, "fast");
  MeasurementRow once = SampleStore::timing(fast, 0.5);
  once.ratio_lo = 0;
  once.ratio_hi = std::numeric_limits<double>::infinity();
  const RaceId id = sample.race(run_id, base, {SampleStore::timing(base, 1), once});
  const std::vector<MeasurementRow> rows = measurements(*sample, id);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].ratio_lo, 1) << "the baseline against itself";
  EXPECT_EQ(rows[1].samples_ns, once.samples_ns);
  EXPECT_EQ(rows[1].ratio_hi, std::numeric_limits<double>::infinity());
  EXPECT_EQ(race(*sample, id).row.floor, 0.002);
  EXPECT_EQ(races(*sample, sample.key.problem, sample.key.device, sample.key.protocol).size(), 1u);

  EXPECT_EQ(message_of<DataError>([&] { sample.race(run_id, base, {once}); }),
            "cannot record a race in :memory:: none of its 1 measurements is of its baseline, trial 1");
}

TEST(Runs, keep_events_noise_and_their_end) {
  SampleStore sample;
  const RunId id = sample.run(this_process(), "aaaa-1");
  record_event(*sample, id, "contended", "steal 12 %");
  record_noise_floor(*sample, id, {.at = "", .p95_relative = 0.03, .load = 1.5, .steal = {}});
  heartbeat(*sample, id);
  end_run(*sample, id, "done");
  EXPECT_EQ(run(*sample, id).state, "done");
  EXPECT_EQ(events(*sample, id).at(0).detail, "steal 12 %");
  EXPECT_EQ(noise_floors(*sample, id).at(0).p95_relative, 0.03);
  EXPECT_EQ(find_run(*sample, "aaaa"), id);
  EXPECT_FALSE(running_run(*sample).has_value());
  sample.run(this_process(), "aaaa-2");
  EXPECT_EQ(message_of<UsageError>([&] { find_run(*sample, "aaaa"); }), "`aaaa` is the beginning of 2 runs: aaaa-1 aaaa-2; write more of it");
}

TEST(Trials, name_the_devices_of_a_candidate) {
  SampleStore sample;
  const ScheduleId schedule = sample.schedule("c.parallel(m)");
  const DeviceId first = sample.key.device;
  DeviceRow other;
  other.text = "cpu vendor=\"AuthenticAMD\" cores=2";
  other.digest = digest("device", other.text);
  const DeviceId second = keep(*sample, other);
  EXPECT_TRUE(devices_of(*sample, sample.key.problem, schedule).empty());
  for (const DeviceId device : {first, second, first}) {
    sample.key.device = device;
    start_trial(*sample, plan_trial(*sample, sample.run(), sample.key.problem, schedule));
  }
  EXPECT_EQ(devices_of(*sample, sample.key.problem, schedule), (std::vector{first, second}));
  sample.key.device = second;
  plan_trial(*sample, sample.run(), sample.key.problem, schedule);  // not tried yet
  EXPECT_EQ(devices_of(*sample, sample.key.problem, schedule), (std::vector{first, second}));
}

}  // namespace
}  // namespace kiln::db
