// The decision alone: from what the races said to an order of candidates. No store in here: synthetic rows test it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsl/digest.h"

namespace kiln::db {

// One clean final of one candidate.
struct RaceRatio {
  std::int64_t race = 0;     // equal numbers: the same race
  double ratio = 1, lo = 1, hi = 1;  // time / the baseline's time in this race, and its 95 % interval
  double floor = 0;          // the race's A/A floor, relative
  double value_ns = 0;
};

struct Contender {
  Digest schedule;           // the last key of the order: makes it total
  bool is_baseline = false;
  bool is_incumbent = false; // chosen now; when no contender is, the baseline counts as incumbent
  bool is_verified = false;
  bool is_banned = false;
  bool is_pinned = false;
  int numerics_rank = 0;     // see numerics_rank()
  std::vector<double> resources;  // compared in order, fewer first
  std::vector<RaceRatio> races;   // clean finals under one protocol, toolchain, device and baseline; empty: none was clean
};

struct Interval95 {
  double ratio = 1, lo = 1, hi = 1;
};

enum class Standing {
  chosen,
  tied,         // with the best, but later in the order
  slower,       // eligible, and behind the best by more than noise
  not_faster,   // ratio_hi > 1: not shown to be at least as fast as the baseline
  banned,
  unverified,
  unmeasured,   // no clean final
};
std::string print(Standing standing);

struct Placed {
  std::size_t contender = 0;         // index into the input
  Standing standing = Standing::unmeasured;
  std::optional<Interval95> against_baseline;
  std::optional<Interval95> against_best;  // of the eligible ones
  double median_value_ns = 0;
};

struct Verdict {
  std::vector<Placed> order;         // chosen first, then tied, slower, not_faster, banned, unverified, unmeasured
  std::optional<std::size_t> chosen; // index into the input; nothing when not even the baseline has a clean, verified final
  bool is_tie_with_baseline = false; // the best and the baseline cannot be told apart: not a win, whatever the numbers say
  std::string why;                   // one sentence with the numbers
};

struct VerdictRules {
  double minimum_margin = 0.01;      // 0.02 for GPU times under 20 us
};

// Deterministic: a permutation of `contenders` gives the same order. A pinned contender is chosen if it is verified, not banned and has a
// clean final, even when slower; `why` then says so.
Verdict decide(const std::vector<Contender>& contenders, const VerdictRules& rules = {});

// The median over races with a 95 % interval. One race: its own. Several: the wider of the races' typical half-width and what the spread
// between races implies, on a log scale.
Interval95 combine(const std::vector<RaceRatio>& races);

// none 0 · reorders 1 · partial_sums 2 · contracts 3 · approximates 4 · any_order 5; anything else, `unknown` among it, ranks last.
int numerics_rank(const std::string& numerics_class);

}  // namespace kiln::db
