#include "autotune/compile_pool.h"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "autotune/process/messages.h"
#include "dsl/error.h"

namespace kiln::autotune {
namespace {

constexpr double kHello_s = 30;      // a worker maps libHalide and answers: 10 ms when idle, seconds on a machine that swaps
constexpr int kFailedStarts = 3;     // in a row: the machine is at fault, not a candidate
constexpr double kStopInterval_s = 0.1;

using generators::Reason;
using generators::Rejection;

Json job_to_json(const CompileJob& job, const std::string& algorithm_hash) {
  return {{"what", job.what == CompileJob::What::reference ? "reference" : "candidate"},
          {"algorithm", algorithm_hash},
          {"schedule", job.schedule},
          {"problem", to_json(job.problem)},
          {"isa", static_cast<int>(job.isa)},
          {"memory_bytes", job.memory_bytes}};
}

Rejection rejection_for(const Exit& exit, const CompileJob& job, const std::string& log) {
  if (exit.kind == Exit::Kind::timed_out)
    return {Reason::compile_timeout, exit.spent_s, exit.limit_s, fmt::format("the build did not end: {}", exit.describe())};
  return {Reason::compiler_crash, std::nullopt, std::nullopt,
          fmt::format("the compiler ended with {} under a limit of {} MiB{}", exit.describe(), job.memory_bytes >> 20, tail_for_message(log))};
}

}  // namespace

struct CompilePool::Task {
  CompileJob job;
  bool was_started = false;   // `started` has been told
  int kills = 0;              // times a worker was killed from outside under it
  Clock::time_point handed_over;
};

struct CompilePool::Worker {
  std::unique_ptr<Child> child;
  std::optional<Task> task;
  std::int64_t sequence = 0;
  int jobs = 0;  // of this life
};

CompilePool::CompilePool(int workers, Device device, Objects objects, Launch launch)
    : device_(std::move(device)), objects_(std::move(objects)), launch_(std::move(launch)) {
  if (launch_.arguments.empty()) launch_.arguments = {"--role=compile"};
  KILN_CHECK(workers > 0, "a compile pool without workers");
  for (int i = 0; i < workers; ++i) workers_.push_back(std::make_unique<Worker>());
}

CompilePool::~CompilePool() = default;

void CompilePool::run(std::vector<CompileJob> jobs, const Started& started, const Done& done, const Stop& stop) {
  std::deque<Task> queue;
  for (CompileJob& job : jobs) queue.push_back({std::move(job), false, 0, {}});
  for (const auto& worker : workers_)
    if (std::exchange(worker->task, std::nullopt)) worker->child.reset();  // left by an exception in an earlier run
  const auto busy = [](const std::unique_ptr<Worker>& worker) { return worker->task.has_value(); };
  bool stopped = false;
  while (true) {
    stopped = stopped || (stop && stop());
    // A job that has been told as started is owed an outcome even after a stop.
    if (stopped) std::erase_if(queue, [](const Task& task) { return !task.was_started; });
    for (const auto& worker : workers_)
      if (!worker->task && !queue.empty()) feed(*worker, queue, started);
    if (std::none_of(workers_.begin(), workers_.end(), busy)) {
      if (queue.empty()) return;
      continue;  // every start failed this time; feed() throws when that repeats
    }
    const auto start = Clock::now();
    wait_for_any(seconds_from_now(kStopInterval_s));
    waited_s_ += seconds_since(start);
    for (const auto& worker : workers_)
      if (worker->task) listen(*worker, queue, done);
  }
}

void CompilePool::feed(Worker& worker, std::deque<Task>& queue, const Started& started) {
  if (worker.child && worker.jobs >= kJobsPerLife) {
    worker.child->finish(std::chrono::seconds(1));
    worker.child.reset();
  }
  if (!worker.child) start(worker);
  if (!worker.child) return;
  Task task = std::move(queue.front());
  queue.pop_front();
  if (!hand_over(worker, task, started)) queue.push_front(std::move(task));
}

// Leaves no child when the process did not come up.
void CompilePool::start(Worker& worker) {
  worker.child = std::make_unique<Child>(launch_);
  worker.jobs = 0;
  const Json hello{{"device", print(device_)}, {"cache", objects_.folder().string()}};
  worker.child->channel().send({++worker.sequence, "hello", hello}, seconds_from_now(kHello_s));
  const Channel::Received answer = worker.child->channel().receive(seconds_from_now(kHello_s));
  if (answer.status == Channel::Status::message && answer.message.kind == "ready") {
    failed_starts_ = 0;
    return;
  }
  const Exit exit = worker.child->finish(std::chrono::seconds(1));
  const std::string log = worker.child->log();
  worker.child.reset();
  if (++failed_starts_ >= kFailedStarts)
    throw EnvironmentError(fmt::format("compile workers do not start: {} times in a row, the last with {}{}", failed_starts_, exit.describe(), tail_for_message(log)));
}

const std::string& CompilePool::algorithm_hash(const std::shared_ptr<const Algorithm>& algorithm) {
  if (algorithm != last_algorithm_) {
    last_algorithm_hash_ = objects_.put_algorithm(kiln::to_json(*algorithm));
    last_algorithm_ = algorithm;
  }
  return last_algorithm_hash_;
}

// False when the worker was found dead before it took the job: nothing was started, nobody is to blame.
bool CompilePool::hand_over(Worker& worker, Task& task, const Started& started) {
  if (worker.child->poll_exit()) {
    worker.child.reset();
    return false;
  }
  const std::string algorithm = algorithm_hash(task.job.algorithm);
  if (!task.was_started && started) started(task.job.id);
  task.was_started = true;
  task.handed_over = Clock::now();
  worker.child->clear_log();
  // A failed send is a worker that died just now: listen() finds it closed.
  worker.child->channel().send({++worker.sequence, "build", job_to_json(task.job, algorithm)}, seconds_from_now(task.job.limit_s));
  ++worker.jobs;
  worker.task = std::move(task);
  return true;
}

void CompilePool::wait_for_any(Clock::time_point deadline) const {
  std::vector<pollfd> waiting;
  for (const auto& worker : workers_) {
    if (!worker->task) continue;
    if (!worker->child->channel().is_open()) return;
    deadline = std::min(deadline, worker->task->handed_over + std::chrono::duration_cast<Clock::duration>(
                                                                  std::chrono::duration<double>(worker->task->job.limit_s)));
    waiting.push_back({worker->child->channel().fd(), POLLIN, 0});
  }
  ::poll(waiting.data(), waiting.size(), milliseconds_until(deadline));
}

void CompilePool::listen(Worker& worker, std::deque<Task>& queue, const Done& done) {
  Channel::Received answer = worker.child->channel().receive(Clock::now());
  const double spent_s = seconds_since(worker.task->handed_over), limit_s = worker.task->job.limit_s;
  switch (answer.status) {
    case Channel::Status::timeout:
      if (spent_s >= limit_s) lost(worker, worker.child->kill_at_limit(limit_s, spent_s), queue, done);
      return;
    case Channel::Status::closed: lost(worker, worker.child->finish(std::chrono::seconds(1)), queue, done); return;
    case Channel::Status::garbage: break;
    case Channel::Status::message:
      if (answer.message.sequence == worker.sequence && take_answer(worker, answer.message, done)) return;
      break;
  }
  // It speaks nonsense: the compiler, or what it compiled, has written over something.
  const std::string words = answer.status == Channel::Status::garbage ? answer.garbage : answer.message.kind;
  CompileOutcome outcome{.id = worker.task->job.id, .build = {}, .object = {}, .wall_s = spent_s};
  outcome.build.rejection = Rejection{Reason::compiler_crash, std::nullopt, std::nullopt, fmt::format("the compile worker wrote garbage: {}", words)};
  worker.task.reset();
  worker.child.reset();
  done(std::move(outcome));
}

// False when the answer cannot be read as one.
bool CompilePool::take_answer(Worker& worker, const Message& message, const Done& done) {
  if (message.kind == "error") throw_error(message.body);  // the cache folder cannot be read or written
  CompileOutcome outcome{.id = worker.task->job.id, .build = {}, .object = {}, .wall_s = seconds_since(worker.task->handed_over)};
  try {
    outcome.build = build_from_json(message.body.at("build"));
    if (const Json& object = message.body.at("object"); !object.is_null()) {
      outcome.object = object_from_json(object);
      outcome.build.artifact = generators::Artifact{objects_.object(outcome.object->hash), outcome.object->symbol, outcome.object->target};
    }
  } catch (const std::exception&) {
    return false;
  }
  worker.task.reset();
  done(std::move(outcome));
  return true;
}

void CompilePool::lost(Worker& worker, const Exit& exit, std::deque<Task>& queue, const Done& done) {
  Task task = std::move(*worker.task);
  const std::string log = worker.child->log();
  worker.task.reset();
  worker.child.reset();
  const bool killed_from_outside = exit.kind == Exit::Kind::signalled && exit.signal == SIGKILL;
  if (killed_from_outside && ++task.kills < 2) {
    queue.push_back(std::move(task));
    return;
  }
  CompileOutcome outcome{.id = task.job.id, .build = {}, .object = {}, .wall_s = seconds_since(task.handed_over)};
  outcome.build.rejection = rejection_for(exit, task.job, log);
  outcome.build.log = log;
  done(std::move(outcome));
}

std::vector<pid_t> CompilePool::pids() const {
  std::vector<pid_t> pids;
  for (const auto& worker : workers_)
    if (worker->child) pids.push_back(worker->child->pid());
  return pids;
}

}  // namespace kiln::autotune
