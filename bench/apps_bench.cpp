// Kiln's chosen kernels against the schedules that others make of the same algorithms: `apps_bench KILN_PROGRAM DB FOLDER [OPERATOR…]`. For each operator
// of the store (or each named) one interleaved race in a fresh process, through the race that `kiln tune` holds: Kiln's choice, the same once more
// (A/A), Mullapudi2016, Adams2019 and the author's schedule. Every contender is checked against the reference first. Prints a table in Markdown;
// what FOLDER keeps of builds is not built again.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "autotune/measurer.h"
#include "autotune/probe.h"
#include "autotune/process/device_lock.h"
#include "bench/kept_builds.h"
#include "db/artifacts.h"
#include "db/builds.h"
#include "db/choices.h"
#include "db/identities.h"
#include "dsl/error.h"

namespace kiln::bench {
namespace {

using autotune::ObjectRef;
using autotune::Ratio;

constexpr std::uint64_t kSeed = 1;
constexpr double kRace_s = 180;

// Time of Mullapudi2016 over time of the author's schedule, of the pipelines that Halide ships (Halide 21, two cores of an EPYC 9004, the same sizes): a
// schedule written here stands for an expert's if it is at least 0.95 of that far ahead.
const std::map<std::string, double>& originals() {
  static const std::map<std::string, double> kOriginals = {
      {"bilateral_grid", 23.7 / 20.2}, {"conv_layer", 211 / 56.7},         {"depthwise_separable_conv", 18.4 / 4.74},
      {"harris", 4.01 / 3.20},         {"hist", 11.1 / 3.35},              {"iir_blur", 66.2 / 14.7},
      {"local_laplacian", 55.1 / 73.1}, {"max_filter", 102.0 / 105.0},     {"nl_means", 308.0 / 273.0},
      {"unsharp_mask", 6.14 / 5.19},
  };
  return kOriginals;
}
constexpr double kExpertShare = 0.95;

// One side of a race. Without an object it takes no part, and `absent` says why.
struct Contender {
  std::string name;
  std::optional<ObjectRef> object;
  std::string absent;
  double flops = 0;
  std::optional<autotune::RaceResult> result;

  bool was_timed() const { return result && !result->rejection && !result->samples.empty(); }
};

enum Side : std::size_t { kiln_, again_, mullapudi_, adams_, hand_, kSides };

struct Subject {
  std::string operator_name;
  std::shared_ptr<const Algorithm> algorithm;
  Problem problem;
  Contender chosen;
};

// The latest choice for each operator: an earlier one may be of a generator that has changed since.
std::vector<Subject> subjects(db::Store& store, const std::set<std::string>& wanted, const autotune::Objects& objects) {
  std::map<std::string, db::ServedBuild> latest;
  for (const db::ServedBuild& served : served_builds(store)) {
    const std::string name = problem(store, served.choice.row.key.problem).operator_name;
    if (!wanted.empty() && !wanted.contains(name)) continue;
    const auto found = latest.find(name);
    if (found == latest.end() || found->second.choice.id < served.choice.id) latest[name] = served;
  }
  for (const std::string& name : wanted)
    if (!latest.contains(name)) throw DataError(fmt::format("the store holds no choice for {}: tune it first", name));
  std::vector<Subject> all;
  for (const auto& [name, served] : latest) {
    const db::ProblemRow row = problem(store, served.choice.row.key.problem);
    const db::BuildRow build = db::build(store, served.build, served.choice.row.key.problem).row;
    const auto bytes = get_artifact(store, build.binary.value());
    if (!bytes) throw DataError("the store holds no object for " + row.text);
    Subject subject;
    subject.operator_name = name;
    subject.algorithm = std::make_shared<const Algorithm>(algorithm_from_json(db::algorithm(store, row.algorithm).json));
    subject.problem = resolve(parse_problem_text(row.text), *subject.algorithm);
    subject.chosen = {"Kiln", ObjectRef{objects.put_object(*bytes), build.symbol, build.target}, {}, 0, {}};
    if (!build.predicted.empty()) subject.chosen.flops = generators::predicted_from_json(build.predicted).flops.value_or(0);
    all.push_back(std::move(subject));
  }
  return all;
}

Contender built(KeptBuilds& builds, const Subject& subject, const std::string& name, const std::string& schedule) {
  const autotune::CompileOutcome outcome = builds.build(subject.algorithm, subject.problem, parse_schedule(schedule));
  Contender contender{name, outcome.object, {}, 0, {}};
  if (outcome.build.rejection) contender.absent = fmt::format("{}: {}", print(outcome.build.rejection->reason), outcome.build.rejection->text);
  return contender;
}

// The default beam where it ends within the limits, else a beam of one.
Contender adams(KeptBuilds& builds, const Subject& subject, int threads) {
  Contender beam = built(builds, subject, "Adams2019", fmt::format("autoschedule(Adams2019, parallelism={})\n", threads));
  if (beam.object) return beam;
  std::printf("(%s: Adams2019 at its default beam: %s)\n", subject.operator_name.c_str(), beam.absent.substr(0, beam.absent.find('\n')).c_str());
  return built(builds, subject, "Adams2019, beam_size=1", fmt::format("autoschedule(Adams2019, parallelism={}, beam_size=1)\n", threads));
}

std::vector<Contender> contenders(KeptBuilds& builds, const Subject& subject, int threads) {
  std::vector<Contender> all(kSides);
  all[kiln_] = all[again_] = subject.chosen;
  all[mullapudi_] = built(builds, subject, "Mullapudi2016", fmt::format("autoschedule(Mullapudi2016, parallelism={})\n", threads));
  all[adams_] = adams(builds, subject, threads);
  if (subject.algorithm->own_schedule_absent.empty())
    all[hand_] = built(builds, subject, "hand", "own_schedule()\n");
  else
    all[hand_] = {"hand", {}, subject.algorithm->own_schedule_absent, 0, {}};
  return all;
}

autotune::Candidate candidate(const Contender& contender, std::size_t id) {
  autotune::Candidate candidate;
  candidate.id = static_cast<std::int64_t>(id);
  candidate.object = contender.object.value();
  return candidate;
}

void check_all(autotune::Measurer& measurer, const std::string& key, std::vector<Contender>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].object || i == again_) continue;
    const autotune::CheckOutcome outcome = measurer.check(key, candidate(all[i], i));
    if (!outcome.rejection) continue;
    all[i].object.reset();
    all[i].absent = fmt::format("{}: {}", print(outcome.rejection->reason), outcome.rejection->text);
  }
  if (!all[kiln_].object) throw Error("Kiln's choice fails its check: " + all[kiln_].absent);
}

void race(autotune::Measurer& measurer, const Subject& subject, KeptBuilds& builds, std::vector<Contender>& all) {
  autotune::Subject measured;
  measured.algorithm = subject.algorithm;
  measured.problem = subject.problem;
  measured.reference = builds.reference(subject.algorithm);
  measured.flops = all[kiln_].flops;
  measured.seed = kSeed;
  const std::string key = measurer.prepare(measured).key;
  check_all(measurer, key, all);
  autotune::RaceOptions options;
  options.stage = autotune::RaceStage::final_;
  options.floor = measurer.floor(key, candidate(all[kiln_], kiln_), kSeed).floor;
  options.limit_s = kRace_s;
  options.seed = kSeed;
  options.fresh_process = true;
  std::vector<autotune::RaceEntry> entries;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].object) entries.push_back({candidate(all[i], i), i == kiln_, i == kiln_});
  measurer.race(key, entries, options, [&](const autotune::RaceResult& result) {
    Contender& contender = all[static_cast<std::size_t>(result.id)];
    contender.result = result;
    if (result.rejection) contender.absent = fmt::format("{}: {}", print(result.rejection->reason), result.rejection->text);
  });
  if (!all[kiln_].was_timed()) throw Error("Kiln's choice could not be timed: " + all[kiln_].absent);
}

std::string cell(const Contender& contender) {
  if (!contender.was_timed()) return "–";
  const Ratio& ratio = contender.result->to_baseline;
  return fmt::format("{:.3f} ({:.3f}–{:.3f})", ratio.value, ratio.low, ratio.high);
}

// Mullapudi2016's time over that of the schedule written here, and over that of the original's author.
struct Expert {
  double ahead = 0, original = 0;
  bool counts() const { return ahead >= kExpertShare * original; }
};

std::optional<Expert> expert(const std::string& operator_name, const std::vector<Contender>& all) {
  if (!all[mullapudi_].was_timed() || !all[hand_].was_timed()) return std::nullopt;
  const auto original = originals().find(operator_name);
  return Expert{autotune::ratio_to(all[mullapudi_].result->samples, all[hand_].result->samples, kSeed).value,
                original == originals().end() ? 0 : original->second};
}

std::string expert_cell(const std::optional<Expert>& expert) {
  if (!expert) return "–";
  return fmt::format("{:.2f} of {:.2f}{}", expert->ahead, expert->original, expert->counts() ? "" : ": too slow to count");
}

// Times of the others over Kiln's, over all operators raced.
struct Totals {
  std::vector<double> better_autoscheduler, hand, any;
};

double geometric_mean(const std::vector<double>& ratios) {
  double sum = 0;
  for (const double ratio : ratios) sum += std::log(ratio);
  return std::exp(sum / static_cast<double>(ratios.size()));
}

void add(Totals& totals, const std::string& operator_name, const std::vector<Contender>& all) {
  std::vector<double> autoschedulers;
  for (const Side side : {mullapudi_, adams_})
    if (all[side].was_timed()) autoschedulers.push_back(all[side].result->to_baseline.value);
  if (!autoschedulers.empty()) totals.better_autoscheduler.push_back(*std::min_element(autoschedulers.begin(), autoschedulers.end()));
  const auto author = expert(operator_name, all);
  if (author && author->counts()) totals.hand.push_back(all[hand_].result->to_baseline.value);
  totals.any.insert(totals.any.end(), autoschedulers.begin(), autoschedulers.end());
  if (all[hand_].was_timed()) totals.any.push_back(all[hand_].result->to_baseline.value);
}

void print_row(const std::string& operator_name, const std::vector<Contender>& all) {
  const autotune::RaceResult& ours = *all[kiln_].result;
  const bool has_again = all[again_].was_timed();
  const std::string noise = has_again ? fmt::format("{:.2f} %", 100 * autotune::noise_floor(ours.samples, all[again_].result->samples, kSeed)) : "–";
  const std::string beam = all[adams_].name.ends_with("=1") && all[adams_].was_timed() ? " (beam 1)" : "";
  std::printf("| %s | %.3f | %s | %s | %s%s | %s | %s |\n", operator_name.c_str(), ours.value_ns / 1e6, noise.c_str(), cell(all[mullapudi_]).c_str(),
              cell(all[adams_]).c_str(), beam.c_str(), cell(all[hand_]).c_str(), expert_cell(expert(operator_name, all)).c_str());
  for (const Contender& contender : all) {
    if (!contender.absent.empty())
      std::printf("(%s: %s: %s)\n", operator_name.c_str(), contender.name.c_str(), contender.absent.substr(0, contender.absent.find('\n')).c_str());
    if (contender.result && contender.result->cut_short) std::printf("(%s: %s: cut short)\n", operator_name.c_str(), contender.name.c_str());
  }
  std::fflush(stdout);
}

void print_totals(const Totals& totals) {
  if (totals.any.empty()) return;
  if (!totals.better_autoscheduler.empty())
    std::printf("\nGeometric mean of %zu: %.3f against the better autoscheduler", totals.better_autoscheduler.size(), geometric_mean(totals.better_autoscheduler));
  if (!totals.hand.empty()) std::printf(", %.3f against the %zu hand schedules that count", geometric_mean(totals.hand), totals.hand.size());
  std::printf("; the least ratio to any of them: %.3f.\n", *std::min_element(totals.any.begin(), totals.any.end()));
}

int run(const std::string& program, const std::string& db_path, const std::string& folder, const std::set<std::string>& wanted) {
  autotune::Launch launch;
  launch.program = program;
  const Device device = autotune::probe(launch).device;
  const autotune::DeviceLock lock(digest(device), "apps_bench", autotune::DeviceLock::default_folder(), true,
                                  [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); });
  KeptBuilds builds(device, folder, launch);
  autotune::Protocol protocol;
  protocol.threads = device.cores;
  autotune::Measurer measurer(device, protocol, builds.objects(), {}, launch);
  db::Store store(db_path, {.access = db::Access::read_only, .now = {}});
  std::printf("| operator | Kiln ms | A/A | Mullapudi2016 / Kiln (95 %%) | Adams2019 / Kiln | hand / Kiln | Mullapudi2016 / hand, of original |\n");
  std::printf("|---|---|---|---|---|---|---|\n");
  std::fflush(stdout);
  Totals totals;
  for (const Subject& subject : subjects(store, wanted, builds.objects())) {
    std::vector<Contender> all = contenders(builds, subject, protocol.threads);
    race(measurer, subject, builds, all);
    print_row(subject.operator_name, all);
    add(totals, subject.operator_name, all);
  }
  print_totals(totals);
  return 0;
}

}  // namespace
}  // namespace kiln::bench

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: apps_bench KILN_PROGRAM DB FOLDER [OPERATOR…]\n");
    return 2;
  }
  try {
    return kiln::bench::run(argv[1], argv[2], argv[3], std::set<std::string>(argv + 4, argv + argc));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "apps_bench: %s\n", error.what());
    return 1;
  }
}
