// Statistics, the stopping rule and the protocol's text, on synthetic series whose truth is known.
#include "autotune/measure/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "autotune/measure/protocol.h"
#include "autotune/measure/stopping.h"
#include "dsl/error.h"

namespace kiln::autotune {
namespace {

// Times as a shared machine gives them: a true value, delays that only add, and now and then a preemption.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : random_(seed) {}
  std::vector<Sample> series(double true_ns, int rounds, double drift_a_round = 0, int samples = 10) {
    std::exponential_distribution<double> delay(1.0);
    std::uniform_real_distribution<double> unit(0, 1);
    std::vector<Sample> series;
    for (int round = 0; round < rounds; ++round)
      for (int i = 0; i < samples; ++i) {
        const bool switched = unit(random_) < 0.1;
        const double slow = 1 + drift_a_round * round;
        series.push_back({round, static_cast<float>(true_ns * slow * (1 + 0.005 * delay(random_) + (switched ? 20 : 0))), switched});
      }
    return series;
  }

 private:
  std::mt19937_64 random_;
};

TEST(Quantiles, are_linear_between_order_statistics) {
  const std::vector<double> values{4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(lower_quartile(values), 1.75);
  EXPECT_DOUBLE_EQ(median(values), 2.5);
  EXPECT_DOUBLE_EQ(quantile(values, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 4);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{7}), 7);
  EXPECT_TRUE(std::isnan(median({})));
}

TEST(CleanSamples, leave_out_the_switched_ones_only_while_enough_remain) {
  const std::vector<Sample> samples{{0, 1, false}, {0, 9, true}, {0, 2, false}};
  EXPECT_EQ(clean_ns(samples, 2), (std::vector<double>{1, 2}));
  EXPECT_EQ(clean_ns(samples, 3), (std::vector<double>{1, 9, 2}));
  const std::vector<Sample> all_switched{{0, 9, true}};
  EXPECT_EQ(clean_ns(all_switched, 0), std::vector<double>{9});
}

TEST(Ratios, pair_the_rounds_that_both_have) {
  const std::vector<Sample> a{{0, 2, false}, {1, 3, false}, {2, 8, false}}, b{{0, 1, false}, {2, 4, false}, {3, 5, false}};
  EXPECT_EQ(round_ratios(a, b), (std::vector<double>{2, 2}));
}

TEST(Ratios, find_the_truth_under_drift_that_moves_both) {
  Noise noise(1);
  const auto base = noise.series(150'000, 12, 0.02);
  const auto faster = noise.series(120'000, 12, 0.02);
  const Ratio ratio = ratio_to(faster, base, 1);
  EXPECT_NEAR(ratio.value, 0.8, 0.002);
  EXPECT_TRUE(ratio.contains(0.8)) << ratio.low << " " << ratio.high;
  EXPECT_LT(ratio.width(), 0.01);
  EXPECT_EQ(ratio.rounds, 12);
}

TEST(Ratios, contain_the_truth_in_most_series) {
  int contained = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Noise noise(seed);
    const auto a = noise.series(1000, 12), b = noise.series(1000, 12);
    contained += ratio_to(a, b, seed).contains(1) ? 1 : 0;
  }
  EXPECT_GE(contained, 88);  // a percentile bootstrap of twelve rounds covers a little less than 95 %
}

TEST(Ratios, know_nothing_of_the_spread_of_one_round) {
  const Ratio one = bootstrap_median(std::vector<double>{0.5}, 1);
  EXPECT_EQ(one, (Ratio{0.5, 0, INFINITY, 1}));
  EXPECT_TRUE(std::isnan(bootstrap_median({}, 1).value));
}

TEST(Ratios, are_the_same_for_the_same_seed) {
  Noise noise(5);
  const auto a = noise.series(1000, 8), b = noise.series(900, 8);
  EXPECT_EQ(ratio_to(a, b, 3), ratio_to(a, b, 3));
}

TEST(NoiseFloor, is_small_on_a_quiet_machine_and_large_on_a_busy_one) {
  Noise noise(2);
  const auto a = noise.series(1000, 6), b = noise.series(1000, 6);
  EXPECT_LT(noise_floor(a, b, 1), 0.01);
  const auto slower = noise.series(1080, 6);  // a neighbour that hit one series only
  EXPECT_GT(noise_floor(slower, b, 1), kContendedFloor);
}

TEST(NoiseFloor, widens_the_tie) {
  EXPECT_DOUBLE_EQ(tie_margin(0.002), 0.01);
  EXPECT_DOUBLE_EQ(tie_margin(0.02), 0.04);
}

StoppingRule fed(const std::vector<double>& ratios, const StoppingLimits& limits = {}, double seconds = 0) {
  StoppingRule rule(limits, 1);
  for (const double ratio : ratios) rule.add(ratio, 10, seconds);
  return rule;
}

using Verdict = StoppingRule::Verdict;

TEST(StoppingRule, never_decides_before_its_least_number_of_samples) {
  EXPECT_EQ(fed(std::vector<double>(5, 0.5)).verdict(), Verdict::open);
  EXPECT_EQ(fed(std::vector<double>(6, 0.5)).verdict(), Verdict::faster);
}

TEST(StoppingRule, tells_faster_slower_and_tie) {
  EXPECT_EQ(fed({0.90, 0.91, 0.90, 0.92, 0.90, 0.91}).verdict(), Verdict::faster);
  EXPECT_EQ(fed({1.10, 1.11, 1.10, 1.12, 1.10, 1.11}).verdict(), Verdict::slower);
  EXPECT_EQ(fed({1.000, 1.001, 0.999, 1.000, 1.001, 1.000}).verdict(), Verdict::tie);
}

TEST(StoppingRule, goes_on_while_the_interval_is_wide_and_near_one) {
  EXPECT_EQ(fed({0.95, 1.05, 0.97, 1.03, 0.96, 1.04}).verdict(), Verdict::open);
}

TEST(StoppingRule, takes_a_small_difference_for_a_tie_on_a_noisy_machine) {
  const std::vector<double> ratios{0.97, 0.971, 0.969, 0.97, 0.971, 0.97};
  EXPECT_EQ(fed(ratios).verdict(), Verdict::faster);
  EXPECT_EQ(fed(ratios, {.margin = 0.04}).verdict(), Verdict::tie);
}

TEST(StoppingRule, that_asks_for_gains_only_needs_few_rounds_to_see_none) {
  const auto in_threes = [](const std::vector<double>& ratios, bool gains_only) {
    StoppingRule rule({.gains_only = gains_only}, 1);
    for (const double ratio : ratios) rule.add(ratio, 3, 0);
    return rule.verdict();
  };
  const std::vector<double> behind{1.004, 1.003, 1.005, 1.004, 1.003, 1.004}, level{0.998, 0.999, 0.998, 0.997, 0.998, 0.999},
      ahead{0.985, 0.984, 0.986, 0.985, 0.984, 0.985};
  EXPECT_EQ(in_threes(behind, true), Verdict::slower);
  EXPECT_EQ(in_threes(level, true), Verdict::tie);
  EXPECT_EQ(in_threes(ahead, true), Verdict::open);
  EXPECT_EQ(in_threes(behind, false), Verdict::open);
  EXPECT_EQ(in_threes({1.2, 1.2, 1.2, 1.2, 1.2}, true), Verdict::open);
}

TEST(StoppingRule, is_exhausted_by_samples_or_by_time) {
  std::vector<double> wild;
  for (int i = 0; i < 40; ++i) wild.push_back(i % 2 == 0 ? 0.8 : 1.2);
  EXPECT_EQ(fed(wild).verdict(), Verdict::exhausted);
  EXPECT_EQ(fed({0.5, 0.5}, {}, 3).verdict(), Verdict::exhausted);
  EXPECT_EQ(fed({0.5, 0.5}, {}, 2).verdict(), Verdict::open);
}

TEST(StoppingRule, decides_once) {
  StoppingRule rule = fed(std::vector<double>(6, 0.5));
  rule.add(2, 10, 0);
  EXPECT_EQ(rule.verdict(), Verdict::faster);
  EXPECT_EQ(rule.ratio().rounds, 6);
}

TEST(Protocol, prints_as_one_line_that_parses_back) {
  Protocol protocol;
  protocol.threads = 2;
  EXPECT_EQ(print(protocol),
            "kiln-cpu-1;cache=hot;threads=2;stat=q1;sample_us=150;warm_ms=5;screen_samples=5;screen_cut=1.5;round_samples=10;round_ms=50;"
            "rank_samples=60;max_samples=400;max_s=5;final_samples=200;min_clean_samples=15");
  protocol.cache = Cache::cold;
  protocol.sample_us = 0.1;
  EXPECT_EQ(parse_protocol(print(protocol)), protocol);
}

std::string protocol_error(const std::string& text) {
  try {
    parse_protocol(text);
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

TEST(Protocol, refuses_what_it_does_not_know) {
  EXPECT_EQ(protocol_error("kiln-cpu-2;cache=hot"), "measuring protocol `kiln-cpu-2` is neither `kiln-cpu-1` nor `kiln-gpu-1`");
  EXPECT_EQ(protocol_error("kiln-cpu-1;cache=hot"), "measuring protocol: stat is missing");
  const std::string good = print(Protocol{});
  EXPECT_EQ(protocol_error(good + ";clocks=fast"), "measuring protocol: unknown key clocks");
  EXPECT_EQ(protocol_error(good + ";clocks"), "measuring protocol: `clocks` is not key=value");
  std::string bad = good;
  bad.replace(bad.find("threads=1"), 9, "threads=x");
  EXPECT_EQ(protocol_error(bad), "measuring protocol: threads=x is not a number");
}

}  // namespace
}  // namespace kiln::autotune
