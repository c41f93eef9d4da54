#include <algorithm>
#include <limits>
#include <map>

#include "db/choices.h"
#include "db/identities.h"

namespace kiln::db {
namespace {

constexpr double kShortGpuTime_ns = 20000;   // below this a GPU's launch noise needs the wider margin
constexpr double kShortGpuMargin = 0.02;

// What is known of one candidate over all its own ok trials on this device and toolchain.
struct Candidate {
  ContenderRow row;
  std::vector<TrialId> verified;  // trials with a passed check
  bool has_failed = false;        // some trial of it failed a check later
};
using Candidates = std::map<ScheduleId, Candidate>;

// Registers and shared memory bind on a GPU, scratch and code on a CPU; what a report lacks counts as 0 on both sides of a comparison.
Candidates read_candidates(Store& store, const ResultKey& key) {
  Statement row = store.connection().query(
      "SELECT t.trial_id, t.schedule_id, t.build_id, s.digest, s.origin, s.numerics_class, "
      "coalesce(json_extract(b.actual, '$.registers'), 0), coalesce(json_extract(b.actual, '$.shared_bytes'), 0), "
      "coalesce(json_extract(p.predicted, '$.peak_intermediate_bytes'), 0), coalesce(json_extract(b.actual, '$.code_bytes'), b.binary_bytes), "
      "(SELECT min(v.passed) FROM verification v WHERE v.trial_id = t.trial_id), "
      "(SELECT max(v.what = 'candidate' AND v.passed) FROM verification v WHERE v.trial_id = t.trial_id) "
      "FROM trial t JOIN run r USING (run_id) JOIN schedule s USING (schedule_id) JOIN build b USING (build_id) "
      "LEFT JOIN build_problem p ON p.build_id = b.build_id AND p.problem_id = t.problem_id "
      "WHERE t.problem_id = ?1 AND r.device_id = ?2 AND r.toolchain_id = ?3 AND r.origin = 'own' AND t.outcome = 'ok' ORDER BY t.trial_id",
      key.problem, key.device, key.toolchain);
  Candidates candidates;
  while (row.step()) {
    Candidate& candidate = candidates[row.id<ScheduleId>(1)];
    candidate.row.trial = row.id<TrialId>(0);
    candidate.row.schedule = row.id<ScheduleId>(1);
    candidate.row.build = row.optional_id<BuildId>(2);
    candidate.row.schedule_origin = row.text(4);
    candidate.row.contender.schedule = row.digest(3);
    candidate.row.contender.numerics_rank = numerics_rank(row.text(5));
    candidate.row.contender.resources = {row.real(6), row.real(7), row.real(8), row.real(9)};
    const bool has_check = !row.is_null(10), all_passed = row.integer(10) == 1, candidate_passed = row.integer(11) == 1;
    if (has_check && !all_passed) candidate.has_failed = true;
    if (has_check && all_passed && candidate_passed) candidate.verified.push_back(row.id<TrialId>(0));
  }
  for (auto& [id, candidate] : candidates) candidate.row.contender.is_verified = !candidate.verified.empty() && !candidate.has_failed;
  return candidates;
}

struct Final {
  ScheduleId schedule{}, baseline{};
  TrialId trial{};
  std::optional<BuildId> build;
  RaceRatio ratio;
};

std::vector<Final> read_finals(Store& store, const ResultKey& key) {
  Statement row = store.connection().query(
      "SELECT schedule_id, baseline_schedule_id, trial_id, build_id, race_id, ratio, ratio_lo, ratio_hi, floor, value_ns FROM v_clean_final "
      "WHERE problem_id = ?1 AND device_id = ?2 AND toolchain_id = ?3 AND protocol_id = ?4 ORDER BY at, race_id",
      key.problem, key.device, key.toolchain, key.protocol);
  std::vector<Final> finals;
  while (row.step())
    finals.push_back({row.id<ScheduleId>(0), row.id<ScheduleId>(1), row.id<TrialId>(2), row.optional_id<BuildId>(3),
                      RaceRatio{.race = row.integer(4),
                                .ratio = row.real(5),
                                .lo = row.real(6),
                                .hi = row.optional_real(7).value_or(std::numeric_limits<double>::infinity()),
                                .floor = row.real(8),
                                .value_ns = row.real(9)}});
  return finals;
}

void add_finals(Candidates& candidates, const std::vector<Final>& finals) {
  if (finals.empty()) return;
  const ScheduleId baseline = finals.back().baseline;
  for (const Final& final : finals) {
    const auto found = candidates.find(final.schedule);
    if (final.baseline != baseline || found == candidates.end()) continue;
    Candidate& candidate = found->second;
    const bool is_proven = std::find(candidate.verified.begin(), candidate.verified.end(), final.trial) != candidate.verified.end();
    if (candidate.row.contender.is_verified && !is_proven) continue;  // timed by a trial that was never checked: no proof for a choice
    candidate.row.trial = final.trial;
    candidate.row.build = final.build;
    candidate.row.contender.races.push_back(final.ratio);
  }
  if (const auto found = candidates.find(baseline); found != candidates.end()) found->second.row.contender.is_baseline = true;
}

void add_decisions(Store& store, Candidates& candidates, const ResultKey& key) {
  if (const std::optional<StoredChoice> choice = choice_in_force(store, key.problem, key.device); choice && choice->serving_trial) {
    const auto found = candidates.find(trial(store, *choice->serving_trial).schedule);
    if (found != candidates.end()) found->second.row.contender.is_incumbent = true;
  }
  for (const Ruling& ruling : rulings_in_force(store, key.problem, key.device)) {
    const auto found = candidates.find(ruling.schedule);
    if (found == candidates.end()) continue;
    (ruling.kind == "pin" ? found->second.row.contender.is_pinned : found->second.row.contender.is_banned) = true;
  }
}

VerdictRules rules_for(Store& store, const ResultKey& key, const std::vector<ContenderRow>& rows) {
  double shortest_ns = std::numeric_limits<double>::infinity();
  for (const ContenderRow& row : rows)
    for (const RaceRatio& race : row.contender.races) shortest_ns = std::min(shortest_ns, race.value_ns);
  VerdictRules rules;
  if (device(store, key.device).kind == "cuda" && shortest_ns < kShortGpuTime_ns) rules.minimum_margin = kShortGpuMargin;
  return rules;
}

}  // namespace

std::vector<ContenderRow> contenders(Store& store, const ResultKey& key) {
  Candidates candidates = read_candidates(store, key);
  add_finals(candidates, read_finals(store, key));
  add_decisions(store, candidates, key);
  std::vector<ContenderRow> rows;
  for (auto& [id, candidate] : candidates) rows.push_back(std::move(candidate.row));
  return rows;
}

StoredVerdict verdict(Store& store, const ResultKey& key) {
  StoredVerdict result;
  result.contenders = contenders(store, key);
  std::vector<Contender> field;
  for (const ContenderRow& row : result.contenders) {
    field.push_back(row.contender);
    if (row.contender.is_baseline) result.baseline = row;
  }
  result.verdict = decide(field, rules_for(store, key, result.contenders));
  if (result.verdict.chosen) result.chosen = result.contenders[*result.verdict.chosen];
  return result;
}

}  // namespace kiln::db
