// Pure statistics of samples: quartiles, ratios per round, bootstrap intervals, the noise floor. No clock, no I/O, the seed is passed in.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kiln::autotune {

// One timed stretch of calls.
struct Sample {
  int round = 0;
  float ns = 0;            // of one call
  bool switched = false;   // the scheduler took a core away during it
  bool operator==(const Sample&) const = default;
};

// Linear between the order statistics, as numpy's default; `share` in [0, 1]. NaN for no values.
double quantile(std::span<const double> values, double share);
inline constexpr double kLowerQuartile = 0.25, kMedian = 0.5;  // shares
double lower_quartile(std::span<const double> values);
double median(std::span<const double> values);

// Without the samples that were switched, if at least `min_clean` remain; else all of them.
std::vector<double> clean_ns(std::span<const Sample> samples, int min_clean);

// An estimate with its 95 % interval.
struct Ratio {
  double value = 1, low = 1, high = 1;
  int rounds = 0;
  double width() const { return high - low; }
  bool contains(double x) const { return low <= x && x <= high; }
  bool operator==(const Ratio&) const = default;
};

// The quantile `share` of `candidate` over that of `base` in every round that has both. In a round the switched samples are left out if half of it remains.
std::vector<double> round_ratios(std::span<const Sample> candidate, std::span<const Sample> base, double share = kLowerQuartile);

// The median with the 95 % interval of 1,000 resamples (with replacement, of the rounds). One round: the interval is [0, infinity), nothing is known
// of the spread. None: NaN.
Ratio bootstrap_median(std::span<const double> ratios, std::uint64_t seed);
Ratio ratio_to(std::span<const Sample> candidate, std::span<const Sample> base, std::uint64_t seed, double share = kLowerQuartile);

// The A/A floor from two series of one kernel: the 95th percentile of |median ratio - 1| over 1,000 resamples of the rounds.
double noise_floor(std::span<const Sample> a, std::span<const Sample> b, std::uint64_t seed, double share = kLowerQuartile);

// Two times within this of each other are a tie: max(1 %, 2 f).
double tie_margin(double floor);

// Above this floor (5 %) the machine is contended.
inline constexpr double kContendedFloor = 0.05;

}  // namespace kiln::autotune
