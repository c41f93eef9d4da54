// Kiln's search (points of the sketch and edits of what was good, as `tune` mixes them) against random search in the same space, with the same number
// of evaluations: for each problem and seed the best schedule that either found, raced against each other at the end. Both start from the space's
// seeds; a schedule that several searches propose is built and timed once. With --exhaustive against every point of the space instead: how much slower
// than the best of all is what the search finds in so many evaluations.
// With --outcomes FILE each point's rank and ratio to the first seed are written too, a line each, and what the last race made of the best: for experiments
// without the device.
// usage: search_bench KILN_PROGRAM [--device NAME] [--exhaustive [--outcomes FILE]] [--evaluations N] [--seeds N] [--load LIBRARY]... PROBLEM...
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <set>

#include "autotune/compile_pool.h"
#include "autotune/measurer.h"
#include "autotune/probe.h"
#include "autotune/proposals.h"
#include "autotune/reader.h"
#include "autotune/search/mixed_search.h"
#include "autotune/search/predicted_cost.h"
#include "dsl/error.h"
#include "dsl/legality.h"
#include "schedules/sketch.h"
#include "schedules/spaces.h"

namespace kiln::bench {
namespace {

using autotune::CompileJob;
using autotune::CompileOutcome;
using autotune::ObjectRef;
using autotune::Outcome;

constexpr std::size_t kBatch = 8;
constexpr double kScreen_s = 6, kFinal_s = 30;

struct Arguments {
  std::string program;
  std::string device = "cpu";
  bool is_exhaustive = false;
  std::string outcomes;  // a file; empty: none
  std::uint64_t evaluations = 100, seeds = 3;
  std::vector<std::string> libraries, problems;
};

struct Machine {
  Machine(const Arguments& arguments, const std::filesystem::path& folder)
      : launch(launch_of(arguments)), probe(autotune::probe(launch, arguments.device)), device(probe.device), objects(folder),
        reader(arguments.libraries, device, {}, launch), pool(probe.host_cores, device, objects, launch),
        measurer(device, autotune::protocol_for(device, autotune::Cache::hot, 0), objects, {}, launch) {}

  static autotune::Launch launch_of(const Arguments& arguments) {
    autotune::Launch launch;
    launch.program = arguments.program;
    return launch;
  }

  autotune::Launch launch;
  autotune::Probe probe;
  Device device;
  autotune::Objects objects;
  autotune::Reader reader;
  autotune::CompilePool pool;
  autotune::Measurer measurer;
};

// One problem with its baseline, and all that is known of its schedules.
class Arena {
 public:
  Arena(Machine& machine, const std::string& text) : machine_(machine) {
    const ProblemText parsed = parse_problem_text(text);
    const OperatorSignature signature = machine.reader.signature(parsed.operator_name);
    algorithm_ = std::make_shared<const Algorithm>(machine.reader.read(parsed.operator_name, params_of(parsed, signature.default_params, signature.type_param)));
    problem_ = resolve(parsed, *algorithm_);
    space_ = schedules::space_for(*algorithm_, problem_, machine.device);
    if (!space_) throw UsageError("no space serves " + text);
    prepared_ = machine.measurer.prepare(autotune::subject_of(algorithm_, problem_, object_of(CompileJob::What::reference, ""), 1));
    const std::string baseline = machine.device.gpu ? print(space_->schedule(space_->seeds().front().point))
                                                    : fmt::format("autoschedule(Mullapudi2016, parallelism={})\n", machine.device.cores);
    baseline_ = {0, object_of(CompileJob::What::candidate, baseline), false};
  }

  const Problem& problem() const { return problem_; }
  const schedules::Space& space() const { return *space_; }

  autotune::MixedSearch kilns_search(autotune::SearchPlan plan) const {
    if (space_->name() == schedules::kSketch)
      plan.cost = [this](const Schedule& schedule) { return autotune::predicted_cost(*algorithm_, schedule, problem_, machine_.device); };
    std::optional<autotune::EditSearch> edits;  // of CPUs: a GPU's schedules are points
    if (!machine_.device.gpu) edits.emplace(algorithm_, problem_, machine_.device, plan.seed);
    return {autotune::make_proposer(*space_, plan), std::move(edits), plan.expected_trials};
  }

  // Time over the baseline's, for every schedule that could be built, checked and timed.
  std::vector<Outcome> evaluate(const std::vector<Schedule>& batch) {
    std::vector<CompileJob> jobs;
    std::map<std::int64_t, ObjectRef> built;
    for (const Schedule& schedule : batch) {
      const auto [known, is_new] = numbers_.emplace(digest(schedule), static_cast<std::int64_t>(numbers_.size()) + 1);
      if (!is_new || find_illegal(schedule, *algorithm_, &problem_)) continue;
      jobs.push_back(job(CompileJob::What::candidate, print(schedule)));
      jobs.back().id = known->second;
    }
    machine_.pool.run(std::move(jobs), [](std::int64_t) {}, [&](const CompileOutcome& outcome) {
      if (outcome.object) built[outcome.id] = *outcome.object;
    });
    std::vector<autotune::RaceEntry> entries = {{baseline_, true, true}};
    for (const auto& [id, object] : built) {
      const autotune::Candidate candidate{id, object, false};
      objects_[id] = object;
      if (!machine_.measurer.check(prepared_.key, candidate).rejection) entries.push_back({candidate, false, false});
    }
    if (entries.size() > 1) race(entries, autotune::RaceStage::screen, kScreen_s, ratios_);
    std::vector<Outcome> outcomes;
    for (const Schedule& schedule : batch) {
      const auto ratio = ratios_.find(numbers_.at(digest(schedule)));
      outcomes.push_back(ratio == ratios_.end() ? Outcome() : Outcome(ratio->second));
    }
    return outcomes;
  }

  // The best of each search in one long race: what the comparison is made of.
  std::map<std::int64_t, double> race_best(const std::vector<Schedule>& best) {
    std::map<std::int64_t, double> ratios;
    std::vector<autotune::RaceEntry> entries = {{baseline_, true, true}};
    for (const Schedule& schedule : best) {
      const std::int64_t id = number(schedule);
      const bool is_new = std::none_of(entries.begin(), entries.end(), [&](const autotune::RaceEntry& entry) { return entry.candidate.id == id; });
      if (is_new) entries.push_back({{id, objects_.at(id), false}, false, false});
    }
    race(entries, autotune::RaceStage::final_, kFinal_s, ratios);
    return ratios;
  }
  std::int64_t number(const Schedule& schedule) const { return numbers_.at(digest(schedule)); }

 private:
  CompileJob job(CompileJob::What what, const std::string& schedule) const {
    CompileJob job;
    job.what = what;
    job.algorithm = algorithm_;
    job.schedule = schedule;
    job.problem = problem_;
    return job;
  }

  ObjectRef object_of(CompileJob::What what, const std::string& schedule) {
    std::optional<ObjectRef> object;
    std::string why;
    machine_.pool.run({job(what, schedule)}, [](std::int64_t) {}, [&](const CompileOutcome& outcome) {
      object = outcome.object;
      if (outcome.build.rejection) why = outcome.build.rejection->text;
    });
    if (!object) throw UsageError(print(problem_) + ": " + (schedule.empty() ? "the reference" : schedule) + " does not build: " + why);
    return *object;
  }

  void race(const std::vector<autotune::RaceEntry>& entries, autotune::RaceStage stage, double limit_s, std::map<std::int64_t, double>& ratios) {
    autotune::RaceOptions options;
    options.stage = stage;
    options.limit_s = limit_s;
    options.seed = ++races_;
    std::vector<autotune::RaceResult> results;
    machine_.measurer.race(prepared_.key, entries, options, [&](const autotune::RaceResult& result) { results.push_back(result); });
    const auto baseline = std::find_if(results.begin(), results.end(), [&](const autotune::RaceResult& result) { return result.id == baseline_.id; });
    for (const autotune::RaceResult& result : results) {
      const auto ratio = result.rejection        ? autotune::ratio_when_cut(*result.rejection, baseline == results.end() ? 0 : baseline->value_ns)
                         : result.samples.empty() ? std::nullopt
                                                  : std::optional(result.to_baseline.value);
      if (ratio) ratios[result.id] = *ratio;
    }
  }

  Machine& machine_;
  std::shared_ptr<const Algorithm> algorithm_;
  Problem problem_;
  std::optional<schedules::Space> space_;
  autotune::Prepared prepared_;
  autotune::Candidate baseline_;
  std::map<Digest, std::int64_t> numbers_;
  std::map<std::int64_t, ObjectRef> objects_;
  std::map<std::int64_t, double> ratios_;
  std::uint64_t races_ = 0;
};

// A screen of five samples errs by some percent: as `tune` does, the best few go on to the race that decides.
constexpr std::size_t kFinalists = 3;

struct Found {
  std::map<double, Schedule> best;  // by ratio, at most kFinalists
  std::size_t proposed = 0, failed = 0;
};

// One of the two searches.
struct Contestant {
  std::function<std::optional<autotune::Idea>()> propose;
  std::function<void(const autotune::Idea&, Outcome)> observe;
};

Contestant kilns_search(const Arena& arena, const autotune::SearchPlan& plan) {
  auto search = std::make_shared<autotune::MixedSearch>(arena.kilns_search(plan));
  auto proposed = std::make_shared<std::set<Digest>>();
  const auto propose = [search, proposed]() -> std::optional<autotune::Idea> {
    auto idea = search->propose([&](const Digest& schedule) { return proposed->contains(schedule); });
    if (idea) proposed->insert(digest(idea->schedule));
    return idea;
  };
  return {propose, [search](const autotune::Idea& idea, Outcome outcome) { search->observe(idea, outcome); }};
}

// It learns nothing from outcomes.
Contestant random_search(const Arena& arena, const autotune::SearchPlan& plan) {
  std::shared_ptr<autotune::Search> search = autotune::make_random_search(arena.space(), plan);
  const auto propose = [search, &arena]() -> std::optional<autotune::Idea> {
    const auto proposal = search->propose();
    if (!proposal) return std::nullopt;
    return autotune::Idea{arena.space().schedule(proposal->point), std::nullopt};
  };
  return {propose, [](const autotune::Idea&, Outcome) {}};
}

Found run_search(Arena& arena, const Contestant& contestant, std::uint64_t evaluations) {
  Found found;
  while (found.proposed < evaluations) {
    std::vector<autotune::Idea> ideas;
    std::vector<Schedule> batch;
    while (batch.size() < std::min<std::uint64_t>(kBatch, evaluations - found.proposed)) {
      std::optional<autotune::Idea> idea = contestant.propose();
      if (!idea) break;
      batch.push_back(idea->schedule);
      ideas.push_back(std::move(*idea));
    }
    if (batch.empty()) break;
    found.proposed += batch.size();
    const std::vector<Outcome> outcomes = arena.evaluate(batch);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      contestant.observe(ideas[i], outcomes[i]);
      found.failed += !outcomes[i];
      if (!outcomes[i]) continue;
      found.best.emplace(*outcomes[i], batch[i]);
      if (found.best.size() > kFinalists) found.best.erase(std::prev(found.best.end()));
    }
  }
  return found;
}

void compare(Machine& machine, const std::string& problem, const Arguments& arguments) {
  Arena arena(machine, problem);
  std::vector<Found> all;  // the search and random search in turn, by seed
  std::vector<Schedule> best;
  for (std::uint64_t seed = 1; seed <= arguments.seeds; ++seed) {
    for (const bool is_random : {false, true}) {
      const autotune::SearchPlan plan{.seed = seed, .expected_trials = arguments.evaluations};
      all.push_back(run_search(arena, is_random ? random_search(arena, plan) : kilns_search(arena, plan), arguments.evaluations));
      for (const auto& [ratio, schedule] : all.back().best) best.push_back(schedule);
    }
  }
  const std::map<std::int64_t, double> ratios = arena.race_best(best);
  const auto ratio_of = [&](const Found& found) {
    double least = found.best.empty() ? 1.0 : std::numeric_limits<double>::infinity();
    for (const auto& [screened, schedule] : found.best) {
      const auto raced = ratios.find(arena.number(schedule));
      least = std::min(least, raced == ratios.end() ? screened : raced->second);
    }
    return least;
  };
  for (std::uint64_t seed = 1; seed <= arguments.seeds; ++seed) {
    const Found &searched = all[2 * (seed - 1)], &drawn = all[2 * (seed - 1) + 1];
    std::printf("| %s | %s | %.2g | %llu | %.3f | %.3f | %.3f | %zu, %zu of %llu |\n", print(arena.problem()).c_str(), arena.space().name().c_str(),
                arena.space().approximate_count(), static_cast<unsigned long long>(seed), 1 / ratio_of(searched), 1 / ratio_of(drawn),
                ratio_of(drawn) / ratio_of(searched), searched.failed, drawn.failed, static_cast<unsigned long long>(arguments.evaluations));
    std::fflush(stdout);
  }
}

constexpr std::size_t kSweepBatch = 32;

// Every point of the space once; its best, by ratio, at most `most`.
Found measure_all(Arena& arena, std::size_t most, const std::string& file) {
  Found found;
  std::vector<Schedule> batch;
  std::ofstream lines;
  if (!file.empty()) {
    lines.open(file, std::ios::app);
    lines << print(arena.problem()) << "\n";
  }
  const auto flush = [&] {
    const std::vector<Outcome> outcomes = arena.evaluate(batch);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      found.failed += !outcomes[i];
      if (outcomes[i]) found.best.emplace(*outcomes[i], batch[i]);
      if (found.best.size() > most) found.best.erase(std::prev(found.best.end()));
      if (outcomes[i] && lines.is_open()) lines << found.proposed - batch.size() + i << " " << *outcomes[i] << "\n";
    }
    batch.clear();
  };
  const std::uint64_t points = arena.space().count().value();
  for (std::uint64_t rank = 0; rank < points; ++rank) {
    batch.push_back(arena.space().schedule(arena.space().unrank(rank)));
    ++found.proposed;
    if (batch.size() == kSweepBatch || rank + 1 == points) flush();
  }
  return found;
}

// What every search found, and the best of all points, in one race.
void compare_with_all(Machine& machine, const std::string& problem, const Arguments& arguments) {
  constexpr std::size_t kBestOfAll = 12;  // a screen errs by some percent: the best is among these
  Arena arena(machine, problem);
  const Found all = measure_all(arena, kBestOfAll, arguments.outcomes);
  std::vector<Found> searched;
  std::vector<Schedule> best;
  for (const auto& [ratio, schedule] : all.best) best.push_back(schedule);
  for (std::uint64_t seed = 1; seed <= arguments.seeds; ++seed) {
    searched.push_back(run_search(arena, kilns_search(arena, {.seed = seed, .expected_trials = arguments.evaluations}), arguments.evaluations));
    for (const auto& [ratio, schedule] : searched.back().best) best.push_back(schedule);
  }
  const std::map<std::int64_t, double> ratios = arena.race_best(best);
  if (!arguments.outcomes.empty()) {
    std::ofstream lines(arguments.outcomes, std::ios::app);
    std::set<std::int64_t> written;
    for (const Schedule& schedule : best) {
      const std::int64_t id = arena.number(schedule);
      if (!written.insert(id).second) continue;
      lines << "final " << (ratios.contains(id) ? fmt::format("{:.4f}", ratios.at(id)) : "untimed") << " " << print(schedule);
    }
  }
  const auto least = [&](const Found& found) {
    double ratio = std::numeric_limits<double>::infinity();
    for (const auto& [screened, schedule] : found.best)
      if (const auto raced = ratios.find(arena.number(schedule)); raced != ratios.end()) ratio = std::min(ratio, raced->second);
    return ratio;
  };
  double best_of_all = least(all);
  for (const Found& found : searched) best_of_all = std::min(best_of_all, least(found));
  std::vector<double> behind;
  for (const Found& found : searched) behind.push_back(least(found) / best_of_all);
  std::string each;
  for (const double ratio : behind) each += fmt::format("{}{:.3f}", each.empty() ? "" : ", ", ratio);
  std::sort(behind.begin(), behind.end());
  std::printf("| %s | %s | %zu | %zu | %.3f | %llu | %s | %.3f |\n", print(arena.problem()).c_str(), arena.space().name().c_str(), all.proposed, all.failed,
              1 / best_of_all, static_cast<unsigned long long>(arguments.evaluations), each.c_str(), behind[behind.size() / 2]);
  std::fflush(stdout);
}

std::uint64_t positive(const char* text) {
  const unsigned long long value = std::strtoull(text, nullptr, 10);
  if (value == 0) throw UsageError(fmt::format("a number above 0 was expected, found `{}`", text));
  return value;
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  if (argc > 1) arguments.program = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (!word.starts_with("--")) {
      arguments.problems.push_back(word);
    } else if (word == "--exhaustive") {
      arguments.is_exhaustive = true;
    } else if (i + 1 == argc) {
      throw UsageError(word + " needs a value");
    } else if (word == "--evaluations") {
      arguments.evaluations = positive(argv[++i]);
    } else if (word == "--seeds") {
      arguments.seeds = positive(argv[++i]);
    } else if (word == "--outcomes") {
      arguments.outcomes = argv[++i];
    } else if (word == "--device") {
      arguments.device = argv[++i];
    } else if (word == "--load") {
      arguments.libraries.emplace_back(argv[++i]);
    } else {
      throw UsageError(word + " is unknown; there are --device, --exhaustive, --outcomes, --evaluations, --seeds, --load");
    }
  }
  if (arguments.problems.empty()) throw UsageError("usage: search_bench KILN_PROGRAM [--device NAME] [--exhaustive [--outcomes FILE]] [--evaluations N] [--seeds N] [--load LIBRARY]... PROBLEM...");
  return arguments;
}

void run(const Arguments& arguments) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / fmt::format("kiln-search-bench-{}", getpid());
  std::filesystem::create_directories(folder);
  Machine machine(arguments, folder);
  if (arguments.is_exhaustive) {
    std::printf("| problem | space | points | not timed | best of all, × the first seed | evaluations | found / best of all, by seed | median |\n|---|---|---|---|---|---|---|---|\n");
    for (const std::string& problem : arguments.problems) compare_with_all(machine, problem, arguments);
  } else {
    std::printf("| problem | space | points | seed | search, × baseline | random, × baseline | search / random | failed |\n|---|---|---|---|---|---|---|---|\n");
    for (const std::string& problem : arguments.problems) compare(machine, problem, arguments);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace kiln::bench

int main(int argc, char** argv) {
  try {
    kiln::bench::run(kiln::bench::parse(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "search_bench: %s\n", error.what());
    return 1;
  }
}
