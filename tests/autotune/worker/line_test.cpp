// The whole line through real processes: probe, reader, compile workers, measuring worker; with a product of matrices.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "autotune/compile_pool.h"
#include "autotune/measurer.h"
#include "autotune/probe.h"
#include "autotune/reader.h"
#include "autotune/worker/prepared_subject.h"
#include "dsl/error.h"
#include "generators/runtime/host.h"

namespace kiln::autotune {
namespace {

using generators::Reason;

constexpr const char* kPlain = "";
constexpr const char* kTiled =
    "y.tile(n, m, no, mo, ni, mi, 16, 4).vectorize(ni, 8)\n"
    "c.compute_at(y, no).vectorize(n, 8)\n"
    "c.update(0).reorder(n, m, k).vectorize(n, 8)\n";
// Computes whole rows of c in vectors of 8: its bounds ask for a multiple of 8 columns of B.
constexpr const char* kRows = "y.parallel(m)\nc.compute_at(y, m).vectorize(n, 8)\nc.update(0).vectorize(n, 8)\n";

// Built once for all tests: reading and compiling take seconds, checking and racing do not.
class Line : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared = new Shared;
    shared->device = probe().device;
    Reader reader({}, shared->device);
    shared->algorithm = std::make_shared<const Algorithm>(reader.read("matmul", {}));
    shared->relu = std::make_shared<const Algorithm>(reader.read("matmul", {{"epilogue", "relu"}}));
    shared->problem = resolve(parse_problem_text("matmul(m=48, n=64, k=40)"), *shared->algorithm);
    const Objects objects(shared->folder);
    CompilePool pool(2, shared->device, objects);
    std::vector<CompileJob> jobs;
    for (const char* schedule : {kPlain, kTiled, kRows}) jobs.push_back(job(static_cast<std::int64_t>(jobs.size()), shared->algorithm, schedule));
    jobs.push_back(job(3, shared->relu, kPlain));
    jobs.push_back(job(4, shared->algorithm, "y.vectorize(q, 8)"));
    jobs.push_back(job(5, shared->algorithm, "y.vectorise(n, 8)"));
    jobs.push_back(job(6, shared->algorithm, kPlain));
    jobs.back().what = CompileJob::What::reference;
    pool.run(std::move(jobs), {}, [](CompileOutcome outcome) { shared->outcomes.emplace(outcome.id, std::move(outcome)); });
  }

  static void TearDownTestSuite() {
    std::filesystem::remove_all(shared->folder);
    delete shared;
  }

  static CompileJob job(std::int64_t id, const std::shared_ptr<const Algorithm>& algorithm, const char* schedule) {
    CompileJob job;
    job.id = id;
    job.algorithm = algorithm;
    job.schedule = schedule;
    job.problem = shared->problem;
    job.limit_s = 300;
    return job;
  }

  Line() : measurer(shared->device, protocol(), Objects(shared->folder)) {
    for (const std::int64_t id : {0, 1, 2, 3, 6}) {
      const auto& outcome = shared->outcomes.at(id);
      EXPECT_TRUE(outcome.object) << id << ": " << (outcome.build.rejection ? outcome.build.rejection->text : "") << outcome.build.log;
    }
  }

  // Short and without effect on what is tested: the times themselves are not looked at.
  static Protocol protocol() {
    Protocol protocol;
    protocol.threads = 2;
    protocol.sample_us = 20;
    protocol.warm_ms = 0.1;
    protocol.max_s = 0.5;
    return protocol;
  }

  static Subject subject(double flops = 0) {
    Subject subject;
    subject.algorithm = shared->algorithm;
    subject.problem = shared->problem;
    subject.reference = *shared->outcomes.at(6).object;
    subject.flops = flops;
    return subject;
  }

  static Candidate candidate(std::int64_t id) { return {id, *shared->outcomes.at(id).object, false}; }

  struct Shared {
    std::filesystem::path folder = std::filesystem::temp_directory_path() / ("kiln-line-" + std::to_string(::getpid()));
    Device device;
    std::shared_ptr<const Algorithm> algorithm, relu;
    Problem problem;
    std::map<std::int64_t, CompileOutcome> outcomes;
  };
  static inline Shared* shared = nullptr;
  Measurer measurer;
};

TEST_F(Line, probes_a_device_and_the_conditions) {
  const Probe probed = probe();
  EXPECT_EQ(probed.device, shared->device);
  EXPECT_GE(probed.device.cores, 1);
  EXPECT_GE(probed.conditions.load_1min, 0);
  EXPECT_EQ(probe_from_json(to_json(probed)).conditions, probed.conditions);
}

TEST_F(Line, reads_signatures_and_names_what_is_unknown) {
  Reader reader({}, shared->device);
  EXPECT_EQ(reader.signature("matmul").symbol_order, shared->algorithm->symbol_order);
  EXPECT_THROW(reader.read("matmull", {}), UsageError);
  EXPECT_THROW(reader.read("matmul", {{"no_such_param", "1"}}), UsageError);
  EXPECT_THROW(Reader({"/nowhere/libmine.so"}, shared->device).generators(), UsageError);
}

TEST_F(Line, tells_schedules_that_cannot_be_applied_from_those_that_can) {
  EXPECT_EQ(shared->outcomes.at(4).build.rejection->reason, Reason::schedule_error);
  EXPECT_EQ(shared->outcomes.at(5).build.rejection->reason, Reason::schedule_error);
  EXPECT_NE(shared->outcomes.at(0).object->hash, shared->outcomes.at(1).object->hash);
}

TEST_F(Line, passes_right_candidates_on_the_problem_and_on_the_ragged_one_that_their_bounds_allow) {
  const Prepared prepared = measurer.prepare(subject());
  EXPECT_TRUE(prepared.whole);
  ASSERT_FALSE(prepared.ragged.empty());
  EXPECT_EQ(prepared.ragged[0].extents, (std::map<std::string, std::int64_t>{{"m", 47}, {"n", 61}, {"k", 37}}));
  for (const std::int64_t id : {0, 1, 2}) {
    const CheckOutcome outcome = measurer.check(prepared.key, candidate(id));
    EXPECT_FALSE(outcome.rejection) << outcome.rejection->text;
    std::vector<Problem> checked{shared->problem};
    if (id != 2) checked.push_back(prepared.ragged[0]);
    EXPECT_EQ(outcome.checked, checked) << id;
    ASSERT_TRUE(outcome.worst);
    EXPECT_LE(outcome.worst->severity, 1);
    EXPECT_GT(outcome.worst->severity, 0);  // f32 against f64: some bit differs
    EXPECT_GT(outcome.call_ns, 0);
  }
}

TEST_F(Line, rejects_a_candidate_that_asks_for_more_than_it_is_given_with_both_numbers) {
  Subject odd = subject();
  odd.problem = resolve(parse_problem_text("matmul(m=48, n=61, k=40)"), *shared->algorithm);
  const CheckOutcome outcome = measurer.check(measurer.prepare(odd).key, candidate(2));
  ASSERT_TRUE(outcome.rejection);
  EXPECT_EQ(outcome.rejection->reason, Reason::run_error);
  EXPECT_EQ(outcome.rejection->text, "input B needs extent 64 in dimension 0, has 61");
  EXPECT_EQ(outcome.rejection->asked, 64);
  EXPECT_EQ(outcome.rejection->allowed, 61);
}

TEST_F(Line, rejects_another_algorithms_object_with_output_and_index) {
  const CheckOutcome outcome = measurer.check(measurer.prepare(subject()).key, candidate(3));
  ASSERT_TRUE(outcome.rejection);
  EXPECT_EQ(outcome.rejection->reason, Reason::wrong_result);
  EXPECT_EQ(outcome.worst_output, "C");
  ASSERT_TRUE(outcome.worst);
  ASSERT_EQ(outcome.worst->index.size(), 2U);
  EXPECT_EQ(outcome.worst->got, 0);  // what relu makes of a negative sum
  EXPECT_LT(outcome.worst->expected, 0);
  const std::string start = "matmul(m=48, n=64, k=40, f32): output C, element (n=" + std::to_string(outcome.worst->index[0]) + ", m=" +
                            std::to_string(outcome.worst->index[1]) + "): got 0, expected -";
  EXPECT_TRUE(outcome.rejection->text.starts_with(start)) << outcome.rejection->text;
}

TEST_F(Line, the_work_of_a_subject_says_whether_its_reference_runs_in_tiles) {
  const auto subject_of_rows = [](int m) {
    return subject_of(shared->algorithm, resolve(parse_problem_text(fmt::format("matmul(m={}, n=2048, k=4096)", m)), *shared->algorithm), {}, 1);
  };
  EXPECT_DOUBLE_EQ(subject_of_rows(512).flops, 2.0 * 512 * 2048 * 4096);
  EXPECT_FALSE(subject_of_rows(512).runs_in_tiles());
  EXPECT_TRUE(subject_of_rows(2048).runs_in_tiles());
}

TEST_F(Line, checks_large_problems_on_tiles) {
  const Prepared prepared = measurer.prepare(subject(30e9));  // said to be large
  EXPECT_FALSE(prepared.whole);
  EXPECT_FALSE(measurer.check(prepared.key, candidate(1)).rejection);
  const CheckOutcome wrong = measurer.check(prepared.key, candidate(3));
  ASSERT_TRUE(wrong.rejection);
  EXPECT_EQ(wrong.rejection->reason, Reason::wrong_result);
  EXPECT_EQ(wrong.worst->got, 0);
}

TEST_F(Line, takes_the_references_results_from_the_cache_the_second_time) {
  Subject other = subject();
  other.seed = 77;
  EXPECT_GT(measurer.prepare(other).reference_s, 0);
  measurer.give_up_worker();
  EXPECT_EQ(measurer.prepare(other).reference_s, 0);
}

TEST_F(Line, checks_at_the_alignment_of_one_element) {
  const CheckOutcome outcome = measurer.check(measurer.prepare(subject()).key, candidate(1), {.alignment_bytes = 4});
  EXPECT_FALSE(outcome.rejection) << outcome.rejection->text;
}

// Wrong stays wrong, however slow.
TEST_F(Line, leaves_a_hopeless_candidate_after_its_first_call) {
  const std::string key = measurer.prepare(subject()).key;
  const CheckOutcome slow = measurer.check(key, candidate(1), {.hopeless_ns = 1});
  ASSERT_TRUE(slow.rejection);
  EXPECT_EQ(slow.rejection->reason, Reason::cut_slow);
  EXPECT_EQ(slow.rejection->allowed, 1);
  EXPECT_GT(slow.rejection->asked.value(), 1);
  EXPECT_TRUE(slow.checked.empty());
  const CheckOutcome wrong = measurer.check(key, candidate(3), {.hopeless_ns = 1});
  ASSERT_TRUE(wrong.rejection);
  EXPECT_EQ(wrong.rejection->reason, Reason::wrong_result);
}

// Timing takes the inputs alone; a fresh process that only races does not run the reference.
TEST_F(Line, runs_the_reference_when_something_is_checked) {
  ASSERT_EQ(kiln_host_start(1), KILN_HOST_OK);
  Subject fresh = subject();
  fresh.seed = 20261130;  // no other test has left this one's results in the cache folder
  const Objects objects(shared->folder);
  PreparedSubject prepared(fresh, objects);
  const std::size_t inputs = prepared.bytes();
  EXPECT_GT(prepared.inputs().bytes[0].size(), 0u);
  EXPECT_EQ(prepared.bytes(), inputs);
  EXPECT_GT(prepared.timed().reference_s, 0);
  EXPECT_EQ(prepared.bytes(), inputs + 48 * 64 * sizeof(double));
  kiln_host_stop();
}

std::map<std::int64_t, RaceResult> race(Measurer& measurer, const std::string& key, const std::vector<RaceEntry>& entries, const RaceOptions& options) {
  std::map<std::int64_t, RaceResult> results;
  measurer.race(key, entries, options, [&](const RaceResult& result) { results.emplace(result.id, result); });
  return results;
}

TEST_F(Line, screens_with_few_samples) {
  const std::string key = measurer.prepare(subject()).key;
  const auto results = race(measurer, key, {{candidate(0), true, false}, {candidate(1), false, true}, {candidate(2), false, false}}, {.stage = RaceStage::screen});
  ASSERT_EQ(results.size(), 3U);
  for (const std::int64_t id : {0, 1}) {
    EXPECT_FALSE(results.at(id).rejection) << id;
    EXPECT_EQ(results.at(id).samples.size(), 5U);
    EXPECT_GT(results.at(id).value_ns, 0);
  }
  if (results.at(2).rejection) {
    EXPECT_EQ(results.at(2).rejection->reason, Reason::cut_slow);
  }
}

TEST_F(Line, ranks_in_rounds_with_ratios_to_baseline_and_incumbent) {
  const std::string key = measurer.prepare(subject()).key;
  const auto results = race(measurer, key, {{candidate(0), true, false}, {candidate(1), false, true}, {candidate(2), false, false}}, {.stage = RaceStage::rank});
  ASSERT_EQ(results.size(), 3U);
  for (const auto& [id, result] : results) {
    EXPECT_FALSE(result.rejection) << id << result.rejection->text;
    EXPECT_GE(result.samples.size(), 60U) << id;
    EXPECT_GE(result.calls_per_sample, 1);
    EXPECT_LE(result.min_ns, result.q1_ns);
    EXPECT_LE(result.q1_ns, result.median_ns);
    EXPECT_LE(result.to_baseline.low, result.to_baseline.value);
    EXPECT_LE(result.to_baseline.value, result.to_baseline.high);
  }
  EXPECT_EQ(results.at(0).to_baseline.value, 1);
  EXPECT_EQ(results.at(1).to_incumbent.value, 1);
  EXPECT_EQ(results.at(0).to_baseline.rounds, static_cast<int>(results.at(0).samples.size()) / 10);
}

TEST_F(Line, times_a_baseline_once_that_takes_too_much_of_the_budget) {
  const std::string key = measurer.prepare(subject()).key;
  const auto results = race(measurer, key, {{candidate(0), true, false}, {candidate(1), false, false}}, {.stage = RaceStage::rank, .once_ns = 1});
  EXPECT_TRUE(results.at(0).timed_once);
  EXPECT_EQ(results.at(0).samples.size(), 1U);
  EXPECT_FALSE(results.at(1).timed_once);
  EXPECT_EQ(results.at(1).to_baseline.rounds, 1);
  EXPECT_DOUBLE_EQ(results.at(1).to_baseline.high, 2 * results.at(1).to_baseline.value);
}

TEST_F(Line, takes_a_time_for_implausible_that_no_machine_could_reach) {
  const std::string key = measurer.prepare(subject()).key;
  const auto results = race(measurer, key, {{candidate(0), true, false}, {candidate(1), false, false}}, {.least_ns = 1e12});
  EXPECT_EQ(results.at(0).rejection->reason, Reason::implausible);
  EXPECT_EQ(results.at(0).rejection->allowed, 1e12);
  EXPECT_TRUE(results.at(1).rejection->text.starts_with("the baseline of its race failed: ")) << results.at(1).rejection->text;
}

TEST_F(Line, ends_a_race_in_time_with_what_there_is) {
  const std::string key = measurer.prepare(subject()).key;
  const auto results = race(measurer, key, {{candidate(0), true, false}, {candidate(1), false, false}}, {.stage = RaceStage::final_, .limit_s = 1e-9});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_TRUE(results.at(1).cut_short);
}

TEST_F(Line, measures_a_noise_floor) {
  const FloorOutcome floor = measurer.floor(measurer.prepare(subject()).key, candidate(1), 1);
  EXPECT_FALSE(floor.rejection);
  EXPECT_GE(floor.floor, 0);
  EXPECT_EQ(floor.contended, floor.floor > kContendedFloor);
  EXPECT_GT(floor.value_ns, 0);
}

TEST_F(Line, races_on_rotating_buffers_when_cold) {
  Protocol cold = protocol();
  cold.cache = Cache::cold;
  Device small_cache = shared->device;
  small_cache.l3_bytes = 1 << 20;
  Measurer other(small_cache, cold, Objects(shared->folder));
  const auto results = race(other, other.prepare(subject()).key, {{candidate(0), true, false}, {candidate(1), false, false}}, {.stage = RaceStage::rank});
  for (const auto& [id, result] : results) EXPECT_FALSE(result.rejection) << id;
}

TEST_F(Line, refuses_an_object_that_is_none) {
  const std::string key = measurer.prepare(subject()).key;
  Candidate broken = candidate(1);
  broken.object.hash = Objects(shared->folder).put_object("this is no object");
  EXPECT_EQ(measurer.check(key, broken).rejection->reason, Reason::run_error);
  broken.object.hash = std::string(64, '0');
  EXPECT_THROW(measurer.check(key, broken), DataError);
}

TEST_F(Line, survives_kill_9_of_the_measuring_worker) {
  const std::string key = measurer.prepare(subject()).key;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(measurer.pid());
    ::kill(*measurer.pid(), SIGKILL);
    EXPECT_FALSE(measurer.check(key, candidate(1)).rejection);
  }
}

}  // namespace
}  // namespace kiln::autotune
