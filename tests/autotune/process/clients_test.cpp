// The supervisor's clients against workers that crash, hang, print, exit and write garbage.
#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "autotune/compile_pool.h"
#include "autotune/measurer.h"
#include "autotune/reader.h"
#include "dsl/error.h"

namespace kiln::autotune {
namespace {

using generators::Reason;

Launch fake(const std::string& role) { return {.program = KILN_FAKE_WORKER, .arguments = {"--role=" + role}}; }

class Clients : public ::testing::Test {
 protected:
  Clients() : folder(std::filesystem::temp_directory_path() / ("kiln-clients-" + std::to_string(::getpid()))) { std::filesystem::create_directories(folder); }
  ~Clients() override { std::filesystem::remove_all(folder); }

  // Lines of the file in which the fake workers note what they begin.
  std::multiset<std::string> begun() const {
    std::multiset<std::string> lines;
    std::ifstream file(folder / "begun");
    for (std::string line; std::getline(file, line);) lines.insert(line);
    return lines;
  }

  std::filesystem::path folder;
};

class Pool : public Clients {
 protected:
  static CompileJob job(std::int64_t id, const std::string& schedule, double limit_s = 60) {
    static const auto algorithm = std::make_shared<const Algorithm>();
    CompileJob job;
    job.id = id;
    job.algorithm = algorithm;
    job.schedule = schedule;
    job.limit_s = limit_s;
    return job;
  }

  std::map<std::int64_t, CompileOutcome> run(CompilePool& pool, std::vector<CompileJob> jobs, const CompilePool::Stop& stop = {}) {
    std::map<std::int64_t, CompileOutcome> outcomes;
    pool.run(
        std::move(jobs), [&](std::int64_t id) { EXPECT_TRUE(started.insert(id).second) << id << " was told as started twice"; },
        [&](CompileOutcome outcome) {
          EXPECT_TRUE(started.contains(outcome.id));
          const std::int64_t id = outcome.id;
          EXPECT_TRUE(outcomes.emplace(id, std::move(outcome)).second) << id << " has two outcomes";
        },
        stop);
    return outcomes;
  }

  CompilePool pool(int workers) { return CompilePool(workers, Device{}, Objects(folder), fake("compile")); }

  std::set<std::int64_t> started;
};

TEST_F(Pool, gives_every_job_its_object) {
  CompilePool two = pool(2);
  const auto outcomes = run(two, {job(1, "a"), job(2, "b"), job(3, "c")});
  ASSERT_EQ(outcomes.size(), 3U);
  EXPECT_EQ(outcomes.at(2).build.artifact->bytes, "object of b");
  EXPECT_EQ(outcomes.at(2).build.artifact->symbol, "f");
  EXPECT_EQ(Objects(folder).object(outcomes.at(2).object->hash), "object of b");
}

TEST_F(Pool, loses_one_candidate_to_a_crash_and_tells_how_it_ended) {
  CompilePool two = pool(2);
  const auto outcomes = run(two, {job(1, "a"), job(2, "crash"), job(3, "abort"), job(4, "exit"), job(5, "b")});
  EXPECT_TRUE(outcomes.at(1).build.artifact && outcomes.at(5).build.artifact);
  EXPECT_EQ(outcomes.at(2).build.rejection->reason, Reason::compiler_crash);
  EXPECT_EQ(outcomes.at(2).build.rejection->text, "the compiler ended with signal 11 (SIGSEGV) under a limit of 4096 MiB");
  EXPECT_EQ(outcomes.at(3).build.rejection->text,
            "the compiler ended with signal 6 (SIGABRT) under a limit of 4096 MiB; its last output:\nLLVM ERROR: out of registers");
  EXPECT_EQ(outcomes.at(4).build.rejection->text, "the compiler ended with exit code 3 under a limit of 4096 MiB");
}

TEST_F(Pool, ends_a_build_at_its_limit_with_both_numbers) {
  CompilePool one = pool(1);
  const auto outcomes = run(one, {job(1, "hang", 0.2), job(2, "print", 0.2), job(3, "a")});
  for (const std::int64_t id : {1, 2}) {
    const auto& rejection = *outcomes.at(id).build.rejection;
    EXPECT_EQ(rejection.reason, Reason::compile_timeout);
    EXPECT_EQ(rejection.allowed, 0.2);
    EXPECT_GE(*rejection.asked, 0.2);
    EXPECT_TRUE(rejection.text.starts_with("the build did not end: time-out: ")) << rejection.text;
  }
  EXPECT_TRUE(outcomes.at(3).build.artifact);
}

TEST_F(Pool, takes_garbage_for_a_crash) {
  CompilePool one = pool(1);
  const auto outcomes = run(one, {job(1, "garbage"), job(2, "a")});
  EXPECT_EQ(outcomes.at(1).build.rejection->reason, Reason::compiler_crash);
  EXPECT_EQ(outcomes.at(1).build.rejection->text, "the compile worker wrote garbage: \\x01not json");
  EXPECT_TRUE(outcomes.at(2).build.artifact);
}

TEST_F(Pool, tries_a_job_again_whose_worker_was_killed_from_outside_but_only_once) {
  CompilePool two = pool(2);
  const auto outcomes = run(two, {job(1, "killed once"), job(2, "killed always"), job(3, "a")});
  EXPECT_TRUE(outcomes.at(1).build.artifact);
  EXPECT_EQ(outcomes.at(2).build.rejection->text, "the compiler ended with signal 9 (SIGKILL) under a limit of 4096 MiB");
  EXPECT_EQ(begun().count("killed always"), 2U);
  EXPECT_EQ(begun().count("killed once"), 2U);
}

TEST_F(Pool, replaces_a_worker_after_32_jobs) {
  CompilePool one = pool(1);
  std::vector<CompileJob> jobs;
  for (int i = 0; i < 70; ++i) jobs.push_back(job(i, "job " + std::to_string(i)));
  std::map<std::string, int> jobs_of_worker;  // the fake says its pid as the log
  for (const auto& [id, outcome] : run(one, jobs)) ++jobs_of_worker[outcome.build.log];
  std::multiset<int> lives;
  for (const auto& [pid, count] : jobs_of_worker) lives.insert(count);
  EXPECT_EQ(lives, (std::multiset<int>{6, 32, 32}));
}

TEST_F(Pool, keeps_its_workers_between_batches) {
  CompilePool one = pool(1);
  const auto first = run(one, {job(1, "a")}), second = run(one, {job(2, "b")});
  EXPECT_EQ(first.at(1).build.log, second.at(2).build.log);
}

TEST_F(Pool, finishes_what_has_begun_when_it_is_stopped) {
  CompilePool one = pool(1);
  const auto outcomes = run(one, {job(1, "sleep 300"), job(2, "a")}, [&] { return !started.empty(); });
  EXPECT_EQ(outcomes.size(), 1U);
  EXPECT_TRUE(outcomes.at(1).build.artifact);
  EXPECT_EQ(started, std::set<std::int64_t>{1});
}

TEST_F(Pool, survives_kill_9_at_random_moments) {
  CompilePool two = pool(2);
  int victims = 0;

  std::mt19937 random(3);
  std::vector<CompileJob> jobs;
  for (int i = 0; i < 40; ++i) jobs.push_back(job(i, "sleep " + std::to_string(5 + i % 7)));
  auto next_kill = Clock::now();
  const auto outcomes = run(two, jobs, [&] {
    if (victims < 10 && Clock::now() >= next_kill) {
      const std::vector<pid_t> pids = two.pids();
      if (!pids.empty() && ::kill(pids[random() % pids.size()], SIGKILL) == 0) ++victims;
      next_kill = Clock::now() + std::chrono::milliseconds(random() % 20);
    }
    return false;
  });
  EXPECT_EQ(outcomes.size(), 40U);
  int built = 0;
  for (const auto& [id, outcome] : outcomes) {
    built += outcome.build.artifact ? 1 : 0;
    if (!outcome.build.artifact) {
      EXPECT_EQ(outcome.build.rejection->reason, Reason::compiler_crash);
    }
  }
  EXPECT_GE(built, 35);  // ten kills cannot hit the same job twice more often than five times
}

TEST_F(Pool, that_does_not_start_is_an_error_of_the_environment) {
  CompilePool none(1, Device{}, Objects(folder), fake("none"));
  try {
    run(none, {job(1, "a")});
    FAIL() << "no error";
  } catch (const EnvironmentError& error) {
    EXPECT_STREQ(error.what(), "compile workers do not start: 3 times in a row, the last with exit code 9");
  }
  EXPECT_TRUE(started.empty());
}

TEST_F(Pool, passes_a_full_disk_on_and_can_be_used_afterwards) {
  CompilePool two = pool(2);
  EXPECT_THROW(run(two, {job(1, "disk full"), job(2, "sleep 50")}), DataError);
  EXPECT_TRUE(run(two, {job(3, "a")}).at(3).build.artifact);
}

class Reading : public ::testing::Test {
 protected:
  static std::string failure(Reader& reader, const std::string& generator) {
    try {
      reader.read(generator, {});
    } catch (const AlgorithmError& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(Reading, lists_and_reads_generators) {
  Reader reader({"lib.so"}, Device{}, {}, fake("reader"));
  EXPECT_EQ(reader.generators(), (std::vector<std::string>{"blur", "matmul"}));
  EXPECT_EQ(reader.signature("blur").name, "blur");
  EXPECT_EQ(reader.read("blur", {}).generator, "blur");
}

TEST_F(Reading, tells_how_a_generator_ended_its_process_and_reads_the_next) {
  Reader reader({}, Device{}, {}, fake("reader"));
  EXPECT_EQ(failure(reader, "crash"), "reading generator `crash` ended its process: signal 11 (SIGSEGV)");
  EXPECT_EQ(failure(reader, "abort"), "reading generator `abort` ended its process: signal 6 (SIGABRT); its last output:\nLLVM ERROR: out of registers");
  EXPECT_EQ(failure(reader, "leave"), "reading generator `leave` ended its process: exit code 0");
  EXPECT_EQ(failure(reader, "garbage"), "reading generator `garbage`: plugin code wrote into the reader's own channel (file descriptor 3): \\x01not json");
  EXPECT_EQ(reader.read("blur", {}).generator, "blur");
}

TEST_F(Reading, ends_a_generator_that_never_returns_or_prints_for_ever) {
  Reader reader({}, Device{}, {.request_s = 0.3}, fake("reader"));
  for (const std::string generator : {"hang", "print"}) {
    const std::string text = failure(reader, generator);
    EXPECT_TRUE(text.starts_with("reading generator `" + generator + "` ended its process: time-out: ")) << text;
    EXPECT_NE(text.find(" of 0.3 s"), std::string::npos) << text;
  }
}

TEST_F(Reading, passes_the_loaders_words_on) {
  Reader reader({"missing"}, Device{}, {}, fake("reader"));
  for (int i = 0; i < 2; ++i) try {
      reader.generators();
      FAIL() << "no error";
    } catch (const UsageError& error) {
      EXPECT_STREQ(error.what(), "missing: cannot open shared object file");
    }
  Reader crashing({"crash"}, Device{}, {}, fake("reader"));
  EXPECT_THROW(crashing.generators(), AlgorithmError);
}

class Measuring : public Clients {
 protected:
  Measuring() : measurer(Device{}, Protocol{}, Objects(folder), {}, fake("measure")) {}

  static Subject subject(const std::string& reference) {
    static const auto algorithm = std::make_shared<const Algorithm>();
    Subject subject;
    subject.algorithm = algorithm;
    subject.reference = {"", reference, ""};
    return subject;
  }

  static Candidate candidate(std::int64_t id, const std::string& symbol) { return {id, {"", symbol, ""}, false}; }

  std::map<std::int64_t, RaceResult> race(const std::vector<std::string>& symbols, const RaceOptions& options = {}, const Measurer::Stop& stop = {}) {
    std::vector<RaceEntry> entries;
    for (std::size_t i = 0; i < symbols.size(); ++i) entries.push_back({candidate(static_cast<std::int64_t>(i), symbols[i]), i == 0, false});
    std::map<std::int64_t, RaceResult> results;
    measurer.race(
        measurer.prepare(subject("reference")).key, entries, options,
        [&](const RaceResult& result) { EXPECT_TRUE(results.emplace(result.id, result).second) << result.id << " has two results"; }, stop);
    return results;
  }

  Measurer measurer;
};

TEST_F(Measuring, blames_the_candidate_that_ran_and_prepares_the_next_worker_again) {
  const std::string key = measurer.prepare(subject("reference")).key;
  const auto crashed = measurer.check(key, candidate(7, "crash"));
  EXPECT_EQ(crashed.rejection->reason, Reason::worker_crash);
  EXPECT_EQ(crashed.rejection->text, "the measuring process ended with signal 11 (SIGSEGV) while this candidate ran");
  const auto fine = measurer.check(key, candidate(8, "fine"));
  EXPECT_FALSE(fine.rejection);
  EXPECT_EQ(fine.call_ns, 42);
}

TEST_F(Measuring, ends_a_call_at_its_limit_with_both_numbers) {
  const std::string key = measurer.prepare(subject("reference")).key;
  for (const std::string symbol : {"hang", "print"}) {
    const auto hung = measurer.check(key, candidate(1, symbol), {.call_limit_s = 0.3});
    EXPECT_EQ(hung.rejection->reason, Reason::run_timeout);
    EXPECT_EQ(hung.rejection->allowed, 0.3);
    EXPECT_TRUE(hung.rejection->text.starts_with("a call did not end: time-out: ")) << hung.rejection->text;
  }
}

TEST_F(Measuring, takes_garbage_and_silent_exits_for_crashes) {
  const std::string key = measurer.prepare(subject("reference")).key;
  EXPECT_EQ(measurer.check(key, candidate(1, "garbage")).rejection->text, "garbage came over the measuring process's channel: \\x01not json");
  EXPECT_EQ(measurer.check(key, candidate(2, "leave")).rejection->text, "the measuring process ended with exit code 0 while this candidate ran");
}

TEST_F(Measuring, forgives_one_kill_from_outside) {
  const std::string key = measurer.prepare(subject("reference")).key;
  EXPECT_FALSE(measurer.check(key, candidate(1, "killed once " + (folder / "once").string())).rejection);
  EXPECT_EQ(measurer.check(key, candidate(2, "killed always")).rejection->reason, Reason::worker_crash);
}

TEST_F(Measuring, goes_on_with_a_race_without_those_who_break_it) {
  const auto results = race({"baseline", "a", "crash", "b", "hang", "c"}, {.call_limit_s = 0.3});
  ASSERT_EQ(results.size(), 6U);
  for (const std::int64_t id : {0, 1, 3, 5}) EXPECT_FALSE(results.at(id).rejection) << id;
  EXPECT_EQ(results.at(2).rejection->reason, Reason::worker_crash);
  EXPECT_EQ(results.at(4).rejection->reason, Reason::run_timeout);
}

TEST_F(Measuring, forgives_one_kill_from_outside_in_a_race) {
  const auto results = race({"baseline", "killed once " + (folder / "once").string(), "killed always"});
  EXPECT_FALSE(results.at(1).rejection);
  EXPECT_EQ(results.at(2).rejection->reason, Reason::worker_crash);
}

TEST_F(Measuring, rejects_everyone_when_the_baseline_fails) {
  const auto crashed = race({"crash", "a"});
  EXPECT_EQ(crashed.at(0).rejection->reason, Reason::worker_crash);
  EXPECT_EQ(crashed.at(1).rejection->text,
            "the baseline of its race failed: the measuring process ended with signal 11 (SIGSEGV) while this candidate ran");
  const auto failed = race({"fails", "untold"});
  EXPECT_EQ(failed.at(1).rejection->text, "the baseline of its race failed: no such luck");
}

TEST_F(Measuring, stops_a_race_on_request) {
  const auto begun = Clock::now();
  const auto results = race({"baseline", "waits for stop"}, {}, [&] { return seconds_since(begun) > 0.2; });
  EXPECT_FALSE(results.at(1).rejection);
}

TEST_F(Measuring, starts_a_fresh_process_for_finals) {
  race({"baseline"});
  const auto first = measurer.pid();
  race({"baseline"});
  EXPECT_EQ(measurer.pid(), first);
  race({"baseline"}, {.fresh_process = true});
  EXPECT_NE(measurer.pid(), first);
}

TEST_F(Measuring, calls_a_crash_of_the_reference_the_users_error) {
  try {
    measurer.prepare(subject("crash"));
    FAIL() << "no error";
  } catch (const UsageError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("ended with signal 11 (SIGSEGV)"), std::string::npos) << text;
  }
}

TEST_F(Measuring, forgives_one_kill_from_outside_while_the_reference_runs) {
  EXPECT_TRUE(measurer.prepare(subject("killed once " + (folder / "once").string())).whole);
  try {
    measurer.prepare(subject("killed always"));
    FAIL() << "no error";
  } catch (const UsageError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("ended with signal 9 (SIGKILL)"), std::string::npos) << text;
  }
}

TEST_F(Measuring, ends_a_reference_at_its_limit_and_says_what_would_help) {
  Measurer hurried(Device{}, Protocol{}, Objects(folder), {.prepare_s = 0.3}, fake("measure"));
  try {
    hurried.prepare(subject("hang"));
    FAIL() << "no error";
  } catch (const UsageError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find(" did not end: time-out: 0."), std::string::npos) << text;
    EXPECT_NE(text.find(" s of 0.3 s; a longer --for gives it longer, up to 300 s (key "), std::string::npos) << text;
  }
}

TEST_F(Measuring, that_does_not_start_is_an_error_of_the_environment) {
  Measurer none(Device{}, Protocol{}, Objects(folder), {}, fake("none"));
  try {
    none.check_health();
    FAIL() << "no error";
  } catch (const EnvironmentError& error) {
    EXPECT_STREQ(error.what(), "the measuring process does not start: exit code 9");
  }
}

}  // namespace
}  // namespace kiln::autotune
