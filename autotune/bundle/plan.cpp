#include "autotune/bundle/plan.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "db/identities.h"
#include "db/trials.h"
#include "dsl/error.h"

namespace kiln::autotune {
namespace {

using Json = nlohmann::json;

constexpr const char* kReferences = "references";
constexpr const char* kCalls = "calls";

// The first run that planned; those that measured come after it.
std::optional<db::StoredRun> planning_run(db::Store& store) {
  std::optional<db::StoredRun> found;
  for (const db::RunId id : db::runs(store)) {
    db::StoredRun run = db::run(store, id);
    if (Json::parse(run.row.options).contains(kReferences)) found = std::move(run);
  }
  return found;
}

WorkItem item_of(db::Store& store, db::ProblemId id, const Json& calls) {
  const db::ProblemRow row = db::problem(store, id);
  WorkItem item;
  item.algorithm = std::make_shared<const Algorithm>(algorithm_from_json(db::algorithm(store, row.algorithm).json));
  item.problem = resolve(parse_problem_text(row.text), *item.algorithm);
  item.algorithm_id = row.algorithm;
  item.problem_id = id;
  item.calls = calls.value(row.digest.hex(), 1.0);
  return item;
}

}  // namespace

std::string with_plan(const std::string& options, const std::map<Digest, ObjectRef>& references, const std::vector<WorkItem>& items) {
  Json json = Json::parse(options);
  json[kReferences] = Json::object();
  for (const auto& [algorithm, object] : references)
    json[kReferences][algorithm.hex()] = {{"hash", object.hash}, {"symbol", object.symbol}, {"target", object.target}};
  json[kCalls] = Json::object();
  for (const WorkItem& item : items) json[kCalls][digest(item.problem, digest(*item.algorithm)).hex()] = item.calls;
  return json.dump();
}

BundlePlan read_plan(db::Store& store) {
  const std::optional<db::StoredRun> run = planning_run(store);
  if (!run) throw DataError(fmt::format("{} holds no planned run: it is the store of no bundle; `kiln bundle -o DIR` makes bundles", store.path()));
  const Json options = Json::parse(run->row.options);
  BundlePlan plan;
  plan.run = run->id;
  plan.uuid = run->row.uuid;
  plan.seed = static_cast<std::uint64_t>(run->row.seed);
  plan.device = parse_device(db::device(store, run->row.device).text);
  plan.toolchain = run->row.toolchain;
  plan.protocol = parse_protocol(db::protocol(store, run->row.protocol));
  for (const auto& [algorithm, object] : options.at(kReferences).items()) {
    const auto text = [&object = object](const char* key) { return object.at(key).get<std::string>(); };
    plan.references[parse_digest(algorithm)] = {text("hash"), text("symbol"), text("target")};
  }
  std::set<db::ProblemId> seen;
  for (const db::TrialRow& trial : db::trials(store, run->id))
    if (seen.insert(trial.problem).second) plan.items.push_back(item_of(store, trial.problem, options.at(kCalls)));
  return plan;
}

std::string bundle_of(const db::RunRow& run) { return Json::parse(run.options).value("bundle", ""); }

}  // namespace kiln::autotune
