// When enough rounds of a comparison have been seen.
#pragma once

#include <cstdint>
#include <vector>

#include "autotune/measure/statistics.h"

namespace kiln::autotune {

struct StoppingLimits {
  double margin = 0.01;     // tie_margin of the floor
  int min_samples = 60;
  int max_samples = 400;
  double max_s = 5;         // of the contender's own running time
  bool gains_only = false;  // all that is asked is whether it is faster by a margin: no is enough from a few rounds
};

// Feed it one round after the other. A larger margin stops earlier.
class StoppingRule {
 public:
  enum class Verdict { open, faster, slower, tie, exhausted };

  StoppingRule(StoppingLimits limits, std::uint64_t seed) : limits_(limits), seed_(seed) {}

  // One round: the ratio of the contender to what it is compared with, how many samples it took and how long they ran.
  void add(double ratio, int samples, double seconds);

  // faster: the interval lies below 1 - margin; slower: above 1 + margin; tie: narrower than margin / 2; none of them before min_samples, but where
  // gains_only asks: slower above 1, a tie above 1 - margin.
  // exhausted: max_samples or max_s.
  Verdict verdict() const { return verdict_; }
  bool is_finished() const { return verdict_ != Verdict::open; }
  Ratio ratio() const { return ratio_; }

 private:
  StoppingLimits limits_;
  std::uint64_t seed_;
  std::vector<double> ratios_;
  int samples_ = 0;
  double seconds_ = 0;
  Ratio ratio_{1, 0, 0, 0};
  Verdict verdict_ = Verdict::open;
};

}  // namespace kiln::autotune
