#include "autotune/search/search.h"

#include <algorithm>
#include <array>
#include <set>

#include "autotune/search/ledger.h"
#include "autotune/search/ranked_search.h"
#include "autotune/search/recombine.h"
#include "dsl/error.h"

namespace kiln::autotune {
namespace {

using schedules::Point;

constexpr std::array<std::pair<Phase, std::string_view>, 6> kPhases = {{{Phase::seed, "seed"},
                                                                        {Phase::exhaustive, "exhaustive"},
                                                                        {Phase::random, "random"},
                                                                        {Phase::model, "model"},
                                                                        {Phase::local, "local"},
                                                                        {Phase::restart, "restart"}}};

class RandomSearch : public Search {
 public:
  RandomSearch(schedules::Space space, const SearchPlan& plan) : ledger_(std::move(space), plan.seed) {}

  std::optional<Proposal> propose() override {
    if (ledger_.space().unsatisfiable()) return std::nullopt;
    if (const auto seed = ledger_.new_seed()) return ledger_.record(*seed, Phase::seed);
    const auto drawn = ledger_.new_draw();
    return drawn ? std::optional(ledger_.record(*drawn, Phase::random)) : std::nullopt;
  }
  void observe(const Point& point, Outcome outcome) override { ledger_.observe(point, outcome); }
  void resume(const std::vector<Trial>& past) override {
    for (const Trial& trial : past) ledger_.adopt(trial);
  }
  std::vector<Trial> trials() const override { return ledger_.observed(); }

 private:
  Ledger ledger_;
};

// Three climbers and a random phase before them: on twelve measured spaces the strongest of six searches from 200 evaluations on and within
// 1 % of the best at 100; a single climber lost to random sampling where minima are many.
class StagedSearch : public Search {
 public:
  StagedSearch(schedules::Space space, const SearchPlan& plan) : ledger_(std::move(space), plan.seed), cost_(plan.cost) {
    const auto points = ledger_.space().count();
    exhaustive_ = points && *points <= plan.expected_trials;
    const auto share = [&](double of) { return static_cast<std::size_t>(of * static_cast<double>(plan.expected_trials) + 0.5); };
    random_trials_ = std::min(kMostDraws, share(plan.random_share));
    if (cost_) model_trials_ = std::min(kMostDraws / 2, share(plan.model_share));
  }

  std::optional<Proposal> propose() override {
    if (ledger_.space().unsatisfiable()) return std::nullopt;
    if (const auto seed = ledger_.new_seed()) return ledger_.record(*seed, Phase::seed);
    if (exhaustive_) return fresh(Phase::exhaustive);
    if (ledger_.count(Phase::random) < random_trials_) return fresh(Phase::random);
    if (ledger_.count(Phase::model) < model_trials_) return cheapest_of_some(Phase::model);
    return local();
  }

  void observe(const Point& point, Outcome outcome) override {
    const std::size_t entry = ledger_.observe(point, outcome);
    const auto owner = owners_.find(entry);
    if (owner == owners_.end()) return;
    Climber& climber = climbers_[owner->second];
    --climber.pending;
    if (ledger_.better(entry, climber.centre)) settle(climber, entry);
  }

  void resume(const std::vector<Trial>& past) override {
    for (const Trial& trial : past) ledger_.adopt(trial);
  }
  std::vector<Trial> trials() const override { return ledger_.observed(); }

 private:
  // Whole draws find what is worth recombining; what they would find later, stages drawn anew find sooner.
  static constexpr std::size_t kMostDraws = 32;
  static constexpr std::size_t kClimbers = 3;
  // Every fourth new start is a fresh draw: enough to leave a region of minima, few enough that most trials stay near what is good.
  static constexpr std::size_t kFreshEvery = 4;
  static constexpr std::size_t kDraws = 12;  // of which one is built

  struct Climber {
    std::size_t centre = 0;      // the entry it stands on, after its first start
    std::vector<Point> ahead;    // steps from the centre, in random order, to be proposed from the back
    std::size_t pending = 0;     // proposed for it and not observed yet
  };

  std::optional<Proposal> fresh(Phase phase) {
    const auto drawn = ledger_.new_draw();
    return drawn ? std::optional(ledger_.record(*drawn, phase)) : std::nullopt;
  }

  // Of several draws the one that should cost least. Where the first has no cost it is taken: schedules of a kind that cannot be told are not left out.
  std::optional<Proposal> cheapest_of_some(Phase phase) {
    std::optional<Point> cheapest;
    double least = 0;
    for (std::size_t draw = 0; draw < (cost_ ? kDraws : 1); ++draw) {
      auto drawn = ledger_.new_draw();
      if (!drawn) break;
      const auto cost = cost_ ? cost_(ledger_.space().schedule(*drawn)) : std::nullopt;
      const bool is_first = !cheapest;
      if (is_first || (cost && *cost < least)) {
        cheapest = std::move(drawn);
        least = cost.value_or(0);
      }
      if (is_first && !cost) break;
    }
    return cheapest ? std::optional(ledger_.record(*cheapest, phase)) : std::nullopt;
  }

  // In turn: a climber's step, one of the best points with a stage drawn anew, two of the best points crossed.
  std::optional<Proposal> local() {
    const std::size_t turn = local_turn_++ % 3;
    if (turn > 0)
      if (const auto child = recombined(ledger_, turn == 1 ? Source::draw : Source::good_point)) return ledger_.record(*child, Phase::local);
    return climb();
  }

  std::optional<Proposal> climb() {
    for (std::size_t turn = 0; turn < kClimbers; ++turn) {
      const std::size_t c = next_climber_++ % kClimbers;
      Climber& climber = climbers_[c];
      if (auto near = step(climber)) return propose_for(c, *near);
      if (climber.pending > 0) continue;
      if (++starts_ % kFreshEvery == 0) break;
      while (const auto start = best_unexplored()) {
        settle(climber, *start);
        if (auto near = step(climber)) return propose_for(c, *near);
      }
    }
    return cheapest_of_some(Phase::restart);
  }

  std::optional<Point> step(Climber& climber) {
    while (!climber.ahead.empty()) {
      Point near = std::move(climber.ahead.back());
      climber.ahead.pop_back();
      if (!ledger_.find(near)) return near;
    }
    return std::nullopt;
  }

  Proposal propose_for(std::size_t climber, const Point& point) {
    owners_[ledger_.entries().size()] = climber;
    ++climbers_[climber].pending;
    return ledger_.record(point, Phase::local);
  }

  void settle(Climber& climber, std::size_t entry) {
    climber.centre = entry;
    explored_.insert(entry);
    climber.ahead = by_knob_in_turn(ledger_.entries()[entry].trial.point, ledger_.space().steps(ledger_.entries()[entry].trial.point));
  }

  // In random order, but no knob again before each has had its turn: one with many values has no more say than others. Taken from the back.
  std::vector<Point> by_knob_in_turn(const Point& centre, std::vector<Point> steps) {
    ledger_.random().shuffle(steps);
    std::map<std::size_t, std::size_t> turns;  // knob -> how many of its steps there are so far
    std::vector<std::pair<std::size_t, Point>> in_turn;
    for (Point& step : steps) {
      const auto& from = centre.choice();
      const auto knob = static_cast<std::size_t>(std::mismatch(from.begin(), from.end(), step.choice().begin()).first - from.begin());
      in_turn.emplace_back(turns[knob]++, std::move(step));
    }
    std::stable_sort(in_turn.begin(), in_turn.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<Point> ordered;
    for (auto& [turn, step] : in_turn) ordered.push_back(std::move(step));
    return ordered;
  }

  // The best entry that no climber has stood on.
  std::optional<std::size_t> best_unexplored() const {
    std::optional<std::size_t> best;
    for (std::size_t entry = 0; entry < ledger_.entries().size(); ++entry) {
      const Ledger::Entry& candidate = ledger_.entries()[entry];
      if (!candidate.observed || !candidate.trial.outcome || explored_.contains(entry)) continue;
      if (!best || ledger_.better(entry, *best)) best = entry;
    }
    return best;
  }

  Ledger ledger_;
  bool exhaustive_ = false;
  std::size_t random_trials_ = 0, model_trials_ = 0;
  std::function<std::optional<double>(const Schedule&)> cost_;
  std::array<Climber, kClimbers> climbers_;
  std::size_t next_climber_ = 0, starts_ = 0, local_turn_ = 0;
  std::set<std::size_t> explored_;
  std::map<std::size_t, std::size_t> owners_;  // entry -> climber it was proposed for
};

}  // namespace

std::string_view print(Phase phase) {
  for (const auto& [value, name] : kPhases) {
    if (value == phase) return name;
  }
  KILN_CHECK(false, "a phase without a name");
}

std::optional<Phase> parse_phase(std::string_view text) {
  for (const auto& [value, name] : kPhases) {
    if (name == text) return value;
  }
  return std::nullopt;
}

std::unique_ptr<Search> make_search(schedules::Space space, const SearchPlan& plan) {
  if (plan.cost && plan.cost_ranks) return make_ranked_search(std::move(space), plan);
  return std::make_unique<StagedSearch>(std::move(space), plan);
}

std::unique_ptr<Search> make_random_search(schedules::Space space, const SearchPlan& plan) {
  return std::make_unique<RandomSearch>(std::move(space), plan);
}

double expected_best_of(std::size_t n, std::vector<double> values) {
  KILN_CHECK(n >= 1 && n <= values.size(), "expected_best_of takes 1 to " + std::to_string(values.size()) + " draws");
  std::sort(values.begin(), values.end());
  // The i-th smallest is the best of the draw when it is drawn and none of the i smaller ones is.
  const auto total = static_cast<double>(values.size()), drawn = static_cast<double>(n);
  double expected = 0, is_best = drawn / total;
  for (std::size_t i = 0; i + n <= values.size(); ++i) {
    expected += is_best * values[i];
    const auto smaller = static_cast<double>(i);
    is_best *= (total - smaller - drawn) / std::max(1.0, total - 1 - smaller);
  }
  return expected;
}

}  // namespace kiln::autotune
