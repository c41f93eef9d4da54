// Kiln's chosen matmul kernels against OpenBLAS, interleaved in one process: `operators_bench DB THREADS LIBOPENBLAS`.
// Prints a table in Markdown: time, share of the multiply-add peak taken in the same run, ratio to each OpenBLAS kernel set with its 95 % interval,
// and what the same kernel differs from itself (A/A).

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <new>
#include <random>
#include <thread>
#include <vector>

#include "autotune/measure/statistics.h"
#include "bench/openblas.h"
#include "bench/peak.h"
#include "db/artifacts.h"
#include "db/builds.h"
#include "db/choices.h"
#include "db/identities.h"
#include "dsl/error.h"
#include "generators/host/call.h"
#include "generators/host/host.h"
#include "generators/host/loaded.h"
#include "generators/runtime/host.h"

namespace kiln::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRounds = 40;
constexpr double kSampleNs = 200e3;  // calls are bundled up to this
constexpr double kWarmNs = 10e6;     // and at least one call, before a contender's samples of a round
// OpenBLAS's workers spin for a while after a call, on the core that the next contender needs: nobody is measured while they do.
constexpr std::chrono::milliseconds kSettle{150};

struct Contender {
  std::string name;
  std::function<void()> call;
  std::vector<autotune::Sample> samples;
};

struct Shape {
  int m, n, k;
};

double timed_ns(const std::function<void()>& call, int calls) {
  const auto start = Clock::now();
  for (int i = 0; i < calls; ++i) call();
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / calls;
}

// After the pause caches are others' and workers asleep. Returns the time of the last call.
double warm(const std::function<void()>& call) {
  const auto start = Clock::now();
  double last_ns = timed_ns(call, 1);
  while (std::chrono::duration<double, std::nano>(Clock::now() - start).count() < kWarmNs) last_ns = timed_ns(call, 1);
  return last_ns;
}

void race(std::vector<Contender>& contenders) {
  std::mt19937 random(7);
  std::vector<std::size_t> order(contenders.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (int round = 0; round < kRounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) {
      std::this_thread::sleep_for(kSettle);
      const double call_ns = warm(contenders[i].call);
      const int calls = std::max(1, static_cast<int>(kSampleNs / call_ns));
      for (int s = 0; s < 3; ++s) contenders[i].samples.push_back({round, static_cast<float>(timed_ns(contenders[i].call, calls)), false});
    }
  }
}

double quartile_ns(const Contender& contender) {
  std::vector<double> ns;
  for (const autotune::Sample& sample : contender.samples) ns.push_back(sample.ns);
  return autotune::lower_quartile(ns);
}

// The kernel that the store chose for this problem, with what it needs to be called.
struct Chosen {
  Algorithm algorithm;
  Problem problem;
  std::unique_ptr<generators::host::Loaded> kernel;
  std::string schedule;
};

std::vector<Chosen> chosen_products(db::Store& store) {
  std::vector<Chosen> all;
  for (const db::ServedBuild& served : served_builds(store)) {
    const db::ProblemRow row = problem(store, served.choice.row.key.problem);
    if (row.operator_name != "matmul") continue;
    Chosen chosen;
    chosen.algorithm = algorithm_from_json(db::algorithm(store, row.algorithm).json);
    chosen.problem = resolve(parse_problem_text(row.text), chosen.algorithm);
    const db::BuildRow build = db::build(store, served.build, served.choice.row.key.problem).row;
    const auto object = get_artifact(store, build.binary.value());
    if (!object) throw DataError("the store holds no object for " + row.text);
    chosen.kernel = std::make_unique<generators::host::Loaded>(generators::Artifact{*object, build.symbol, build.target});
    chosen.schedule = schedule(store, served.schedule).text;
    all.push_back(std::move(chosen));
  }
  return all;
}

// On a cache line, as the allocators of tensor libraries give it: 64-byte loads that straddle two lines would be measured otherwise.
template <typename Value>
struct LineAllocator {
  using value_type = Value;
  static Value* allocate(std::size_t count) { return static_cast<Value*>(::operator new(count * sizeof(Value), std::align_val_t{64})); }
  static void deallocate(Value* values, std::size_t) { ::operator delete(values, std::align_val_t{64}); }
  bool operator==(const LineAllocator&) const = default;
};
using Floats = std::vector<float, LineAllocator<float>>;

Floats noise(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Floats values(count);
  for (float& value : values) value = normal(random);
  return values;
}

// Far below what a wrong kernel does, above what two orders of summation of 1,024 products differ by.
double largest_difference(const Floats& a, const Floats& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, static_cast<double>(std::abs(a[i] - b[i])));
  return largest;
}

void compare(const Chosen& chosen, const std::vector<std::unique_ptr<OpenBlas>>& rivals, int threads) {
  const auto extent = [&](const char* symbol) { return static_cast<int>(chosen.problem.extents.at(symbol)); };
  const Shape shape{extent("m"), extent("n"), extent("k")};
  Floats a = noise(static_cast<std::size_t>(shape.m) * static_cast<std::size_t>(shape.k), 1),
                     b = noise(static_cast<std::size_t>(shape.k) * static_cast<std::size_t>(shape.n), 2),
                     c(static_cast<std::size_t>(shape.m) * static_cast<std::size_t>(shape.n)), theirs(c.size());
  generators::host::Call call(chosen.algorithm, generators::host::extents_of(chosen.algorithm, chosen.problem), {a.data(), b.data(), c.data()});
  const auto ours = [&] {
    if ((*chosen.kernel)(call.argv()) != 0) throw Error(kiln_host_error_text());
  };
  std::vector<Contender> contenders{{"Kiln", ours, {}}, {"Kiln again", ours, {}}};
  for (const auto& rival : rivals) {
    contenders.push_back({rival->core_type() + " sgemm", [&, r = rival.get()] { r->sgemm(shape.m, shape.n, shape.k, a.data(), b.data(), theirs.data()); }, {}});
    if (shape.m == 1)
      contenders.push_back({rival->core_type() + " sgemv", [&, r = rival.get()] { r->sgemv(shape.n, shape.k, a.data(), b.data(), theirs.data()); }, {}});
  }
  ours();
  contenders.back().call();
  if (const double difference = largest_difference(c, theirs); difference > 1e-2) throw Error(fmt::format("results differ by {}", difference));
  race(contenders);

  const double ns = quartile_ns(contenders[0]);
  const double gflops = 2.0 * shape.m * shape.n * shape.k / ns;
  const double peak = fma_peak_gflops(threads, 200);
  const double aa = autotune::noise_floor(contenders[0].samples, contenders[1].samples, 3);
  std::string row = fmt::format("| {}×{}×{} | {} | {:.4f} | {:.1f} | {:.1f} % | {:.2f} % |", shape.m, shape.n, shape.k, threads, ns / 1e6, gflops,
                                100 * gflops / peak, 100 * aa);
  for (std::size_t i = 2; i < contenders.size(); ++i) {
    const autotune::Ratio ratio = autotune::ratio_to(contenders[i].samples, contenders[0].samples, 5);
    row += fmt::format(" {} {:.3f} ({:.3f}–{:.3f}){}", contenders[i].name, ratio.value, ratio.low, ratio.high, i + 1 < contenders.size() ? "," : " |");
  }
  std::printf("%s\n", row.c_str());
  std::fflush(stdout);
}

int run(const std::string& db_path, int threads, const std::string& library) {
  kiln_host_start(threads);
  db::Store store(db_path, {.access = db::Access::read_only, .now = {}});
  std::vector<std::unique_ptr<OpenBlas>> rivals;
  for (const std::string core_type : {"SkylakeX", "Haswell"}) {
    if (processor_has(core_type))
      rivals.push_back(std::make_unique<OpenBlas>(library, core_type, threads));
    else
      std::printf("(OpenBLAS's %s kernels are left out: this processor lacks what they need)\n", core_type.c_str());
  }
  std::printf("| m×n×k | threads | Kiln ms | GFLOP/s | of peak | A/A | time of OpenBLAS / time of Kiln (95 %%) |\n|---|---|---|---|---|---|---|\n");
  for (const Chosen& chosen : chosen_products(store)) compare(chosen, rivals, threads);
  return 0;
}

}  // namespace
}  // namespace kiln::bench

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: operators_bench DB THREADS LIBOPENBLAS\n");
    return 2;
  }
  try {
    return kiln::bench::run(argv[1], std::atoi(argv[2]), argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "operators_bench: %s\n", error.what());
    return 1;
  }
}
