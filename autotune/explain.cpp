#include "autotune/explain.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "autotune/compile_pool.h"
#include "db/identities.h"
#include "db/status.h"
#include "dsl/error.h"

namespace kiln::autotune {
namespace {

using generators::Actual;
using generators::Predicted;

// A folder that exists as long as the value.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kiln-explain-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw EnvironmentError("cannot make a folder for the compiler's files: " + pattern);
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// What a core of a current x86-64 server moves in a cycle, sustained: 48 of the 64 bytes that Intel's optimisation manual gives for L2 -> L1,
// 16 from the shared cache, 5 from memory (15 GB/s at 3 GHz). Two FMA units, two operations a lane each. They only decide which bound is the
// largest, so a factor of two in any of them seldom changes the answer.
constexpr double kFromL2_bytes_per_cycle = 48;
constexpr double kFromL3_bytes_per_cycle = 16;
constexpr double kFromMemory_bytes_per_cycle = 5;
constexpr double kOperationsPerLane = 4;
// Above this share of idle time a number of tasks that does not divide by the threads is worth a word.
constexpr double kIdleShare = 0.1;

struct Bound {
  std::string name;
  double cycles = 0;
};

double traffic(const Predicted& predicted, const char* level) {
  const auto at = predicted.traffic_bytes.find(level);
  return at == predicted.traffic_bytes.end() ? 0 : static_cast<double>(at->second);
}

// Largest first. Cycles of one core when all `cores` share the work.
std::vector<Bound> bounds(const Predicted& predicted, const Actual* actual, const Device& device, double cores, int element_bytes) {
  const double vector_bytes = actual != nullptr ? std::clamp(actual->vector_bits / 8, element_bytes, device.vector_bytes) : device.vector_bytes;
  const double operations_per_cycle = kOperationsPerLane * vector_bytes / element_bytes;
  std::vector<Bound> all = {{"compute", predicted.flops.value_or(0) / operations_per_cycle / cores},
                            {"l2_bandwidth", traffic(predicted, "l1") / kFromL2_bytes_per_cycle / cores},
                            {"l3_bandwidth", traffic(predicted, "l2") / kFromL3_bytes_per_cycle / cores},
                            {"memory_bandwidth", traffic(predicted, "l3") / kFromMemory_bytes_per_cycle / cores}};
  std::stable_sort(all.begin(), all.end(), [](const Bound& a, const Bound& b) { return a.cycles > b.cycles; });
  return all;
}

std::string kib(double bytes) { return bytes >= 1 << 20 ? fmt::format("{:.1f} MiB", bytes / (1 << 20)) : fmt::format("{:.1f} KiB", bytes / 1024); }

void advise_on_tasks(Advice& advice, const Predicted& predicted, int threads) {
  if (!predicted.parallel_tasks) return;
  const std::int64_t tasks = *predicted.parallel_tasks;
  if (tasks < threads) {
    advice.binds = "parallel_tasks";
    advice.lines.push_back(fmt::format("{} parallel task{} for {} threads: parallelise an outer loop, or split it into smaller tiles", tasks,
                                       tasks == 1 ? "" : "s", threads));
    return;
  }
  const std::int64_t rounds = (tasks + threads - 1) / threads;
  const double idle = 1 - static_cast<double>(tasks) / static_cast<double>(rounds * threads);
  if (idle > kIdleShare)
    advice.lines.push_back(fmt::format("{} tasks on {} threads need {} rounds and leave {:.0f} % of the last ones idle: another tile size divides better",
                                       tasks, threads, rounds, 100 * idle));
}

void advise_on_code(Advice& advice, const Actual& actual, const Device& device, int element_bytes, bool compute_binds) {
  const int widest = 8 * device.vector_bytes;
  if (actual.vector_bits < widest) {
    if (advice.binds.empty() && compute_binds) advice.binds = "vector_width";
    advice.lines.push_back(fmt::format("the widest vectors are of {} bits, the device has {}: vectorize the innermost dense loop by {}", actual.vector_bits,
                                       widest, device.vector_bytes / element_bytes));
  }
  const std::int64_t stack = actual.loop_stack_loads + actual.loop_stack_stores;
  if (stack == 0) return;
  if (advice.binds.empty() && compute_binds) advice.binds = "registers";
  advice.lines.push_back(fmt::format("loops read the stack {} and write it {} times: more values are kept than the {} vector registers hold; unroll less",
                                     actual.loop_stack_loads, actual.loop_stack_stores, device.vector_registers));
}

// Which loop walks more than the cache holds: the innermost one that does, so that shrinking what is inside it helps.
void advise_on_cache(Advice& advice, const Predicted& predicted, const char* cache, std::int64_t bytes) {
  for (auto at = predicted.working_sets.rbegin(); at != predicted.working_sets.rend(); ++at) {
    if (at->bytes <= bytes) continue;
    advice.lines.push_back(fmt::format("one iteration of {} touches {}, {} holds {}: smaller tiles inside it would be reused from there", at->loop,
                                       kib(static_cast<double>(at->bytes)), cache, kib(static_cast<double>(bytes))));
    return;
  }
}

void advise_on_bound(Advice& advice, const Predicted& predicted, const Device& device) {
  if (advice.binds == "l2_bandwidth") advise_on_cache(advice, predicted, "L1", device.l1_bytes);
  if (advice.binds == "l3_bandwidth") advise_on_cache(advice, predicted, "L2", device.l2_bytes);
  if (advice.binds != "memory_bandwidth") return;
  const double from_memory = traffic(predicted, "l3");
  if (from_memory > 1.5 * static_cast<double>(predicted.compulsory_bytes)) {
    advise_on_cache(advice, predicted, "L3", device.l3_bytes);
    advice.lines.push_back(fmt::format("{} come from memory, the arguments are {}: fuse stages or tile so that values are reused while they are near",
                                       kib(from_memory), kib(static_cast<double>(predicted.compulsory_bytes))));
  } else {
    advice.lines.push_back("every argument crosses from memory about once: only a smaller type or fusing with a neighbour would help");
  }
}

std::string advice_on(const generators::Rejection& rejection) {
  using generators::Reason;
  switch (rejection.reason) {
    case Reason::schedule_error: return "the schedule cannot be applied; the text above says what would be legal";
    case Reason::over_scratch: return "compute intermediates at a tile of their consumer, or use smaller tiles";
    case Reason::spills: return "unroll less, or use a smaller register tile";
    case Reason::compile_timeout: return "vectorise and unroll by less: the code grows with their product";
    case Reason::compile_error:
    case Reason::compiler_crash: return "the compiler's own words are above; a simpler form of the same schedule may pass";
    default: return "a change of the schedule is needed: see the text above";
  }
}

}  // namespace

ExplainSubject read_subject(Reader& reader, const std::string& problem, const Schedule& schedule) {
  const ProblemText text = parse_problem_text(problem);
  const OperatorSignature signature = reader.signature(text.operator_name);
  auto algorithm =
      std::make_shared<const Algorithm>(reader.read(text.operator_name, params_of(text, signature.default_params, signature.type_param)));
  return {algorithm, resolve(text, *algorithm), schedule};
}

ExplainSubject stored_subject(db::Store& store, db::ScheduleId schedule, db::ProblemId problem) {
  const db::ProblemRow row = db::problem(store, problem);
  auto algorithm = std::make_shared<const Algorithm>(algorithm_from_json(db::algorithm(store, row.algorithm).json));
  return {algorithm, resolve(parse_problem_text(row.text), *algorithm), parse_schedule(db::schedule(store, schedule).text)};
}

std::optional<KnownTime> known_time(db::Store& store, db::ScheduleId schedule, db::ProblemId problem) {
  std::optional<KnownTime> latest;
  for (const db::ProblemStatus& status : db::problem_status(store)) {
    if (status.key.problem != problem) continue;
    for (const db::KnownOutcome& known : db::known_outcomes(store, status.key)) {
      if (known.schedule != schedule || (latest && known.trial < latest->outcome.trial)) continue;
      latest = KnownTime{known, db::device(store, status.key.device).model, db::protocol(store, status.key.protocol)};
    }
  }
  return latest;
}

generators::Build build_once(const ExplainSubject& subject, const Device& device, const Launch& launch) {
  const TemporaryFolder folder;
  CompilePool pool(1, device, Objects(folder.path()), launch);
  CompileJob job;
  job.algorithm = subject.algorithm;
  job.schedule = print(subject.schedule);
  job.problem = subject.problem;
  std::optional<generators::Build> build;
  pool.run({job}, [](std::int64_t) {}, [&](CompileOutcome outcome) { build = std::move(outcome.build); });
  if (!build) throw EnvironmentError("the compile worker gave no answer");
  return *build;
}

Advice advise(const generators::Build& build, const Device& device, int threads, int element_bytes) {
  Advice advice;
  if (build.rejection) {
    advice.binds = print(build.rejection->reason);
    advice.lines.push_back(advice_on(*build.rejection));
    return advice;
  }
  if (!build.predicted) return {"unknown", {}};
  const Actual* actual = build.actual ? &*build.actual : nullptr;
  const double cores = static_cast<double>(std::clamp<std::int64_t>(build.predicted->parallel_tasks.value_or(threads), 1, threads));
  const std::vector<Bound> all = bounds(*build.predicted, actual, device, cores, element_bytes);
  advise_on_tasks(advice, *build.predicted, threads);
  if (actual != nullptr) advise_on_code(advice, *actual, device, element_bytes, all.front().name == "compute");
  if (advice.binds.empty()) advice.binds = all.front().cycles > 0 ? all.front().name : "unknown";
  advise_on_bound(advice, *build.predicted, device);
  return advice;
}

int element_bytes_of(const Algorithm& algorithm) {
  int widest_float = 0, widest = 1;
  for (const Stage& stage : algorithm.stages)
    for (const DType type : stage.types) {
      widest = std::max(widest, type.bytes());
      if (type.is_float()) widest_float = std::max(widest_float, type.bytes());
    }
  return widest_float > 0 ? widest_float : widest;
}

std::optional<double> intensity(const Predicted& predicted) {
  const double bytes = predicted.traffic_bytes.contains("l3") ? traffic(predicted, "l3") : static_cast<double>(predicted.compulsory_bytes);
  if (!predicted.flops || bytes <= 0) return std::nullopt;
  return *predicted.flops / bytes;
}

}  // namespace kiln::autotune
