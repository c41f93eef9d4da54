// A store after a small night: one operator, three problems with a win, a tie and a contended machine, with failures of several kinds.
#pragma once

#include "db/demand.h"
#include "tests/db/sample_store.h"

namespace kiln::autotune::cli {

inline const char* const kFastSchedule = "y.tile(n, m, no, mo, ni, mi, 64, 6).parallel(mo).vectorize(ni, 8)";
inline const char* const kOtherSchedule = "y.parallel(m)";

class TunedStore {
 public:
  explicit TunedStore(const std::string& path = ":memory:") : sample(path) {
    sample.schedule("own_schedule()", "own");
    sample.schedule("autoschedule(Mullapudi2016, parallelism=2)", "autoscheduler");
    sample.schedule("", "unscheduled");
    sample.schedule(kFastSchedule, "local");
    run = sample.run({.pid = 1, .started = "elsewhere/1/1"}, "1b9e0000-0000-4000-8000-000000000001");
    db::record_noise_floor(*sample, run, {.at = "", .p95_relative = 0.004, .load = {}, .steal = {}});
    win();
    tie();
    contended();
  }

  db::SampleStore sample;
  db::RunId run{};
  db::ProblemId win_problem{}, tie_problem{}, contended_problem{};

 private:
  // 256 rows: the own schedule is the baseline, 0.7 of it the best; one candidate is wrong, one spills, one was cut.
  void win() {
    win_problem = sample.key.problem;
    const db::TrialId baseline = sample.ok_trial(run, "own_schedule()");
    const db::TrialId fast = sample.ok_trial(run, kFastSchedule);
    const db::TrialId slow = sample.ok_trial(run, kOtherSchedule);
    reject("y.vectorize(n, 64)", "spills", "stack inside loops: 12 accesses, 0 allowed", 12, 0);
    reject("y.vectorize(n, 16)", "wrong_result", "y[3,17] is 4.5, the reference has 4.25");
    reject("y.unroll(n, 4)", "cut_slow", "1.9 times the best");
    sample.race(run, baseline, {sample.timing(baseline, 1, 0), sample.timing(fast, 0.7), sample.timing(slow, 0.9)}, "rank");
    sample.race(run, baseline, {sample.timing(baseline, 1, 0), sample.timing(fast, 0.7), sample.timing(slow, 0.9)});
  }

  // One row: the author's schedule cannot run it, Mullapudi's is the baseline and nothing is told apart from it.
  void tie() {
    tie_problem = sample.key.problem = sample.problem(1);
    reject("own_schedule()", "run_error", "input A needs extent 64 in dimension 1, has 1");
    const db::TrialId baseline = sample.ok_trial(run, "autoschedule(Mullapudi2016, parallelism=2)");
    const db::TrialId same = sample.ok_trial(run, kOtherSchedule);
    sample.race(run, baseline, {sample.timing(baseline, 1, 0), sample.timing(same, 0.997, 0.012)});
  }

  // Seventeen rows: the races were never clean.
  void contended() {
    contended_problem = sample.key.problem = sample.problem(17);
    const db::TrialId baseline = sample.ok_trial(run, "");
    const db::TrialId fast = sample.ok_trial(run, kFastSchedule);
    sample.race(run, baseline, {sample.timing(baseline, 1, 0, "contended"), sample.timing(fast, 0.6, 0.2, "contended")});
  }

  void reject(const std::string& schedule, const std::string& reason, const std::string& text, std::optional<double> asked = {},
              std::optional<double> allowed = {}) {
    db::record_rejected(*sample, run, sample.key.problem, sample.schedule(schedule), std::nullopt, {reason, asked, allowed, text});
  }
};

// What an application called, of the problems above and of one nobody read yet.
inline void add_demand(TunedStore& tuned) {
  const db::Demand demand = db::parse_demand(
      "# application ffn\n# window 2026-01-01T00:00:00Z 2026-01-02T00:00:00Z\n"
      "8000 matmul(m=256, n=1024, k=1024, f32)\n20000 matmul(m=1, n=1024, k=1024, f32)\n5 other(m=3)\n",
      "calls.txt");
  db::import_demand(*tuned.sample, demand, content_digest("calls"));
  db::link_demand(*tuned.sample, "matmul(m=256, n=1024, k=1024, f32)", tuned.win_problem);
  db::link_demand(*tuned.sample, "matmul(m=1, n=1024, k=1024, f32)", tuned.tie_problem);
}

}  // namespace kiln::autotune::cli
