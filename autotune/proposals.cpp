#include "autotune/proposals.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "autotune/records.h"
#include "autotune/search/predicted_cost.h"
#include "db/identities.h"
#include "dsl/error.h"
#include "dsl/legality.h"
#include "generators/cuda/predict_time.h"
#include "schedules/sketch.h"
#include "schedules/spaces.h"

namespace kiln::autotune {
namespace {

// Many points may print as schedules that are known: a bounded number of looks keeps a batch short.
constexpr std::size_t kLooks = 20;

std::optional<double> ratio_of(const db::KnownOutcome& known, double baseline_ns) {
  return known.rejection ? ratio_when_cut(rejection_from(*known.rejection), baseline_ns) : known.ratio;
}

// What the model of a kernel's time stands on: without it nothing can be ranked.
bool has_data_sheet(const Gpu& gpu) { return gpu.memory_bytes_per_s > 0 && gpu.clock_hz > 0 && gpu.tensor_flops > 0; }

// The store's word for who proposed a schedule. A restart and an edit are steps of the local search.
std::string origin_of(Phase phase) { return phase == Phase::restart ? "local" : std::string(print(phase)); }

}  // namespace

Proposals::Proposals(Run& run, WorkItem item) : run_(run), item_(std::move(item)) {
  for (const db::Suspect& suspect : suspects(run_.store, run_.device_id, run_.toolchain_id))
    if (suspect.problem == item_.problem_id) suspects_.insert(schedule(run_.store, suspect.schedule).digest);
  for (const db::KnownOutcome& known : known_outcomes(run_.store, run_.key(item_.problem_id))) {
    resumed_ = true;
    if (deserves_another_try(known)) continue;
    if (!known.rejection && known.stage.empty()) continue;  // built and checked, not timed under this protocol: it is proposed again and its build found
    known_.insert(known.digest);
    if (known.rejection) ++rejected_[known.rejection->reason];
  }
}

// It ran out of a time that is longer today.
bool Proposals::deserves_another_try(const db::KnownOutcome& known) const {
  return known.rejection && may_end_now(*known.rejection, parse_schedule(schedule(run_.store, known.schedule).text), run_.limits);
}

std::unique_ptr<Proposer> Proposals::make_proposer(const SearchPlan& plan) const {
  if (run_.reader != nullptr)
    if (auto own = run_.reader->open_space(*item_.algorithm, item_.problem, plan)) return own;
  std::optional<schedules::Space> space = schedules::space_for(*item_.algorithm, item_.problem, run_.device);
  if (!space) return nullptr;
  SearchPlan informed = plan;
  if (space->name() == schedules::kSketch)
    informed.cost = [algorithm = item_.algorithm, problem = item_.problem, device = run_.device](const Schedule& schedule) {
      return predicted_cost(*algorithm, schedule, problem, device);
    };
  if (schedules::is_of_tensor_products(*space) && has_data_sheet(*run_.device.gpu)) {
    informed.cost = [algorithm = item_.algorithm, problem = item_.problem, gpu = *run_.device.gpu](const Schedule& schedule) {
      return generators::cuda::predict_ns(*algorithm, schedule, problem, gpu);
    };
    informed.cost_ranks = true;
  }
  return autotune::make_proposer(std::move(*space), informed);
}

void Proposals::open(const SearchPlan& plan, double baseline_ns) {
  std::unique_ptr<Proposer> points;
  try {
    points = make_proposer(plan);
    if (points) points->resume(past_suggestions(points->space(), baseline_ns));
  } catch (const AlgorithmError& error) {
    points.reset();
    note_failed_space(error.what());
  }
  std::optional<EditSearch> edits;  // of CPUs: a GPU's schedules are points
  if (!run_.device.gpu) edits.emplace(item_.algorithm, item_.problem, run_.device, run_.seed);
  search_.emplace(std::move(points), std::move(edits), plan.expected_trials);
  for (const db::KnownOutcome& known : known_outcomes(run_.store, run_.key(item_.problem_id))) {
    if (deserves_another_try(known)) continue;
    const std::optional<double> ratio = ratio_of(known, baseline_ns);
    if (!ratio) continue;
    const db::ScheduleRow row = schedule(run_.store, known.schedule);
    search_->learn(parse_schedule(row.text), *ratio, !row.point.empty());
  }
}

void Proposals::open(const std::vector<Wish>& planned) {
  search_.emplace(nullptr, std::nullopt, planned.size());
  for (const Wish& wish : planned)
    if (!knows(digest(wish.schedule))) seeds_.push_back(wish);
}

void Proposals::note_failed_space(const std::string& why) {
  run_.note("space_failed", fmt::format("{}: nothing more is proposed from its space: {}", print(item_.problem), why));
}

std::vector<PastSuggestion> Proposals::past_suggestions(const std::string& space, double baseline_ns) const {
  std::vector<PastSuggestion> past;
  for (const db::KnownOutcome& known : known_outcomes(run_.store, run_.key(item_.problem_id))) {
    const db::ScheduleRow row = schedule(run_.store, known.schedule);
    if (row.space != space || row.point.empty()) continue;
    if (deserves_another_try(known)) continue;
    const auto stored = nlohmann::json::parse(row.point);
    past.push_back({stored.at("point").get<std::string>(), parse_phase(stored.at("phase").get<std::string>()).value_or(Phase::random),
                    ratio_of(known, baseline_ns)});
  }
  return past;
}

std::optional<Idea> Proposals::propose(const std::set<Digest>& batch) {
  const auto is_known = [&](const Digest& schedule) { return knows(schedule) || batch.contains(schedule); };
  try {
    return search_->propose(is_known);
  } catch (const AlgorithmError& error) {
    note_failed_space(error.what());
    search_->drop_points();
  }
  return search_->propose(is_known);
}

void Proposals::add_seed(const Schedule& schedule, const std::string& origin) {
  if (knows(digest(schedule)) || find_illegal(schedule, *item_.algorithm, &item_.problem)) return;
  seeds_.push_back({schedule, origin, {}, {}, schedule.is_opaque()});
  exhausted_ = false;
}

Wish Proposals::wish_of(Idea idea) const {
  Wish wish{std::move(idea.schedule), origin_of(Phase::local), std::move(idea.suggestion), {}, false};
  if (wish.suggestion) {
    wish.origin = origin_of(wish.suggestion->phase);
    wish.space = search_->points()->space();
  }
  return wish;
}

// Whether it belongs to the batch now: not when it is known, is in the batch already, or is a suspect that has to wait for its own.
bool Proposals::is_new(const Wish& wish, std::set<Digest>& batch) {
  const Digest identity = digest(wish.schedule);
  if (knows(identity) || !batch.insert(identity).second) {
    observe(wish, std::nullopt);  // the same schedule under another point: what is known of it is what is known of the point
    return false;
  }
  if (!suspects_.contains(identity)) return true;
  postponed_.push_back(wish);
  postponed_.back().alone = true;
  return false;
}

std::vector<Wish> Proposals::next(std::size_t count) {
  std::vector<Wish> wishes;
  std::set<Digest> batch;
  const auto take = [&](Wish wish) {
    if (is_new(wish, batch)) wishes.push_back(std::move(wish));
  };
  if (postponed_.empty()) {
    while (!seeds_.empty() && wishes.size() < count) {
      take(seeds_.front());
      seeds_.erase(seeds_.begin());
    }
    for (std::size_t looks = 0; wishes.size() < count && looks < kLooks * count; ++looks) {
      std::optional<Idea> idea = propose(batch);
      if (!idea) break;
      take(wish_of(std::move(*idea)));
    }
  }
  if (wishes.empty() && !postponed_.empty()) {
    wishes.push_back(std::move(postponed_.back()));
    postponed_.pop_back();
  }
  if (wishes.empty()) wishes = suspects_to_retry();
  exhausted_ = wishes.empty();
  return wishes;
}

// Candidates whose process died under them and that nobody proposes again: once more, alone, last.
std::vector<Wish> Proposals::suspects_to_retry() const {
  for (const db::Suspect& suspect : suspects(run_.store, run_.device_id, run_.toolchain_id)) {
    if (suspect.problem != item_.problem_id) continue;
    const db::ScheduleRow row = schedule(run_.store, suspect.schedule);
    if (!knows(row.digest)) return {{parse_schedule(row.text), row.origin, {}, row.space, true}};
  }
  return {};
}

void Proposals::count(const Digest& schedule, const std::optional<generators::Rejection>& rejection) {
  known_.insert(schedule);
  if (rejection) reject(*rejection);
}

std::optional<double> ratio_when_cut(const generators::Rejection& rejection, double baseline_ns) {
  if (rejection.reason != generators::Reason::cut_slow || !rejection.asked || baseline_ns <= 0) return std::nullopt;
  return *rejection.asked / baseline_ns;
}

void Proposals::reject(const generators::Rejection& rejection) { ++rejected_[std::string(print(rejection.reason))]; }

void Proposals::observe(const Wish& wish, std::optional<double> ratio) {
  try {
    search_->observe({wish.schedule, wish.suggestion}, ratio);
  } catch (const AlgorithmError& error) {
    note_failed_space(error.what());
    search_->drop_points();
  }
}

}  // namespace kiln::autotune
