// The supervisor's side of compiling: a pool of worker processes that turn candidates into object files.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autotune/process/child.h"
#include "autotune/process/objects.h"
#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/problem.h"
#include "generators/build.h"
#include "generators/host/host.h"

namespace kiln::autotune {

struct CompileJob {
  enum class What { candidate, reference };  // the reference ignores schedule and problem

  std::int64_t id = 0;  // the caller's; comes back with the outcome
  What what = What::candidate;
  std::shared_ptr<const Algorithm> algorithm;
  std::string schedule;  // text; empty: unscheduled
  Problem problem;
  generators::host::Isa isa = generators::host::Isa::native;
  double limit_s = 30;                                        // wall clock of this build alone
  std::int64_t memory_bytes = std::int64_t{4} << 30;          // address space of the worker while it builds
};

struct CompileOutcome {
  std::int64_t id = 0;
  generators::Build build;          // artifact with its bytes, or a rejection: also compile_timeout and compiler_crash (then without a key)
  std::optional<ObjectRef> object;  // the artifact in the cache folder
  double wall_s = 0;                // from hand-over to answer, process start excluded
};

// `workers` processes, started when first needed, each replaced after 32 jobs and after any abnormal end. They sleep between calls of run().
class CompilePool {
 public:
  static constexpr int kJobsPerLife = 32;

  CompilePool(int workers, Device device, Objects objects, Launch launch = {});
  ~CompilePool();

  using Started = std::function<void(std::int64_t id)>;
  using Done = std::function<void(CompileOutcome)>;
  using Stop = std::function<bool()>;

  // Builds every job once. `started` is called before a job is handed to a worker, `done` once for each started job, in order of completion, both in
  // the caller's thread. A job whose worker was killed from outside (SIGKILL: another process, or the kernel short of memory) is tried once more, last;
  // a second time it is compiler_crash. `stop` is asked at least every 100 ms: when true no further job starts, jobs in flight are finished.
  // Throws EnvironmentError when workers do not even start, DataError when the cache folder cannot be written; jobs in flight are then given up.
  void run(std::vector<CompileJob> jobs, const Started& started, const Done& done, const Stop& stop = {});

  // Seconds that run() has waited for workers so far: what compiling cost the run.
  double waited_s() const { return waited_s_; }

  // For tests and `status`: pids of the workers that are alive.
  std::vector<pid_t> pids() const;

 private:
  struct Worker;
  struct Task;
  const std::string& algorithm_hash(const std::shared_ptr<const Algorithm>& algorithm);
  void feed(Worker& worker, std::deque<Task>& queue, const Started& started);
  void start(Worker& worker);
  bool hand_over(Worker& worker, Task& task, const Started& started);
  bool take_answer(Worker& worker, const Message& message, const Done& done);
  void listen(Worker& worker, std::deque<Task>& queue, const Done& done);
  void lost(Worker& worker, const Exit& exit, std::deque<Task>& queue, const Done& done);
  void wait_for_any(Clock::time_point deadline) const;

  Device device_;
  Objects objects_;
  Launch launch_;
  std::shared_ptr<const Algorithm> last_algorithm_;  // most jobs share one: serialized once
  std::string last_algorithm_hash_;
  std::vector<std::unique_ptr<Worker>> workers_;
  int failed_starts_ = 0;  // in a row
  double waited_s_ = 0;
};

}  // namespace kiln::autotune
