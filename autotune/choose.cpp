#include "autotune/choose.h"

#include <algorithm>

#include "db/demand.h"
#include "db/races.h"

namespace kiln::autotune {
namespace {

const db::Placed& placed_of(const db::StoredVerdict& stored, const db::ContenderRow& wanted) {
  const auto at = std::find_if(stored.verdict.order.begin(), stored.verdict.order.end(), [&](const db::Placed& placed) {
    return stored.contenders[placed.contender].schedule == wanted.schedule;
  });
  KILN_CHECK(at != stored.verdict.order.end(), "a contender is missing from the order of its verdict");
  return *at;
}

void keep_previous(Decision& decision, db::Store& store, const db::ResultKey& key) {
  decision.row.decision = "keep_previous";
  const std::vector<db::StoredRace> races = db::races(store, key.problem, key.device, key.protocol);
  if (!races.empty()) decision.row.baseline = races.back().row.baseline;
  decision.is_contended = !races.empty();
  decision.row.why = decision.is_contended ? "contended: no clean final race, so what served before stays" : "nothing was measured";
}

void specialise(Decision& decision) {
  const db::StoredVerdict& stored = decision.verdict;
  const db::Placed& chosen = placed_of(stored, *stored.chosen);
  db::ChoiceRow& row = decision.row;
  row.decision = "specialise";
  row.trial = stored.chosen->trial;
  row.value_ns = chosen.median_value_ns;
  row.why = stored.verdict.why;
  if (chosen.against_baseline) {
    row.ratio = chosen.against_baseline->ratio;
    row.ratio_lo = chosen.against_baseline->lo;
    row.ratio_hi = chosen.against_baseline->hi;
  }
  if (!stored.baseline) return;
  row.baseline = stored.baseline->trial;
  row.baseline_ns = placed_of(stored, *stored.baseline).median_value_ns;
}

}  // namespace

Decision decide(db::Store& store, const db::ResultKey& key, std::optional<db::RunId> run, double horizon_s) {
  Decision decision;
  decision.verdict = db::verdict(store, key);
  decision.row.run = run;
  decision.row.key = key;
  if (const auto demand = db::demand_of(store, key.problem)) {
    decision.row.calls = demand->calls_per_s * horizon_s;
    decision.row.horizon_s = horizon_s;
  }
  if (decision.verdict.chosen)
    specialise(decision);
  else
    keep_previous(decision, store, key);
  return decision;
}

bool record_decision(db::Store& store, const Decision& decision) {
  const auto in_force = db::choice_in_force(store, decision.row.key.problem, decision.row.key.device);
  const bool says_the_same = in_force && in_force->row.decision == decision.row.decision && in_force->row.trial == decision.row.trial;
  if (says_the_same) return false;
  db::record_choice(store, decision.row);
  return true;
}

}  // namespace kiln::autotune
