// Compiles every plan of the CUDA spaces, once a text, and holds what was predicted against what the compiler says: a table in Markdown. No GPU is
// needed.
// usage: compile_all [--minutes N] [--kept FILE] [PROBLEM...]
// Texts that there is no time for are left out, drawn at random: the columns say how many were compiled. Outcomes are kept in FILE (compile_all.txt),
// where a later run goes on.
#include <fmt/format.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "bench/plan_texts.h"
#include "dsl/error.h"
#include "generators/cuda/build.h"
#include "schedules/devices.h"

namespace kiln::bench {
namespace {

namespace cuda = generators::cuda;
using Clock = std::chrono::steady_clock;
using generators::KernelResources;

constexpr std::int64_t kSpills = 8;  // bytes that do not count
constexpr unsigned kSeed = 20261130;

// The shipped operators' problems that kernels are tuned for. Where only m differs, texts are shared. Feed-forward layers are left out: their plans are those of gated
// products and of products, each with each.
const std::vector<std::string>& all_problems() {
  static const std::vector<std::string> kProblems = [] {
    std::vector<std::string> problems = {"transpose(m=4096, n=4096)", "transpose(m=16384, n=16384)"};
    for (const char* form : {"", ", weights=kn"})
      for (const char* sides : {"n=12288, k=4096", "n=4096, k=12288"})
        for (const int m : {1, 2}) problems.push_back(fmt::format("matvec(m={}, {}, bf16{})", m, sides, form));
    for (const int m : {1024, 7239, 1}) problems.push_back(fmt::format("swiglu(m={}, n=12288, bf16)", m));
    for (const int m : {1024, 7239, 1}) problems.push_back(fmt::format("swiglu_quant(m={}, n=12288, bf16)", m));
    for (const int m : {1024, 7239, 64, 1}) problems.push_back(fmt::format("rmsnorm(m={}, n=4096, bf16)", m));
    problems.emplace_back("softmax(m=4096, n=8192, bf16)");
    for (const int m : {1024, 7239, 1}) problems.push_back(fmt::format("swiglu_quant(m={}, n=12288, bf16, scale=row)", m));
    for (const char* form : {"", ", weights=kn"}) {
      for (const int m : {16, 64, 256, 1024}) problems.push_back(fmt::format("matmul(m={}, n=12288, k=4096, bf16{})", m, form));
      for (const int m : {16, 1024}) problems.push_back(fmt::format("matmul(m={}, n=4096, k=12288, bf16{})", m, form));
      for (const int m : {16, 64, 1024}) problems.push_back(fmt::format("matmul_swiglu(m={}, n=12288, k=4096, bf16{})", m, form));
    }
    problems.emplace_back("matmul(m=1024, n=12288, k=4096, bf16, epilogue=silu, weights=kn)");
    for (const char* form : {"", ", accumulation=plain"})
      for (const int m : {16, 256, 1024}) problems.push_back(fmt::format("matmul_fp8(m={}, n=12288, k=4096{})", m, form));
    return problems;
  }();
  return kProblems;
}

struct Arguments {
  double minutes = 60;
  std::string kept = "compile_all.txt";
  std::vector<std::string> problems;
};

Arguments parsed(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--minutes" && has_value) {
      arguments.minutes = std::atof(argv[++i]);
    } else if (word == "--kept" && has_value) {
      arguments.kept = argv[++i];
    } else if (word.starts_with("--")) {
      throw UsageError("usage: compile_all [--minutes N] [--kept FILE] [PROBLEM...]");
    } else {
      arguments.problems.push_back(word);
    }
  }
  if (arguments.problems.empty()) arguments.problems = all_problems();
  return arguments;
}

struct KernelFacts {
  std::int64_t registers = 0, spill_bytes = 0, shared_bytes = 0;
};

// What became of a text. `code` is "built", a rejection's code, or "unexplained".
struct Outcome {
  std::string code;
  double seconds = 0;
  std::vector<KernelFacts> kernels;
};

// A line each; read back as it was written.
std::string print(const Outcome& outcome) {
  std::string text = fmt::format("{} {:.3f}", outcome.code, outcome.seconds);
  for (const KernelFacts& kernel : outcome.kernels) text += fmt::format(" {} {} {}", kernel.registers, kernel.spill_bytes, kernel.shared_bytes);
  return text;
}

Outcome read_outcome(std::istringstream& line) {
  Outcome outcome;
  line >> outcome.code >> outcome.seconds;
  for (KernelFacts kernel; line >> kernel.registers >> kernel.spill_bytes >> kernel.shared_bytes;) outcome.kernels.push_back(kernel);
  return outcome;
}

// Of the processor, so that what else runs does not count.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Outcome built(const cuda::compile::Nvrtc& nvrtc, const Plans& plans, std::uint64_t rank, const Device& device) {
  const double start = thread_seconds();
  Outcome outcome;
  try {
    const generators::Build build = cuda::build(nvrtc, plans.algorithm, plans.space.schedule(plans.space.unrank(rank)), plans.problem, device);
    outcome.code = "built";
    if (build.rejection) {
      outcome.code = build.rejection->text.empty() ? "unexplained" : std::string(print(build.rejection->reason));
      std::fprintf(stderr, "%s\n", fmt::format("{}, point {}: {}", print(plans.problem), rank, build.rejection->text).c_str());
    }
    if (build.actual)
      for (const KernelResources& kernel : build.actual->kernels) outcome.kernels.push_back({kernel.registers, kernel.spill_bytes, kernel.shared_bytes});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s, point %llu: %s\n", print(plans.problem).c_str(), static_cast<unsigned long long>(rank), error.what());
    outcome.code = "unexplained";
  }
  outcome.seconds = thread_seconds() - start;
  return outcome;
}

// Outcomes by text, in a file of one line each: every process that compiles appends to it, and who has waited for them reads it again.
class Kept {
 public:
  explicit Kept(std::string path) : path_(std::move(path)) {
    if (!std::ofstream(path_, std::ios::app)) throw UsageError("cannot write " + path_);
    read();
  }
  const Outcome* find(const Digest& text) const {
    const auto found = outcomes_.find(text.hex());
    return found == outcomes_.end() ? nullptr : &found->second;
  }
  // Whole lines at once, so that those of several processes never mix.
  void append(const Digest& text, const Outcome& outcome) const {
    std::ofstream(path_, std::ios::app) << text.hex() + " " + print(outcome) + "\n" << std::flush;
  }
  void read() {
    std::ifstream file(path_);
    for (std::string text; std::getline(file, text);) {
      std::istringstream line(text);
      std::string key;
      line >> key;
      outcomes_[key] = read_outcome(line);
    }
  }

 private:
  std::string path_;
  std::map<std::string, Outcome> outcomes_;
};

struct Session {
  const cuda::compile::Nvrtc& nvrtc;
  const Device& device;
  unsigned processors;
  std::vector<Plans> plans;
  Texts texts;

  // Of the problem's texts those that have no outcome yet, in random order, until the deadline. In processes: 16 of them compiled 5,500 texts a minute, 16 threads
  // of one 1,300, both beside other work.
  void compile(const Plans& one, Kept& kept, Clock::time_point deadline) const {
    std::vector<Digest> work;
    for (const Digest& text : one.texts)
      if (kept.find(text) == nullptr) work.push_back(text);
    std::shuffle(work.begin(), work.end(), std::mt19937(kSeed));
    std::vector<pid_t> workers;
    for (unsigned i = 0; i < processors; ++i) {
      const pid_t worker = fork();
      if (worker < 0) throw EnvironmentError(fmt::format("cannot fork: {}", std::strerror(errno)));
      if (worker == 0) {
        for (std::size_t at = i; at < work.size() && Clock::now() < deadline; at += processors) kept.append(work[at], outcome_of(work[at]));
        _exit(0);
      }
      workers.push_back(worker);
    }
    for (const pid_t worker : workers) {
      int status = 0;
      if (waitpid(worker, &status, 0) < 0 || status != 0) throw EnvironmentError(fmt::format("a process that compiles ended with status {:#x}", status));
    }
    kept.read();
  }

 private:
  Outcome outcome_of(const Digest& text) const {
    const TextOrigin& origin = texts.origin(text);
    return built(nvrtc, plans[origin.problem], origin.rank, device);
  }
};

// Counts over the compiled texts of a problem, or of all.
struct Row {
  std::uint64_t plans = 0;
  std::size_t texts = 0, fresh = 0, compiled = 0, unexplained = 0, kernels = 0, fitting = 0, wrong_shared = 0, spilling = 0, said = 0, named = 0;
  std::map<std::string, std::size_t> rejected;
  double seconds = 0;

  void add(const Outcome& outcome, const std::vector<KernelResources>& predicted) {
    ++compiled;
    seconds += outcome.seconds;
    if (outcome.code == "unexplained") ++unexplained;
    if (outcome.code != "built" && outcome.code != "unexplained") ++rejected[outcome.code];
    for (std::size_t i = 0; i < std::min(outcome.kernels.size(), predicted.size()); ++i) {
      const KernelFacts& actual = outcome.kernels[i];
      const double off = std::abs(static_cast<double>(predicted[i].registers - actual.registers));
      const bool spills = actual.spill_bytes > kSpills, says = predicted[i].spill_bytes > kSpills;
      ++kernels;
      fitting += off <= std::max(8.0, 0.15 * static_cast<double>(actual.registers));
      wrong_shared += predicted[i].shared_bytes != actual.shared_bytes;
      spilling += spills;
      said += says;
      named += spills && says;
    }
  }
};

std::string share(std::size_t part, std::size_t all) {
  return all == 0 ? "–" : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(all));
}

std::string line_of(const std::string& space, const std::string& problem, const Row& row) {
  std::string rejected;
  for (const auto& [code, count] : row.rejected) rejected += fmt::format("{}{} {}", rejected.empty() ? "" : ", ", count, code);
  const std::string spills = row.spilling + row.said == 0 ? "none" : fmt::format("{} / {} / {}", row.spilling, row.named, row.said);
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.0f} |\n", space, problem, row.plans, row.texts, row.fresh,
                     row.compiled, rejected.empty() ? "0" : rejected, row.unexplained, share(row.fitting, row.kernels), row.wrong_shared, spills,
                     row.seconds);
}

void print_table(const Session& session, const Kept& kept) {
  std::printf("Spills: kernels that spill more than 8 bytes, those of them that were predicted to, all that were predicted to.\n\n"
              "| space | problem | plans | texts | of them new | compiled | refused | unexplained | registers within max(8, 15 %%) | shared memory off | "
              "spills | CPU s |\n"
              "|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  Row all;
  std::map<Digest, bool> counted;
  for (const Plans& one : session.plans) {
    Row row;
    row.plans = one.count;
    row.texts = one.texts.size();
    row.fresh = one.fresh;
    all.plans += one.count;
    all.texts += one.fresh;
    for (const Digest& text : one.texts) {
      const Outcome* outcome = kept.find(text);
      if (outcome == nullptr) continue;
      row.add(*outcome, session.texts.origin(text).predicted);
      if (!std::exchange(counted[text], true)) all.add(*outcome, session.texts.origin(text).predicted);
    }
    std::printf("%s", line_of(one.space.name(), print(one.problem), row).c_str());
  }
  all.fresh = all.texts;
  std::printf("%s", line_of("all", "", all).c_str());
}

int run(const Arguments& arguments) {
  const auto start = Clock::now();
  const cuda::compile::Nvrtc nvrtc;
  Session session{nvrtc, schedules::device_named("h200"), std::max(1U, std::thread::hardware_concurrency()), {}, {}};
  Kept kept(arguments.kept);
  for (const std::string& problem : arguments.problems) {
    session.plans.push_back(plans_of(problem, session.device));
    session.texts.add(session.plans.back(), session.plans.size() - 1, session.device, session.processors);
    const Plans& one = session.plans.back();
    std::fprintf(stderr, "%s\n", fmt::format("{}: {} plans, {} texts, {} of them new, {:.0f} s", problem, one.count, one.texts.size(), one.fresh, one.seconds).c_str());
  }
  // Those with the fewest texts first, so that they are compiled whole; the rest of the time in equal parts.
  std::vector<const Plans*> order;
  for (const Plans& one : session.plans) order.push_back(&one);
  std::stable_sort(order.begin(), order.end(), [](const Plans* a, const Plans* b) { return a->fresh < b->fresh; });
  const auto end = start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(60 * arguments.minutes));
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto now = Clock::now();
    session.compile(*order[i], kept, now + std::max(Clock::duration{}, end - now) / static_cast<int>(order.size() - i));
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::printf("NVRTC %s for sm_90a, %u processors, %.0f s.\n", nvrtc.version().c_str(), session.processors, seconds);
  print_table(session, kept);
  return 0;
}

}  // namespace
}  // namespace kiln::bench

int main(int argc, char** argv) try {
  return kiln::bench::run(kiln::bench::parsed(argc, argv));
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
