#include "autotune/worker/health.h"

#include <cstdint>
#include <thread>
#include <vector>

#include <fmt/format.h>

namespace kiln::autotune {
namespace {

constexpr std::uint64_t kSteps = 20'000;

constexpr std::uint64_t step(std::uint64_t x) {
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return x * 0x2545f4914f6cdd1dULL;
}

constexpr std::uint64_t checksum(std::uint64_t start) {
  for (std::uint64_t i = 0; i < kSteps; ++i) start = step(start) + i;
  return start;
}

constexpr std::uint64_t kStart = 0x6b696c6e;
constexpr std::uint64_t kExpected = checksum(kStart);  // by the compiler, not by this processor

// 1 + 1/2 + 1/4 + … in fused steps: every partial sum is exact, so the answer is 2 - 2^-40 on any IEEE machine.
bool sums_floats() {
  volatile double half = 0.5;
  double sum = 0, term = 1;
  for (int i = 0; i <= 40; ++i, term *= half) sum += term;
  return sum == 2 - 0x1p-40;
}

}  // namespace

std::string find_health_complaint(int threads) {
  std::vector<std::uint64_t> answers(static_cast<std::size_t>(threads), 0);
  {
    std::vector<std::jthread> workers;
    for (std::uint64_t& answer : answers)
      workers.emplace_back([&answer] {
        volatile std::uint64_t start = kStart;
        answer = sums_floats() ? checksum(start) : 0;
      });
  }
  for (std::size_t i = 0; i < answers.size(); ++i)
    if (answers[i] != kExpected) return fmt::format("thread {} of {} computed {:016x} where {:016x} is right", i, threads, answers[i], kExpected);
  return "";
}

}  // namespace kiln::autotune
