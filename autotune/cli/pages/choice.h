// `kiln choose`: what to ship for each problem and why, and a person's word over the numbers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "db/choices.h"

namespace kiln::autotune::cli {

// A pin, a ban, or their end, for one candidate.
struct RulingWish {
  enum class What { pin, ban, lift };
  What what = What::pin;
  std::string candidate;      // a prefix of its digest
  std::string problem;        // empty: for a pin the only problem it was tried on, else every one
  std::string why;            // needed for a ban
};

// Records it for every device. Returns one line a problem: what now holds. Throws UsageError: no such candidate, a pin that could mean several
// problems, a ban without a reason, nothing to lift.
std::vector<std::string> rule(db::Store& store, const RulingWish& wish);

struct Standing {
  std::string candidate, origin;  // 12 digits; who proposed it
  std::string standing;           // chosen · tied · slower · not faster · banned · unverified · unmeasured
  std::optional<double> time_ns, speedup, speedup_low, speedup_high;
};

struct ChoicePage {
  std::string problem, device;
  std::string decision;           // specialise · bucket · generic · keep_previous
  std::string candidate;          // what serves; empty: nothing that could be built
  std::string schedule, why;
  std::string baseline;           // by name
  double calls = 0;               // a month, as the demand has it
  std::optional<double> saved_ns_per_call;
  bool is_new = false;            // differs from what was in force
  std::vector<db::Ruling> rulings;
  std::vector<Standing> order;    // best first
};

// Decides every problem with results anew and records what changed. Reads races and demand, measures nothing.
std::vector<ChoicePage> choose_all(db::Store& store, double horizon_s);

std::string print_choices(const std::vector<ChoicePage>& pages, bool colour);
std::string choices_json(const std::vector<ChoicePage>& pages);

}  // namespace kiln::autotune::cli
