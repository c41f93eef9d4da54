// Random numbers that are the same on every machine: the standard fixes the engine's bits but not what its distributions make of them.
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace kiln::schedules {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t bits() { return engine_(); }

  // Uniform in [0, bound); bound ≥ 1. Draws above the largest multiple of `bound` are thrown away, so no value is favoured.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t rest = (UINT64_MAX % bound + 1) % bound;
    std::uint64_t drawn = engine_();
    while (drawn > UINT64_MAX - rest) drawn = engine_();
    return drawn % bound;
  }

  template <typename Item>
  void shuffle(std::vector<Item>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace kiln::schedules
