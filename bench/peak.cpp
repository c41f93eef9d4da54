#include "bench/peak.h"

#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace kiln::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Fourteen chains: more than latency (4) times units (2), few enough for sixteen registers.
constexpr int kChains = 14;
constexpr long kSteps = 20000;

__attribute__((target("avx512f"))) float chains_512() {
  __m512 sums[kChains];
  for (int i = 0; i < kChains; ++i) sums[i] = _mm512_set1_ps(static_cast<float>(i));
  const __m512 a = _mm512_set1_ps(0.999F), b = _mm512_set1_ps(0.001F);
  for (long step = 0; step < kSteps; ++step)
#pragma GCC unroll 14
    for (int i = 0; i < kChains; ++i) sums[i] = _mm512_fmadd_ps(sums[i], a, b);
  __m512 total = sums[0];
  for (int i = 1; i < kChains; ++i) total = _mm512_add_ps(total, sums[i]);
  float lanes[16];
  _mm512_storeu_ps(lanes, total);
  return lanes[0] + lanes[15];
}

__attribute__((target("avx2,fma"))) float chains_256() {
  __m256 sums[kChains];
  for (int i = 0; i < kChains; ++i) sums[i] = _mm256_set1_ps(static_cast<float>(i));
  const __m256 a = _mm256_set1_ps(0.999F), b = _mm256_set1_ps(0.001F);
  for (long step = 0; step < kSteps; ++step)
#pragma GCC unroll 14
    for (int i = 0; i < kChains; ++i) sums[i] = _mm256_fmadd_ps(sums[i], a, b);
  __m256 total = sums[0];
  for (int i = 1; i < kChains; ++i) total = _mm256_add_ps(total, sums[i]);
  float lanes[8];
  _mm256_storeu_ps(lanes, total);
  return lanes[0] + lanes[7];
}

double flops_of_one_run(bool wide) { return 2.0 * (wide ? 16 : 8) * kChains * static_cast<double>(kSteps); }

// The best of many short runs: a ceiling is what was reached once.
double best_gflops(bool wide, double milliseconds) {
  volatile float sink = 0;
  double best = 0;
  for (const auto end = Clock::now() + std::chrono::duration<double, std::milli>(milliseconds); Clock::now() < end;) {
    const auto start = Clock::now();
    sink = wide ? chains_512() : chains_256();
    const double ns = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    best = std::max(best, flops_of_one_run(wide) / ns);
  }
  (void)sink;
  return best;
}

}  // namespace

double fma_peak_gflops(int threads, double milliseconds) {
  const bool wide = __builtin_cpu_supports("avx512f") != 0;
  std::vector<double> each(static_cast<std::size_t>(threads));
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t)
    workers.emplace_back([&, t] { each[static_cast<std::size_t>(t)] = best_gflops(wide, milliseconds); });
  double sum = 0;
  for (int t = 0; t < threads; ++t) {
    workers[static_cast<std::size_t>(t)].join();
    sum += each[static_cast<std::size_t>(t)];
  }
  return sum;
}

}  // namespace kiln::bench
