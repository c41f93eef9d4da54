#include "db/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>

#include "dsl/error.h"

namespace kiln::db {
namespace {

constexpr double kNormal95 = 1.96;          // half-width of a 95 % interval in standard errors
constexpr double kMedianPenalty = 1.2533;   // standard error of a median over that of a mean: sqrt(pi / 2)

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// What the spread of `logs` says about their median: a 95 % half-width, 0 for a single value.
double spread_half_width(const std::vector<double>& logs) {
  const double n = static_cast<double>(logs.size());
  if (logs.size() < 2) return 0;
  const double mean = std::accumulate(logs.begin(), logs.end(), 0.0) / n;
  double squares = 0;
  for (const double each : logs) squares += (each - mean) * (each - mean);
  return kNormal95 * kMedianPenalty * std::sqrt(squares / (n - 1)) / std::sqrt(n);
}

// Contenders that can be compared by numbers, by median ratio and then digest.
std::vector<std::size_t> by_ratio(const std::vector<Contender>& contenders, const std::vector<Interval95>& ratios, std::vector<std::size_t> which) {
  std::sort(which.begin(), which.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(ratios[a].ratio, contenders[a].schedule) < std::tie(ratios[b].ratio, contenders[b].schedule);
  });
  return which;
}

struct Against {
  Interval95 interval;
  double floor = 0;
};

// a / b, paired within the races that both ran in; without a common race, by their ratios to the baseline that they share.
Against compare(const Contender& a, const Contender& b) {
  std::vector<RaceRatio> paired;
  std::vector<double> floors;
  const auto divide = [&](const RaceRatio& x, const RaceRatio& y) {
    const double ratio = x.ratio / y.ratio;
    const double low = std::hypot(std::log(x.ratio / x.lo), std::log(y.hi / y.ratio)), high = std::hypot(std::log(x.hi / x.ratio), std::log(y.ratio / y.lo));
    floors.push_back(std::max(x.floor, y.floor));
    return RaceRatio{x.race, ratio, ratio * std::exp(-low), ratio * std::exp(high), floors.back(), x.value_ns};
  };
  for (const RaceRatio& x : a.races)
    for (const RaceRatio& y : b.races)
      if (x.race == y.race) paired.push_back(divide(x, y));
  if (paired.empty()) {
    const Interval95 x = combine(a.races), y = combine(b.races);
    const auto floor_of = [](const Contender& c) {
      std::vector<double> each;
      for (const RaceRatio& race : c.races) each.push_back(race.floor);
      return median(each);
    };
    paired.push_back(divide({0, x.ratio, x.lo, x.hi, floor_of(a), 0}, {0, y.ratio, y.lo, y.hi, floor_of(b), 0}));
  }
  return {combine(paired), median(floors)};
}

bool is_tie(const Against& against, const VerdictRules& rules) {
  const double margin = std::max(rules.minimum_margin, 2 * against.floor);
  return (against.interval.lo <= 1 && against.interval.hi >= 1) || std::abs(against.interval.ratio - 1) <= margin;
}

bool can_be_chosen(const Contender& c) { return c.is_verified && !c.is_banned && !c.races.empty(); }

Standing standing_of_excluded(const Contender& c) {
  if (c.is_banned) return Standing::banned;
  if (!c.is_verified) return Standing::unverified;
  return c.races.empty() ? Standing::unmeasured : Standing::not_faster;
}

// The order inside a tie: the incumbent, its numerics class, milder classes, fewer resources, the smaller digest.
class TieOrder {
 public:
  TieOrder(const std::vector<Contender>& contenders, std::optional<std::size_t> incumbent) : contenders_(contenders), incumbent_(incumbent) {}
  bool operator()(std::size_t a, std::size_t b) const { return key(a) < key(b); }

 private:
  std::tuple<bool, bool, int, const std::vector<double>&, const Digest&> key(std::size_t i) const {
    const Contender& c = contenders_[i];
    const bool is_other_class = incumbent_ && c.numerics_rank != contenders_[*incumbent_].numerics_rank;
    return {incumbent_ != i, is_other_class, c.numerics_rank, c.resources, c.schedule};
  }
  const std::vector<Contender>& contenders_;
  std::optional<std::size_t> incumbent_;
};

std::optional<std::size_t> find(const std::vector<Contender>& contenders, bool Contender::*flag) {
  const auto found = std::find_if(contenders.begin(), contenders.end(), [&](const Contender& c) { return c.*flag; });
  return found == contenders.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - contenders.begin()));
}

}  // namespace

std::string print(Standing standing) {
  constexpr std::array<const char*, 7> kWords{"chosen", "tied", "slower", "not_faster", "banned", "unverified", "unmeasured"};
  return kWords[static_cast<std::size_t>(standing)];
}

int numerics_rank(const std::string& numerics_class) {
  constexpr std::array<std::string_view, 6> kClasses{"none", "reorders", "partial_sums", "contracts", "approximates", "any_order"};
  return static_cast<int>(std::find(kClasses.begin(), kClasses.end(), numerics_class) - kClasses.begin());
}

Interval95 combine(const std::vector<RaceRatio>& races) {
  KILN_CHECK(!races.empty(), "an interval needs at least one race");
  std::vector<double> ratios, logs, below, above;
  for (const RaceRatio& race : races) {
    ratios.push_back(race.ratio);
    logs.push_back(std::log(race.ratio));
    below.push_back(std::log(race.ratio / race.lo));
    above.push_back(std::log(race.hi / race.ratio));
  }
  const double shrink = std::min(1.0, kMedianPenalty / std::sqrt(static_cast<double>(races.size())));
  const double spread = spread_half_width(logs), ratio = median(ratios);
  return {ratio, ratio * std::exp(-std::max(shrink * median(below), spread)), ratio * std::exp(std::max(shrink * median(above), spread))};
}

namespace {

// Everything that decide() works out on the way.
struct Field {
  std::vector<Interval95> ratios;            // by contender; meaningful where it has races
  std::vector<std::size_t> eligible;         // by ratio, best first
  std::vector<Against> against_best;         // by contender; meaningful where eligible
  std::vector<std::size_t> tied;             // with the best and the best itself, in the order of the tie
  bool is_tie_with_baseline = false;
};

Field survey(const std::vector<Contender>& contenders, const VerdictRules& rules) {
  Field field;
  const std::size_t n = contenders.size();
  field.ratios.resize(n);
  field.against_best.resize(n);
  std::vector<std::size_t> eligible;
  for (std::size_t i = 0; i < n; ++i) {
    if (!contenders[i].races.empty()) field.ratios[i] = contenders[i].is_baseline ? Interval95{} : combine(contenders[i].races);
    if (can_be_chosen(contenders[i]) && (contenders[i].is_baseline || field.ratios[i].hi <= 1)) eligible.push_back(i);
  }
  field.eligible = by_ratio(contenders, field.ratios, std::move(eligible));
  if (field.eligible.empty()) return field;

  const std::size_t best = field.eligible.front();
  for (const std::size_t i : field.eligible) {
    if (i != best) field.against_best[i] = compare(contenders[i], contenders[best]);
    const bool ties = i == best || is_tie(field.against_best[i], rules);
    if (ties) field.tied.push_back(i);
    if (ties && contenders[i].is_baseline) field.is_tie_with_baseline = true;
  }
  const std::optional<std::size_t> chosen_now = find(contenders, &Contender::is_incumbent);
  std::sort(field.tied.begin(), field.tied.end(), TieOrder(contenders, chosen_now ? chosen_now : find(contenders, &Contender::is_baseline)));
  return field;
}

void place(Verdict& verdict, const std::vector<Contender>& contenders, const Field& field, std::size_t i, Standing standing) {
  Placed placed{.contender = i, .standing = standing, .against_baseline = std::nullopt, .against_best = std::nullopt, .median_value_ns = 0};
  if (const std::vector<RaceRatio>& races = contenders[i].races; !races.empty()) {
    placed.against_baseline = field.ratios[i];
    std::vector<double> values;
    for (const RaceRatio& race : races) values.push_back(race.value_ns);
    placed.median_value_ns = median(values);
  }
  if (std::find(field.eligible.begin(), field.eligible.end(), i) != field.eligible.end()) placed.against_best = field.against_best[i].interval;
  verdict.order.push_back(placed);
}

std::vector<std::size_t> excluded(const std::vector<Contender>& contenders, const Field& field) {
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < contenders.size(); ++i)
    if (std::find(field.eligible.begin(), field.eligible.end(), i) == field.eligible.end()) rest.push_back(i);
  std::sort(rest.begin(), rest.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(standing_of_excluded(contenders[a]), field.ratios[a].ratio, contenders[a].schedule) <
           std::tuple(standing_of_excluded(contenders[b]), field.ratios[b].ratio, contenders[b].schedule);
  });
  return rest;
}

std::string percent(double ratio) {
  const double change = 100 * (1 - ratio);
  return fmt::format("{:.1f} % {}", std::abs(change), change >= 0 ? "faster" : "slower");
}

std::string explain(const std::vector<Contender>& contenders, const Verdict& verdict, const Field& field, bool by_pin) {
  if (!verdict.chosen) return "no candidate, not even the baseline, has a passed check and a clean final";
  const Contender& chosen = contenders[*verdict.chosen];
  const Placed& placed = *std::find_if(verdict.order.begin(), verdict.order.end(), [&](const Placed& p) { return p.contender == *verdict.chosen; });
  const Interval95 r = *placed.against_baseline;
  const std::string numbers = fmt::format("{:.3f} of the baseline's time (95 %: {:.3f} to {:.3f}, {} race{})", r.ratio, r.lo, r.hi, chosen.races.size(),
                                          chosen.races.size() == 1 ? "" : "s");
  if (by_pin) return fmt::format("pinned: {}{}", numbers, r.hi > 1 && !chosen.is_baseline ? ", not shown to be at least as fast as the baseline" : "");
  const std::size_t tied = field.tied.size();
  if (chosen.is_baseline && verdict.is_tie_with_baseline && tied > 1)
    return fmt::format("the baseline: the best candidate cannot be told apart from it ({})", percent(field.ratios[field.eligible.front()].ratio));
  if (chosen.is_baseline) return "the baseline: nothing was shown to be at least as fast";
  std::string why = numbers;
  if (tied > 1) why += fmt::format(", {} with {} other{} that cannot be told apart", chosen.is_incumbent ? "kept" : "first", tied - 1, tied == 2 ? "" : "s");
  if (verdict.is_tie_with_baseline) why += ", a tie with the baseline";
  return why;
}

}  // namespace

Verdict decide(const std::vector<Contender>& contenders, const VerdictRules& rules) {
  const Field field = survey(contenders, rules);
  Verdict verdict;
  verdict.is_tie_with_baseline = field.is_tie_with_baseline;
  if (!field.tied.empty()) verdict.chosen = field.tied.front();

  const std::optional<std::size_t> pin = find(contenders, &Contender::is_pinned);
  const bool by_pin = pin && can_be_chosen(contenders[*pin]);
  if (by_pin) verdict.chosen = pin;

  if (verdict.chosen) place(verdict, contenders, field, *verdict.chosen, Standing::chosen);
  for (const std::size_t i : field.tied)
    if (i != verdict.chosen) place(verdict, contenders, field, i, Standing::tied);
  for (const std::size_t i : field.eligible)
    if (i != verdict.chosen && std::find(field.tied.begin(), field.tied.end(), i) == field.tied.end())
      place(verdict, contenders, field, i, Standing::slower);
  for (const std::size_t i : excluded(contenders, field))
    if (i != verdict.chosen) place(verdict, contenders, field, i, standing_of_excluded(contenders[i]));
  verdict.why = explain(contenders, verdict, field, by_pin);
  return verdict;
}

}  // namespace kiln::db
