#include "autotune/choose.h"

#include <algorithm>

#include "dsl/error.h"
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

void keep_previous(db::ChoiceRow& row, db::Store& store) {
  row.decision = "keep_previous";
  const std::vector<db::StoredRace> races = db::races(store, row.key.problem, row.key.device, row.key.protocol);
  if (!races.empty()) row.baseline = races.back().row.baseline;
  row.why = races.empty() ? "nothing was measured" : "contended: no clean final race, so what served before stays";
}

void specialise(db::ChoiceRow& row, const db::StoredVerdict& stored) {
  const db::Placed& chosen = placed_of(stored, *stored.chosen);
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

bool says_the_same(const db::ChoiceRow& a, const db::ChoiceRow& b) {
  return a.decision == b.decision && a.trial == b.trial && a.calls == b.calls && a.why == b.why;
}

}  // namespace

db::StoredChoice choose(db::Store& store, const db::ResultKey& key, std::optional<db::RunId> run, double calls, double horizon_s) {
  const db::StoredVerdict stored = db::verdict(store, key);
  db::ChoiceRow row;
  row.run = run;
  row.key = key;
  row.calls = calls;
  row.horizon_s = horizon_s;
  if (stored.chosen)
    specialise(row, stored);
  else
    keep_previous(row, store);
  const auto in_force = db::choice_in_force(store, key.problem, key.device);
  if (in_force && says_the_same(in_force->row, row)) return *in_force;
  db::record_choice(store, row);
  return db::choice_in_force(store, key.problem, key.device).value();
}

}  // namespace kiln::autotune
