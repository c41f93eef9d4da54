// A search of one space as it looks from outside: schedules out, outcomes in, points as texts only, so that the space may live in another process.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autotune/search/search.h"
#include "dsl/schedule.h"

namespace kiln::autotune {

struct Suggestion {
  Schedule schedule;
  std::string point;  // as its space prints it
  Phase phase = Phase::seed;
};

// What became of an earlier suggestion, as the store remembers it.
struct PastSuggestion {
  std::string point;
  Phase phase = Phase::seed;
  Outcome outcome;
};

class Proposer {
 public:
  virtual ~Proposer() = default;
  virtual const std::string& space() const = 0;  // its name

  // As Search's functions of the same names. All may throw what the code behind them throws: AlgorithmError where that is a plugin's.
  virtual std::optional<Suggestion> propose() = 0;
  virtual void observe(const std::string& point, Outcome outcome) = 0;
  virtual void resume(const std::vector<PastSuggestion>& past) = 0;
};

// Points in `resume` that the space cannot read are of an older form of it: left out.
std::unique_ptr<Proposer> make_proposer(schedules::Space space, const SearchPlan& plan);

}  // namespace kiln::autotune
