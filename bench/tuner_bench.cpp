// How fast the tuner itself is: `tuner_bench KILN_PROGRAM`. Candidates a second through enumeration and legality, prediction (lowering included) and
// compiling in two worker processes, and the share of a run's wall clock that is neither compiling nor measuring.

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>

#include "autotune/compile_pool.h"
#include "autotune/probe.h"
#include "autotune/reader.h"
#include "autotune/session.h"
#include "dsl/legality.h"
#include "schedules/spaces.h"

namespace kiln::bench {
namespace {

using Clock = std::chrono::steady_clock;
using autotune::CompileJob;
using autotune::CompileOutcome;

constexpr int kEnumerated = 20000;
constexpr int kCompiled = 128;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Product {
  std::shared_ptr<const Algorithm> algorithm;
  Problem problem;
  schedules::Space space;
};

Product product(const Device& device, const autotune::Launch& launch) {
  autotune::Reader reader({}, device, {}, launch);
  auto algorithm = std::make_shared<const Algorithm>(reader.read("matmul", {}));
  Problem problem = resolve(parse_problem_text("matmul(m=1024, n=1024, k=1024)"), *algorithm);
  schedules::Space space = schedules::space_for(*algorithm, problem, device).value();
  return {algorithm, problem, std::move(space)};
}

void enumerate(const Product& product) {
  schedules::Random random(1);
  int illegal = 0;
  const auto start = Clock::now();
  for (int i = 0; i < kEnumerated; ++i)
    illegal += find_illegal(product.space.schedule(product.space.sample(random)), *product.algorithm, &product.problem).has_value();
  std::printf("| draw a point, print its schedule, check legality | %.0f candidates/s (%d of %d illegal) |\n", kEnumerated / seconds_since(start), illegal,
              kEnumerated);
}

void compile(const Product& product, const Device& device, const autotune::Launch& launch, const std::filesystem::path& folder) {
  autotune::CompilePool pool(2, device, autotune::Objects(folder), launch);
  schedules::Random random(2);
  std::vector<CompileJob> jobs;
  for (int i = 0; i < kCompiled; ++i) {
    CompileJob job;
    job.id = i;
    job.algorithm = product.algorithm;
    job.schedule = print(product.space.schedule(product.space.sample(random)));
    job.problem = product.problem;
    jobs.push_back(std::move(job));
  }
  double lower_ms = 0, compile_ms = 0;
  int built = 0;
  const auto start = Clock::now();
  pool.run(std::move(jobs), [](std::int64_t) {},
           [&](const CompileOutcome& outcome) {
             lower_ms += outcome.build.lower_ms;
             compile_ms += outcome.build.compile_ms;
             built += outcome.object.has_value();
           });
  const double wall_s = seconds_since(start);
  std::printf("| lower and predict, one process | %.1f candidates/s |\n", 1000 * kCompiled / lower_ms);
  std::printf("| lower, predict, compile, report: two workers, their starts included | %.1f candidates/s (%.1f a worker; %d of %d built; %.0f + %.0f ms each) |\n",
              kCompiled / wall_s, kCompiled / wall_s / 2, built, kCompiled, lower_ms / kCompiled, compile_ms / kCompiled);
}

class Silent : public autotune::Progress {
 public:
  void step(const autotune::Step&) override {}
  void note(const std::string& line) override { std::fprintf(stderr, "%s\n", line.c_str()); }
};

void tune(const autotune::Launch& launch, const std::filesystem::path& folder) {
  autotune::TuneOptions options;
  options.operators = {"matmul"};
  options.problems = {"matmul(m=256, n=1024, k=1024)"};
  options.budget_s = 60;
  options.db = folder / "kiln.db";
  options.command = "tuner_bench";
  options.wait = true;
  options.launch = launch;
  Silent progress;
  const autotune::TuneOutcome outcome = autotune::tune(options, progress, [] { return autotune::StopRequest::go_on; });
  const double rest_s = outcome.total_s - outcome.compiling_s - outcome.measuring_s;
  std::printf("| a run of 60 s on 256×1024×1024 | %.1f s, of which %.1f s compiling, %.1f s checking and measuring, %.1f %% neither |\n", outcome.total_s,
              outcome.compiling_s, outcome.measuring_s, 100 * rest_s / outcome.total_s);
}

int run(const std::string& program) {
  autotune::Launch launch;
  launch.program = program;
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / fmt::format("kiln-tuner-bench-{}", getpid());
  std::filesystem::create_directories(folder);
  const Device device = autotune::probe(launch).device;
  const Product matmul = product(device, launch);
  std::printf("| stage | matmul 1024×1024×1024 |\n|---|---|\n");
  enumerate(matmul);
  compile(matmul, device, launch, folder / "cache");
  tune(launch, folder);
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace kiln::bench

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: tuner_bench KILN_PROGRAM\n");
    return 2;
  }
  try {
    return kiln::bench::run(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tuner_bench: %s\n", error.what());
    return 1;
  }
}
