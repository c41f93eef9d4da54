// Proposes points of a space, one at a time, and learns from what became of them. Same seed and same outcomes: same proposals.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedules/space.h"

namespace kiln::autotune {

// Why a point was proposed. Points of phase `random` are draws by form (Space::sample_by_form), so their outcomes say what random search would
// have found.
enum class Phase : std::uint8_t { seed, exhaustive, random, model, local, restart };
std::string_view print(Phase phase);
std::optional<Phase> parse_phase(std::string_view text);

struct Proposal {
  schedules::Point point;
  Phase phase = Phase::seed;
};

// The time divided by the baseline's of the same race: lower is better. Nothing: the candidate was rejected, whatever the reason.
using Outcome = std::optional<double>;

// What became of an earlier proposal, as the store remembers it.
struct Trial {
  schedules::Point point;
  Phase phase = Phase::seed;
  Outcome outcome;
};

struct SearchPlan {
  std::uint64_t seed = 0;
  // How many trials the budget is expected to allow; decides whether the space is exhausted and how long the random phase is.
  std::uint64_t expected_trials = 100;
  double random_share = 0.2;
  double model_share = 0.1;  // of the trials, while there is a cost
  // What a schedule is likely to cost, in any unit, lower is better; nothing where that cannot be told. Without it nothing is drawn by model.
  std::function<std::optional<double>(const Schedule&)> cost = {};
  // Whether the cost tells good points from better ones, and not only from poor ones: the search then follows it (ranked_search.h).
  bool cost_ranks = false;
};

class Search {
 public:
  virtual ~Search() = default;

  // The next point, never one proposed or observed before; nothing when the whole space was proposed. May be called again before earlier
  // proposals were observed.
  virtual std::optional<Proposal> propose() = 0;

  // What became of a proposed point.
  virtual void observe(const schedules::Point& point, Outcome outcome) = 0;

  // Takes over what earlier runs did, before the first proposal: their points are not proposed again and their phases count.
  virtual void resume(const std::vector<Trial>& past) = 0;

  // Everything observed, in order of proposal (past trials first).
  virtual std::vector<Trial> trials() const = 0;
};

// Seeds first; then the whole space in random order when it has at most expected_trials points; otherwise random_share of the trials at random, 32 at most,
// model_share that are each the cheapest of several draws, then local search, in turn: one of three climbers, which start from the best points, move to better
// points a step away (Space::steps), and start anew where none is left; one of the best points with a stage drawn anew; two of the best points crossed.
// Where the cost ranks: ranked_search.h.
std::unique_ptr<Search> make_search(schedules::Space space, const SearchPlan& plan);

// Seeds, then draws only: the yardstick.
std::unique_ptr<Search> make_random_search(schedules::Space space, const SearchPlan& plan);

// The expected smallest of n values drawn from `values` without replacement, exactly; 1 ≤ n ≤ values.size(). A failed candidate enters as
// what its user would get instead: ratio 1, the baseline.
double expected_best_of(std::size_t n, std::vector<double> values);

}  // namespace kiln::autotune
