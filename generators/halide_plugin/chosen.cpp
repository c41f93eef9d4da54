#include "generators/halide_plugin/chosen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "db/choices.h"
#include "db/identities.h"
#include "dsl/error.h"
#include "dsl/legality.h"

namespace kiln::generators::halide_plugin {
namespace {

// One problem with a choice in force.
struct Candidate {
  Algorithm algorithm;
  Problem problem;
  Schedule schedule;
  db::DeviceId device{};
};

std::vector<Candidate> candidates(db::Store& store, const LivePipeline& live) {
  std::vector<Candidate> found;
  std::map<db::AlgorithmId, std::optional<Algorithm>> algorithms;  // nothing: of another structure
  for (const db::ServedBuild& served : served_builds(store)) {
    const db::ProblemRow row = problem(store, served.choice.row.key.problem);
    auto known = algorithms.find(row.algorithm);
    if (known == algorithms.end()) {
      Algorithm algorithm = algorithm_from_json(db::algorithm(store, row.algorithm).json);
      const bool is_same = is_same_structure(algorithm, live.structure);
      known = algorithms.emplace(row.algorithm, is_same ? std::optional(std::move(algorithm)) : std::nullopt).first;
    }
    if (!known->second) continue;
    found.push_back({*known->second, resolve(parse_problem_text(row.text), *known->second), parse_schedule(schedule(store, served.schedule).text),
                     served.choice.row.key.device});
  }
  return found;
}

void keep_one_device(db::Store& store, std::vector<Candidate>& all, const Request& request) {
  std::set<db::DeviceId> devices;
  for (const Candidate& one : all) devices.insert(one.device);
  std::string known;
  for (const db::DeviceId id : devices) {
    const db::DeviceRow row = device(store, id);
    known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", row.digest.short_hex(), row.model);
    if (request.device.empty() ? devices.size() > 1 : !row.digest.hex().starts_with(request.device))
      std::erase_if(all, [&](const Candidate& one) { return one.device == id; });
  }
  if (all.empty())
    throw UsageError(fmt::format("'{}' has choices for {}; autoscheduler.device names one by the beginning of its digest{}", request.db, known,
                                 request.device.empty() ? "" : fmt::format(", and '{}' begins none", request.device)));
}

// How far apart two problems are: the factors between their extents, multiplied; 1 is the same problem.
double distance(const std::map<std::string, std::int64_t>& a, const std::map<std::string, std::int64_t>& b) {
  double sum = 0;
  for (const auto& [symbol, extent] : a) {
    const auto other = b.find(symbol);
    if (other != b.end()) sum += std::abs(std::log(static_cast<double>(extent) / static_cast<double>(other->second)));
  }
  return std::exp(sum);
}

std::string list(const std::vector<Candidate>& all) {
  std::string text;
  for (const Candidate& one : all) text += (text.empty() ? "" : ", ") + print(one.problem);
  return text;
}

// The problem that the live pipeline's estimates describe.
Problem asked_for(const LivePipeline& live, const Candidate& like) {
  Problem asked = like.problem;
  const auto extents = estimated_extents(live, like.algorithm);
  for (const std::string& symbol : like.algorithm.symbol_order) {
    const auto found = extents.find(symbol);
    if (found == extents.end())
      throw UsageError(fmt::format("nothing is estimated for {} of {}; a generator under an autoscheduler has to set estimates of all extents", symbol,
                                   like.algorithm.generator));
    asked.extents[symbol] = found->second;
  }
  return asked;
}

}  // namespace

Chosen choose_for(db::Store& store, const LivePipeline& live, const Request& request) {
  std::vector<Candidate> all = candidates(store, live);
  if (all.empty())
    throw UsageError(fmt::format("'{}' has no choice for an algorithm of these stages; `kiln tune` the generator first, with the same Halide and GeneratorParams",
                                 request.db));
  keep_one_device(store, all, request);
  const Problem asked = asked_for(live, all.front());
  const Candidate* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const Candidate& one : all) {
    const double far = distance(asked.extents, one.problem.extents);
    if (far >= least || (far > 1 && !one.schedule.is_opaque() && find_illegal(one.schedule, one.algorithm, &asked))) continue;
    best = &one;
    least = far;
  }
  if (best == nullptr || (least > 1 && request.missing == Missing::error))
    throw UsageError(fmt::format("'{}' has no choice for {}{}; it has {}", request.db, print(asked),
                                 best == nullptr ? ", and no schedule of another problem is legal for it" : "", list(all)));
  Chosen chosen{best->algorithm, print(best->problem), best->schedule, std::nullopt};
  if (least > 1)
    chosen.warning = fmt::format("'{}' has no choice for {}: the schedule is that of {}", request.db, print(asked), chosen.problem);
  return chosen;
}

}  // namespace kiln::generators::halide_plugin
