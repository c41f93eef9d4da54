#include "autotune/search/ranked_search.h"

#include <algorithm>
#include <array>

#include "autotune/search/ledger.h"
#include "autotune/search/ranking.h"

namespace kiln::autotune {
namespace {

using schedules::Point;

constexpr std::array<Phase, 8> kTurns = {Phase::model, Phase::model, Phase::seed, Phase::model, Phase::local, Phase::model, Phase::local, Phase::random};
// Seeds that the cost thinks slower than this much of the best are no better to begin with than other points.
constexpr double kWorthBeginning = 1.15;
// Points that local steps start from.
constexpr std::size_t kCentres = 3;

class RankedSearch : public Search {
 public:
  RankedSearch(schedules::Space space, const SearchPlan& plan) : ledger_(std::move(space), plan.seed), ranking_(ledger_.space(), plan.cost) {
    for (const schedules::Seed& seed : ledger_.space().seeds())
      if (ranking_.is_within(seed.point, kWorthBeginning)) seeds_.push_back(seed.point);
    std::stable_sort(seeds_.begin(), seeds_.end(), [&](const Point& a, const Point& b) { return ranking_.cost_of(a).value_or(0) < ranking_.cost_of(b).value_or(0); });
  }

  std::optional<Proposal> propose() override {
    if (ledger_.space().unsatisfiable()) return std::nullopt;
    const Phase turn = kTurns[turn_++ % kTurns.size()];
    if (turn == Phase::seed || turn == Phase::local) {
      if (const auto seed = new_seed()) return record(*seed, Phase::seed);
      if (const auto near = step()) return record(*near, Phase::local);
    }
    if (turn != Phase::random)
      if (const auto best = ranking_.best_apart()) return record(*best, Phase::model);
    const auto drawn = ledger_.new_draw();
    return drawn ? std::optional(record(*drawn, Phase::random)) : std::nullopt;
  }

  void observe(const Point& point, Outcome outcome) override {
    ledger_.observe(point, outcome);
    if (outcome) ranking_.learn(point, *outcome);
  }

  void resume(const std::vector<Trial>& past) override {
    for (const Trial& trial : past) {
      if (ledger_.find(trial.point)) continue;
      ledger_.adopt(trial);
      ranking_.take(trial.point);
      if (trial.outcome) ranking_.learn(trial.point, *trial.outcome);
    }
  }
  std::vector<Trial> trials() const override { return ledger_.observed(); }

 private:
  Proposal record(const Point& point, Phase phase) {
    ranking_.take(point);
    return ledger_.record(point, phase);
  }

  std::optional<Point> new_seed() const {
    for (const Point& seed : seeds_)
      if (!ledger_.find(seed)) return seed;
    return std::nullopt;
  }

  // From the best points in turn, the step that is expected to lead furthest.
  std::optional<Point> step() {
    std::vector<std::size_t> best;
    for (std::size_t i = 0; i < ledger_.entries().size(); ++i)
      if (ledger_.entries()[i].trial.outcome) best.push_back(i);
    std::sort(best.begin(), best.end(), [&](std::size_t a, std::size_t b) { return ledger_.better(a, b); });
    best.resize(std::min(best.size(), kCentres));
    for (std::size_t look = 0; look < best.size(); ++look) {
      std::vector<Point> near = ledger_.space().steps(ledger_.entries()[best[centre_++ % best.size()]].trial.point);
      std::erase_if(near, [&](const Point& point) { return ledger_.find(point).has_value(); });
      if (auto chosen = ranking_.best_of(near)) return chosen;
    }
    return std::nullopt;
  }

  Ledger ledger_;
  Ranking ranking_;
  std::vector<Point> seeds_;  // the cheapest first
  std::size_t turn_ = 0, centre_ = 0;
};

}  // namespace

std::unique_ptr<Search> make_ranked_search(schedules::Space space, const SearchPlan& plan) { return std::make_unique<RankedSearch>(std::move(space), plan); }

}  // namespace kiln::autotune
