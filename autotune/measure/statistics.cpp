#include "autotune/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

namespace kiln::autotune {
namespace {

constexpr int kResamples = 1000;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double quantile_in_place(std::vector<double>& values, double share) {
  if (values.empty()) return kNan;
  const double position = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin(), nth, values.end());
  const double fraction = position - static_cast<double>(below);
  if (fraction == 0) return *nth;
  return *nth + fraction * (*std::min_element(nth + 1, values.end()) - *nth);
}

// Medians of resamples, unsorted. The index is drawn by multiplication, so that every standard library gives the same numbers.
std::vector<double> resampled_medians(std::span<const double> values, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> medians(kResamples), sample(values.size());
  for (double& value : medians) {
    for (double& drawn : sample) drawn = values[static_cast<std::size_t>((random() >> 32) * values.size() >> 32)];
    value = quantile_in_place(sample, 0.5);
  }
  return medians;
}

// A quantile of every round: without the switched samples where at least half of the round is clean.
std::map<int, double> round_quantiles(std::span<const Sample> samples, double share) {
  std::map<int, std::vector<Sample>> rounds;
  for (const Sample& sample : samples) rounds[sample.round].push_back(sample);
  std::map<int, double> quantiles;
  for (const auto& [round, members] : rounds) quantiles[round] = quantile(clean_ns(members, static_cast<int>(members.size() + 1) / 2), share);
  return quantiles;
}

}  // namespace

double quantile(std::span<const double> values, double share) {
  std::vector<double> copy(values.begin(), values.end());
  return quantile_in_place(copy, share);
}

double lower_quartile(std::span<const double> values) { return quantile(values, kLowerQuartile); }
double median(std::span<const double> values) { return quantile(values, kMedian); }

std::vector<double> clean_ns(std::span<const Sample> samples, int min_clean) {
  const auto clean = std::count_if(samples.begin(), samples.end(), [](const Sample& sample) { return !sample.switched; });
  const bool drop = clean >= min_clean && clean > 0;
  std::vector<double> ns;
  for (const Sample& sample : samples)
    if (!drop || !sample.switched) ns.push_back(static_cast<double>(sample.ns));
  return ns;
}

std::vector<double> round_ratios(std::span<const Sample> candidate, std::span<const Sample> base, double share) {
  const std::map<int, double> ours = round_quantiles(candidate, share), theirs = round_quantiles(base, share);
  std::vector<double> ratios;
  for (const auto& [round, ns] : ours)
    if (const auto found = theirs.find(round); found != theirs.end()) ratios.push_back(ns / found->second);
  return ratios;
}

Ratio bootstrap_median(std::span<const double> ratios, std::uint64_t seed) {
  Ratio ratio{median(ratios), kNan, kNan, static_cast<int>(ratios.size())};
  if (ratios.size() == 1) {
    ratio.low = 0;
    ratio.high = std::numeric_limits<double>::infinity();
  } else if (ratios.size() > 1) {
    std::vector<double> medians = resampled_medians(ratios, seed);
    ratio.low = quantile_in_place(medians, 0.025);
    ratio.high = quantile_in_place(medians, 0.975);
  }
  return ratio;
}

Ratio ratio_to(std::span<const Sample> candidate, std::span<const Sample> base, std::uint64_t seed, double share) {
  return bootstrap_median(round_ratios(candidate, base, share), seed);
}

double noise_floor(std::span<const Sample> a, std::span<const Sample> b, std::uint64_t seed, double share) {
  const std::vector<double> ratios = round_ratios(a, b, share);
  if (ratios.empty()) return kNan;
  std::vector<double> errors = resampled_medians(ratios, seed);
  for (double& error : errors) error = std::abs(error - 1);
  return quantile_in_place(errors, 0.95);
}

double tie_margin(double floor) { return std::max(0.01, 2 * floor); }

}  // namespace kiln::autotune
