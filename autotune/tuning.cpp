#include "autotune/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "autotune/builds.h"
#include "autotune/gpu_starts.h"
#include "autotune/records.h"
#include "db/artifacts.h"
#include "db/choices.h"
#include "dsl/error.h"

namespace kiln::autotune {
namespace {

using generators::Reason;
using generators::Rejection;

// Enough to keep two compile workers busy for about a second between races; races of more entrants make rounds long.
constexpr std::size_t kBatch = 8;
// Where there is no time left for so many, fewer, down to this: two workers then have one build each.
constexpr std::size_t kLeastBatch = 2;
// Of a screened batch, at most this many go on to a race that decides.
constexpr std::size_t kRanked = 4;
// Of those, only what the screen shows no more than this behind the incumbent, or the noise floor if that is more: its five samples err by 1 to 2 %.
constexpr double kScreenSlack = 0.02;
constexpr std::size_t kFinalists = 5;
// One race may take this share of the search, so that long kernels meet more than a few batches; what a ranking leaves open, the finals decide.
constexpr double kScreenShare = 0.08, kRankShare = 0.03;
constexpr double kLeastRace_s = 2, kLeastFinal_s = 1;
// What a candidate costs: its build (0.1 to 0.3 s of a core), and calls: to check, to warm and to screen, and its share of a ranking.
constexpr double kBuild_s = 0.25;
constexpr double kCalls = 40;
// Times on a GPU below this differ by so much between two processes, however equal they are within one (an H200, hot, below 10 us; ratios within a race agree
// better, and both finals are such races).
constexpr double kShortOnGpu_ns = 20e3, kShortFloor = 0.007;
// Noise comes and goes: the floor is measured again when it is older than this.
constexpr double kFloorLasts_s = 600;
// A baseline call above this share of the budget is timed once, and said so.
constexpr double kOnceShare = 0.1;
// A candidate this much slower than the best at its first call is not called again: each call of it costs as much as several good candidates. First calls
// of short kernels pay for page faults and sleeping workers beside.
constexpr double kHopeless = 6, kLongHopeless = 2;
constexpr double kColdCall_ns = 2e6, kLongCall_ns = 5e7;
// No machine adds and multiplies faster: vector lanes x 2 operations x 2 units x 6 GHz a core, well above any processor sold; on a GPU four times what its data
// sheet says of bf16, which is what the narrowest types reach.
double least_ns(double flops, const Device& device, int threads) {
  if (device.gpu) return device.gpu->tensor_flops > 0 ? flops / (4e-9 * static_cast<double>(device.gpu->tensor_flops)) : 0;
  const double lanes = device.vector_bytes / 4.0;
  return flops / (lanes * 4 * 6 * threads);
}

// 0 where the lowered program does not tell.
double flops_of(const Entrant& entrant) { return entrant.predicted ? entrant.predicted->flops.value_or(0) : 0; }

Schedule opaque(const std::string& name, std::vector<DirectiveArgument> arguments = {}) {
  Schedule schedule;
  schedule.directives.push_back({"", -1, name, std::move(arguments)});
  return schedule;
}

Wish own_schedule() { return {opaque("own_schedule"), "own", {}, {}, true}; }
Wish mullapudi(int threads) {
  return {opaque("autoschedule", {std::string("Mullapudi2016"), "parallelism=" + std::to_string(threads)}), "autoscheduler", {}, {}, true};
}
Wish unscheduled() { return {Schedule{}, "unscheduled", {}, {}, true}; }

}  // namespace

void Tuning::tell(const std::string& phase, int done, int total) const {
  Step step;
  step.phase = phase;
  step.problem = print(item_.problem);
  step.done = done;
  step.total = total;
  step.tried = proposals_.tried();
  if (!known_.empty()) step.best_ratio = ranking().front().ratio.value_or(1);
  step.noise = floor_;
  step.rejected = proposals_.rejected();
  step.seconds_left = run_.budget.left_s(run_.spent_s());
  run_.progress.step(step);
  heartbeat(run_.store, run_.id);
}

bool Tuning::prepare() {
  tell("reading", 0, 0);
  reference_ = run_.builds.reference(run_, item_);
  if (!find_baseline()) return false;
  measure_floor();
  if (const auto planned = run_.builds.planned(run_, item_)) proposals_.open(*planned);
  else proposals_.open(plan(), baseline_ns_);
  restore_timed();
  return true;
}

// Prepares inputs and the reference's results; needs to know how much work a call is, which the first build that succeeds tells.
bool Tuning::find_baseline() {
  tell("baseline", 0, 0);
  baseline_ = first_that_runs(run_.device.gpu ? gpu_baselines() : cpu_baselines());
  if (baseline_) return true;
  const char* const tried = run_.device.gpu ? "none of the schedules that its space begins with" : "neither its own schedule, nor Mullapudi2016's, nor the unscheduled algorithm";
  run_.note("no_baseline", fmt::format("{}: {} could be built and run: `kiln status` lists the reasons", print(item_.problem), tried));
  return false;
}

std::vector<Wish> Tuning::cpu_baselines() const {
  std::vector<Wish> wishes;
  if (item_.algorithm->own_schedule_absent.empty()) wishes.push_back(own_schedule());
  wishes.push_back(mullapudi(run_.measurer.protocol().threads));
  wishes.push_back(unscheduled());
  return wishes;
}

// Nobody schedules for a GPU without a thought: what a programmer writes first stands at the front of a space.
std::vector<Wish> Tuning::gpu_baselines() const {
  if (auto planned = run_.builds.planned(run_, item_)) {
    const auto is_seed = [](const Wish& wish) { return wish.origin == "seed"; };
    // Where none is said to be one, others proposed the same schedules before their space did.
    if (std::any_of(planned->begin(), planned->end(), is_seed)) std::erase_if(*planned, [&](const Wish& wish) { return !is_seed(wish); });
    return *planned;
  }
  return gpu_starts(item_, run_.device, run_.builds, proposals_.seeds());
}

std::optional<Entrant> Tuning::first_that_runs(const std::vector<Wish>& wishes) {
  for (const Wish& wish : wishes) {
    std::optional<Entrant> entrant;
    for (const db::KnownOutcome& known : known_outcomes(run_.store, run_.key(item_.problem_id)))
      if (known.digest == digest(wish.schedule) && is_verified(run_.store, known.trial)) entrant = restore(run_, item_, known);
    const bool is_restored = entrant.has_value();
    if (is_restored) {
      proposals_.count(entrant->digest, std::nullopt);  // checked by an earlier run and perhaps not timed yet: the baseline is no seed beside itself
    } else {
      if (proposals_.knows(digest(wish.schedule))) continue;  // known to fail
      const std::vector<Admission> admissions = run_.builds.build(run_, item_, {wish});
      proposals_.count(digest(wish.schedule), admissions.front().rejection);
      entrant = admissions.front().entrant;
      if (!entrant) continue;
    }
    const auto start = Clock::now();
    prepared_ = run_.measurer.prepare(subject_of(item_.algorithm, item_.problem, reference_, run_.seed));
    preparing_s_ = seconds_since(start);
    if (is_restored) {
      if (wish.schedule.is_opaque()) entrant->directives = run_.builds.directives_of(run_, item_, wish.schedule);
      seed_directives(*entrant);
      return entrant;
    }
    if (const auto rejection = check(run_, item_, prepared_.key, *entrant)) {
      proposals_.reject(*rejection);
      continue;
    }
    start_trial(run_.store, entrant->trial);
    finish_trial(run_.store, entrant->trial);
    seed_directives(*entrant);
    return entrant;
  }
  return std::nullopt;
}

// What an author or an autoscheduler did is where a search may go on from, once it is said in directives.
void Tuning::seed_directives(const Entrant& opaque) {
  if (!opaque.directives.empty()) proposals_.add_seed(parse_schedule(opaque.directives), opaque.wish.origin);
}

void Tuning::measure_floor() {
  tell("baseline", 1, 2);
  floor_measured_ = Clock::now();
  const FloorOutcome outcome = run_.measurer.floor(prepared_.key, baseline_->candidate(), run_.seed);
  if (outcome.rejection) {
    // Its calls are too long to be repeated that often: what cannot be told from noise is then taken to be as much as on a contended machine.
    floor_ = kContendedFloor;
    record_event(run_.store, run_.id, "no_floor", fmt::format("{}: {}", print(item_.problem), outcome.rejection->text));
    return;
  }
  floor_ = std::max(outcome.floor, run_.device.gpu && outcome.value_ns < kShortOnGpu_ns ? kShortFloor : 0.0);
  baseline_ns_ = outcome.value_ns;
  contended_ = outcome.contended;
  db::NoiseFloor row;
  row.p95_relative = std::max(0.0, outcome.floor);
  record_noise_floor(run_.store, run_.id, row);
  if (contended_)
    run_.note("contended", fmt::format("{}: the machine is contended: the same kernel twice differs by {:.1f} %", print(item_.problem), 100 * floor_));
}

SearchPlan Tuning::plan() const {
  // From the budget and the work of a call, not from times: equal runs must plan alike, however long their first steps took.
  const double call_s = least_ns(flops_of(*baseline_), run_.device, run_.measurer.protocol().threads) * 1e-9;
  SearchPlan plan;
  plan.seed = run_.seed;
  plan.expected_trials = static_cast<std::uint64_t>(std::clamp(run_.budget.search_share_s() / (kBuild_s + kCalls * call_s), 40.0, 2000.0));
  if (run_.most_candidates > 0) plan.expected_trials = std::min<std::uint64_t>(plan.expected_trials, static_cast<std::uint64_t>(run_.most_candidates));
  return plan;
}

std::size_t Tuning::candidates_left() const {
  if (run_.most_candidates == 0) return std::numeric_limits<std::size_t>::max();
  return static_cast<std::size_t>(std::max(0, run_.most_candidates - proposals_.tried()));
}

// What earlier runs verified and timed takes part in the finals.
void Tuning::restore_timed() {
  for (const db::KnownOutcome& known : known_outcomes(run_.store, run_.key(item_.problem_id))) {
    if (known.rejection || known.stage.empty() || known.digest == baseline_->digest || !is_verified(run_.store, known.trial)) continue;
    if (auto restored = restore(run_, item_, known)) known_.push_back(std::move(*restored));
  }
}

// What a first call, cold as it is, may take beside the best.
double Tuning::hopeless_ns() const {
  if (baseline_ns_ <= 0) return 0;
  const double best_ns = baseline_ns_ * std::min(1.0, ranking().front().ratio.value_or(1));
  return (best_ns > kLongCall_ns ? kLongHopeless : kHopeless) * best_ns + kColdCall_ns;
}

std::vector<Entrant> Tuning::admit(const std::vector<Wish>& wishes) {
  std::vector<Entrant> entrants;
  std::vector<Admission> admissions = run_.builds.build(run_, item_, wishes);
  int done = 0;
  for (Admission& admission : admissions) {
    tell("checking", done++, static_cast<int>(admissions.size()));
    if (run_.stop_request() == StopRequest::leave) break;
    std::optional<Rejection> rejection = admission.rejection;
    if (admission.entrant && !rejection) rejection = check(run_, item_, prepared_.key, *admission.entrant, hopeless_ns());
    if (!rejection && !admission.entrant) continue;  // the run was stopped before its build began
    proposals_.count(digest(admission.wish.schedule), rejection);
    if (rejection) {
      proposals_.observe(admission.wish, ratio_when_cut(*rejection, baseline_ns_));
    } else {
      seed_directives(*admission.entrant);
      entrants.push_back(std::move(*admission.entrant));
    }
  }
  return entrants;
}

std::optional<Entrant> Tuning::incumbent() const {
  if (known_.empty()) return std::nullopt;
  return *std::min_element(known_.begin(), known_.end(), [](const Entrant& a, const Entrant& b) { return a.ratio < b.ratio; });
}

// One race with baseline and incumbent among the entrants, stored as it ended.
std::vector<Tuning::Settled> Tuning::race(const std::vector<Entrant>& entrants, RaceOptions options) {
  std::optional<Entrant> best = incumbent();
  if (!best && options.stage == RaceStage::rank && !entrants.empty()) best = entrants.front();  // the best of the screen is who the others have to beat
  std::vector<RaceEntry> entries;
  entries.push_back({baseline_->candidate(), true, !best});
  for (const Entrant& entrant : entrants)
    if (!best || entrant.trial != best->trial) entries.push_back({entrant.candidate(), false, false});
  if (best) entries.push_back({best->candidate(), false, true});

  options.floor = floor_;
  options.call_limit_s = run_.limits.call_s;
  options.seed = run_.seed + ++races_;
  // Flops are counted as scheduled, recomputation included: the leanest of the race is nearest to what any of them must do.
  double flops = flops_of(*baseline_);
  for (const Entrant& entrant : entrants) flops = std::min(flops, flops_of(entrant));
  options.least_ns = least_ns(flops, run_.device, run_.measurer.protocol().threads);
  options.once_ns = kOnceShare * run_.budget.total_s() * 1e9;
  std::vector<RaceResult> results;
  run_.measurer.race(
      prepared_.key, entries, options,
      [&](const RaceResult& result) {
        results.push_back(result);
        tell(options.stage == RaceStage::final_ ? "finals" : "measuring", static_cast<int>(results.size()), static_cast<int>(entries.size()));
      },
      [&] { return run_.stop_request() == StopRequest::leave; });

  db::RaceRow row;
  row.run = run_.id;
  row.problem = item_.problem_id;
  row.protocol = run_.protocol_id;
  row.stage = options.stage == RaceStage::screen ? "screen" : options.stage == RaceStage::rank ? "rank" : "final";
  row.baseline = baseline_->trial;
  if (best) row.incumbent = best->trial;
  row.floor = floor_;
  std::vector<db::MeasurementRow> rows;
  std::vector<Settled> settled;
  bool baseline_timed = false;
  for (const RaceResult& result : results) {
    if (!result.rejection && !result.samples.empty()) {
      rows.push_back(measurement_row(result, static_cast<db::TrialId>(result.id), contended_));
      baseline_timed |= static_cast<db::TrialId>(result.id) == baseline_->trial;
    }
    for (const Entrant& entrant : entrants)
      if (static_cast<std::int64_t>(entrant.trial) == result.id) settled.push_back({entrant, result});
    if (static_cast<db::TrialId>(result.id) == baseline_->trial && !result.samples.empty()) baseline_ns_ = result.value_ns;
  }
  if (baseline_timed) record_race(run_.store, row, rows);
  return settled;
}

// A trial ends: with a time, or with the reason why there is none.
void Tuning::settle(Entrant entrant, const std::optional<Rejection>& rejection) {
  proposals_.observe(entrant.wish, rejection ? ratio_when_cut(*rejection, baseline_ns_) : entrant.ratio);
  if (rejection) {
    proposals_.reject(*rejection);
    reject_trial(run_.store, entrant.trial, rejection_row(*rejection));
    return;
  }
  finish_trial(run_.store, entrant.trial);
  known_.push_back(std::move(entrant));
}

void Tuning::screen_and_rank(std::vector<Entrant> entrants) {
  if (entrants.empty()) return;
  for (const Entrant& entrant : entrants) start_trial(run_.store, entrant.trial);
  RaceOptions options;
  options.stage = RaceStage::screen;
  options.limit_s = std::max(kLeastRace_s, run_.budget.search_share_s() * kScreenShare);
  std::vector<Settled> screened = race(entrants, options);
  std::vector<Entrant> passed;
  for (Settled& one : screened) {
    if (one.result.rejection || one.result.samples.empty()) {
      if (one.result.rejection) settle(std::move(one.entrant), one.result.rejection);
      continue;  // no samples and no reason: the race was stopped, the trial stays to be resumed
    }
    one.entrant.ratio = one.result.to_baseline.value;
    one.entrant.stage = "screen";
    if (one.result.to_incumbent.value > 1 + std::max(kScreenSlack, floor_)) {
      settle(std::move(one.entrant), std::nullopt);
    } else {
      passed.push_back(std::move(one.entrant));
    }
  }
  std::sort(passed.begin(), passed.end(), [](const Entrant& a, const Entrant& b) { return a.ratio < b.ratio; });
  while (passed.size() > kRanked) {
    settle(std::move(passed.back()), std::nullopt);
    passed.pop_back();
  }
  if (passed.empty()) return;
  options.stage = RaceStage::rank;
  options.limit_s = std::max(kLeastRace_s, run_.budget.search_share_s() * kRankShare);
  for (Settled& one : race(passed, options)) {
    if (!one.result.rejection && !one.result.samples.empty()) {
      one.entrant.ratio = one.result.to_baseline.value;
      one.entrant.stage = "rank";
    }
    settle(std::move(one.entrant), one.result.rejection);
  }
}

bool Tuning::batch() {
  const auto start = Clock::now();
  if (seconds_since(floor_measured_) > kFloorLasts_s) measure_floor();
  std::size_t size = kBatch;
  if (!best_after_batch_.empty()) size = std::clamp(static_cast<std::size_t>(std::max(0.0, run_.search_left_s()) / candidate_s_), kLeastBatch, kBatch);
  const std::vector<Wish> wishes = proposals_.next(std::min(size, candidates_left()));
  if (wishes.empty()) return false;
  tell("compiling", 0, static_cast<int>(wishes.size()));
  screen_and_rank(admit(wishes));
  latest_batch_s_ = seconds_since(start);
  candidate_s_ = std::max(1e-3, latest_batch_s_ / static_cast<double>(wishes.size()));
  best_after_batch_.push_back(known_.empty() ? 1.0 : ranking().front().ratio.value_or(1));
  return true;
}

std::vector<Entrant> Tuning::ranking() const {
  std::vector<Entrant> ranking = known_;
  if (baseline_) {
    ranking.push_back(*baseline_);
    ranking.back().ratio = 1;
  }
  std::stable_sort(ranking.begin(), ranking.end(), [](const Entrant& a, const Entrant& b) { return a.ratio.value_or(1e30) < b.ratio.value_or(1e30); });
  return ranking;
}

void Tuning::finals(double limit_s) {
  const auto start = Clock::now();
  if (contended_) measure_floor();  // the machine may be quiet by now, and nothing can be chosen while it is not
  std::vector<Entrant> finalists;
  for (const Entrant& entrant : ranking())
    if (finalists.size() < kFinalists && entrant.trial != baseline_->trial) finalists.push_back(entrant);
  const char* const kind = run_.device.gpu ? "cubin" : "object";
  for (const Entrant& entrant : finalists) put_artifact(run_.store, kind, run_.objects.object(entrant.object.hash));
  put_artifact(run_.store, kind, run_.objects.object(baseline_->object.hash));
  // Two races in two processes tell a layout that was lucky once; the second only when the first left time for it.
  for (int round = 0; round < 2 && (round == 0 || seconds_since(start) < limit_s / 2); ++round) {
    RaceOptions options;
    options.stage = RaceStage::final_;
    options.fresh_process = true;
    options.limit_s = std::max(kLeastFinal_s, limit_s - seconds_since(start) - inputs_s());
    for (const Settled& one : race(finalists, options)) {
      if (!one.result.rejection) continue;
      // It passed before and does not now: no choice may fall on it.
      db::VerificationRow failed;
      failed.reference = "final race";
      failed.tolerance = "runs";
      failed.passed = false;
      failed.worst_output = one.result.rejection->text;
      record_verification(run_.store, one.entrant.trial, failed);
      std::erase_if(finalists, [&](const Entrant& entrant) { return entrant.trial == one.entrant.trial; });
      std::erase_if(known_, [&](const Entrant& entrant) { return entrant.trial == one.entrant.trial; });
    }
  }
}

// A final is in a fresh process, which makes the inputs again.
double Tuning::inputs_s() const { return preparing_s_ - prepared_.reference_s; }
double Tuning::finals_need_s() const { return inputs_s() + kLeastFinal_s; }

Prospect Tuning::prospect() const {
  Prospect prospect;
  prospect.calls = item_.calls;
  prospect.best_ns = baseline_ns_ * (known_.empty() ? 1.0 : ranking().front().ratio.value_or(1));
  prospect.recent_gain = expected_gain(best_after_batch_);
  prospect.batch_s = latest_batch_s_;
  prospect.least_s = candidate_s_ * static_cast<double>(kLeastBatch);
  prospect.batches = static_cast<int>(best_after_batch_.size());
  prospect.exhausted = proposals_.is_exhausted() || candidates_left() == 0;
  return prospect;
}

}  // namespace kiln::autotune
