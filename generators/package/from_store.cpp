#include "generators/package/from_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "db/artifacts.h"
#include "db/coverage.h"
#include "db/identities.h"
#include "dsl/error.h"
#include "dsl/problem.h"
#include "generators/cuda/image.h"
#include "generators/package/spelling.h"

namespace kiln::generators::package {
namespace {

struct Draft {
  db::AlgorithmId algorithm_id{};
  Algorithm algorithm;
  Entry entry;
  std::vector<Origin> origins;  // one a variant
};

PackageArgument argument_of(const Argument& argument) {
  return {.name = argument.name, .is_output = argument.is_output, .is_scalar = argument.is_scalar, .type = argument.type, .rank = argument.rank, .unit_dimension = 0};
}

Entry entry_of(const Algorithm& algorithm, const Problem& problem) {
  Entry entry;
  entry.operator_name = algorithm.generator;
  entry.params = problem.params;
  if (!algorithm.type_param.empty()) entry.params.erase(algorithm.type_param);
  entry.type = problem.type;
  entry.orders = problem.orders;
  for (const Argument& argument : algorithm.arguments) entry.arguments.push_back(argument_of(argument));
  for (const std::string& symbol : algorithm.symbol_order) entry.symbols.push_back({symbol, algorithm.symbols.at(symbol)});
  return entry;
}

// Outputs may be the same view as an input only when every stage that is loaded point by point makes the whole: no reduction, no shifted index.
// One output only: with two, the second may read what the first has already overwritten.
bool reads_point_by_point(const Algorithm& algorithm) {
  if (std::count_if(algorithm.arguments.begin(), algorithm.arguments.end(), [](const Argument& a) { return a.is_output; }) != 1) return false;
  for (const Stage& stage : algorithm.stages) {
    if (!stage.updates.empty()) return false;
    bool is_point = true;
    for (const ExpressionPtr& value : stage.values)
      for_each_node(*value, [&](const Expression& node) {
        if (node.op != Op::load) return;
        is_point &= node.args.size() == stage.loops.size();
        for (std::size_t i = 0; is_point && i < node.args.size(); ++i)
          is_point &= node.args[i]->op == Op::loop && node.args[i]->name == stage.loops[i];
      });
    // An input's wrapper loads the buffer itself by its loops: that is what a point is.
    if (!is_point) return false;
  }
  return true;
}

class Collector {
 public:
  Collector(db::Store& store, const SetRequest& request) : store_(store), request_(request) {}

  CollectedSet collect() {
    devices_ = request_.devices.empty() ? std::vector{only_device()} : request_.devices;
    for (const db::DeviceId device : devices_)
      for (const db::StoredChoice& choice : choices_in_force(store_, device)) add_choice(choice);
    CollectedSet collected;
    collected.set.name = request_.name;
    collected.set.version = request_.version;
    for (Draft& draft : drafts_) {
      for (const db::DeviceId device : devices_) add_generics(draft, device);
      sort_variants(draft);
      if (draft.entry.variants.empty()) continue;
      for (std::size_t v = 0; v < draft.origins.size(); ++v) {
        draft.origins[v].entry = collected.set.entries.size();
        draft.origins[v].variant = v;
        collected.origins.push_back(draft.origins[v]);
      }
      rename(draft.entry);
      collected.set.entries.push_back(std::move(draft.entry));
    }
    if (collected.set.entries.empty()) throw UsageError(nothing_to_pack());
    collected.set.threads = threads_;
    collected.set.provenance = provenance();
    collected.left_out = left_out_;
    name_entries(collected.set);
    check(collected.set);
    return collected;
  }

 private:
  db::DeviceId only_device() const {
    std::vector<db::DeviceId> devices;
    for (const db::StoredChoice& choice : choices_in_force(store_))
      if (std::find(devices.begin(), devices.end(), choice.row.key.device) == devices.end()) devices.push_back(choice.row.key.device);
    if (devices.empty()) throw UsageError(nothing_to_pack());
    if (devices.size() == 1) return devices.front();
    std::string list;
    for (const db::DeviceId id : devices) list += "\n  " + db::device(store_, id).digest.short_hex() + "  " + db::device(store_, id).model;
    throw UsageError("choices for several devices are in force; name those to pack with --device, which may be repeated:" + list);
  }

  std::string nothing_to_pack() const {
    std::string asked;
    for (const std::string& name : request_.operators) asked += (asked.empty() ? " for " : ", ") + name;
    return fmt::format("no choice is in force{} in {}: tune first, then export", asked, store_.path());
  }

  bool is_wanted(const std::string& operator_name) const {
    return request_.operators.empty() || std::find(request_.operators.begin(), request_.operators.end(), operator_name) != request_.operators.end();
  }

  Draft& draft_of(const db::ProblemRow& row, const Problem& problem, const Algorithm& algorithm) {
    for (Draft& draft : drafts_)
      if (draft.algorithm_id == row.algorithm && draft.entry.orders == problem.orders) return draft;
    drafts_.push_back({row.algorithm, algorithm, entry_of(algorithm, problem), {}});
    return drafts_.back();
  }

  Variant variant_of(const db::BuildRow& build, db::AlgorithmId algorithm) const {
    const auto object = build.binary ? get_artifact(store_, *build.binary) : std::nullopt;
    if (!object)
      throw DataError(fmt::format("{} lacks the object of build {}: tune its problem again", store_.path(), build.key.short_hex()));
    Variant variant;
    if (build.target.starts_with("cuda-")) {
      cuda::Image image = cuda::unpack(*object);
      variant.object = std::move(image.code);
      for (const Argument& argument : algorithm_of(algorithm).arguments)
        if (!argument.is_scalar) variant.alignment_bytes[argument.name] = image.record.alignment_bytes;
      variant.launches = std::move(image.record);
    } else {
      variant.object = *object;
    }
    variant.symbol = build.symbol;
    variant.target = build.target;
    variant.candidate = schedule(store_, build.schedule).digest.hex();
    variant.schedule = schedule(store_, build.schedule).text;
    variant.is_pointwise = !variant.launches && reads_point_by_point(algorithm_of(algorithm));  // a GPU's loads pass by caches that do not see its stores
    return variant;
  }

  Algorithm algorithm_of(db::AlgorithmId id) const { return algorithm_from_json(db::algorithm(store_, id).json); }

  void add_choice(const db::StoredChoice& choice) {
    const db::ProblemRow row = db::problem(store_, choice.row.key.problem);
    if (!is_wanted(row.operator_name)) return;
    if (!choice.serving_trial) {
      left_out_.push_back(row.text + ": " + choice.row.why);
      return;
    }
    const db::TrialRow trial = db::trial(store_, *choice.serving_trial);
    KILN_CHECK(trial.build.has_value(), "a chosen trial has no build");
    const db::BuildRow build = db::build(store_, *trial.build, row_id(choice)).row;
    if (request_.excluded.contains(build.key.hex())) return left_out_.push_back(row.text + ": its kernel failed in the package");
    if (!db::is_verified(store_, trial.id)) return left_out_.push_back(row.text + ": its kernel is not verified");
    const Algorithm algorithm = algorithm_of(row.algorithm);
    const Problem problem = resolve(parse_problem_text(row.text), algorithm);
    Draft& draft = draft_of(row, problem, algorithm);
    threads_ = std::max(threads_, threads_of(choice));

    Variant variant = variant_of(build, row.algorithm);
    variant.tier = Tier::exact;
    for (const std::string& symbol : algorithm.symbol_order) variant.extents.push_back({symbol, problem.extents.at(symbol), problem.extents.at(symbol)});
    variant.measured = {measured(choice, row.text)};
    variant.verified = verified(trial.id, row.text);
    variant.calls = choice.row.calls.value_or(0);
    Origin origin{0, 0, row.algorithm, *trial.build, choice.row.key.device, build.key, choice.id, trial.id, {row.text}};
    add_bucket(draft, choice, variant, origin, algorithm, problem);
    draft.entry.variants.push_back(std::move(variant));
    draft.origins.push_back(std::move(origin));
  }

  static db::ProblemId row_id(const db::StoredChoice& choice) { return choice.row.key.problem; }

  // "threads=2" of the protocol: what the kernels were tuned with.
  int threads_of(const db::StoredChoice& choice) const {
    const std::string text = db::protocol(store_, choice.row.key.protocol);
    const std::size_t at = text.find("threads=");
    return at == std::string::npos ? 1 : std::stoi(text.substr(at + 8));
  }

  Measured measured(const db::StoredChoice& choice, const std::string& problem) const {
    Measured one;
    one.problem = problem;
    one.protocol = db::protocol(store_, choice.row.key.protocol);
    one.device = db::device(store_, choice.row.key.device).digest.short_hex();
    one.when = choice.at;
    one.threads = threads_of(choice);
    one.value_ns = choice.row.value_ns.value_or(0);
    if (choice.row.baseline) one.baseline = schedule(store_, db::trial(store_, *choice.row.baseline).schedule).text;
    one.ratio = choice.row.ratio.value_or(1);
    one.ratio_low = choice.row.ratio_lo.value_or(1);
    one.ratio_high = choice.row.ratio_hi.value_or(1);
    return one;
  }

  std::vector<Verified> verified(db::TrialId trial, const std::string& problem) const {
    std::vector<Verified> all;
    for (const db::VerificationRow& row : verifications(store_, trial))
      if (row.passed && row.what == "candidate") all.push_back({problem, row.what, row.max_error.value_or(0)});
    return all;
  }

  // The same object over the interval that its winner was checked at both ends of.
  void add_bucket(Draft& draft, const db::StoredChoice& choice, const Variant& exact, const Origin& exact_origin, const Algorithm& algorithm,
                  const Problem& problem) {
    for (const db::CoverageRow& row : coverage(store_, exact_origin.algorithm, choice.row.key.device)) {
      if (row.tier != "bucket" || row.problem != row_id(choice) || row.build != exact_origin.build) continue;
      Variant variant = exact;
      variant.tier = Tier::bucket;
      variant.extents.clear();
      for (const std::string& symbol : algorithm.symbol_order) {
        const auto interval = row.extents.find(symbol);
        const std::int64_t extent = problem.extents.at(symbol);
        variant.extents.push_back(interval == row.extents.end() ? ExtentGuard{symbol, extent, extent}
                                                                : ExtentGuard{symbol, interval->second.first, interval->second.second});
      }
      variant.measured.clear();
      variant.verified.clear();
      for (const std::string& checked : row.checked) variant.verified.push_back({checked, "bucket", row.max_error});
      variant.calls = 0;
      Origin origin = exact_origin;
      origin.problems = row.checked;
      draft.entry.variants.push_back(std::move(variant));
      draft.origins.push_back(std::move(origin));
    }
  }

  void add_generics(Draft& draft, db::DeviceId device) {
    for (const db::CoverageRow& row : coverage(store_, draft.algorithm_id, device)) {
      if (row.tier != "generic") continue;
      const db::BuildRow build = db::build(store_, row.build, row.problem).row;
      if (request_.excluded.contains(build.key.hex())) continue;
      Variant variant = variant_of(build, draft.algorithm_id);
      variant.tier = Tier::generic;
      for (const std::string& checked : row.checked) variant.verified.push_back({checked, "generic", row.max_error});
      draft.entry.variants.push_back(std::move(variant));
      draft.origins.push_back({0, 0, draft.algorithm_id, row.build, device, build.key, std::nullopt, std::nullopt, row.checked});
    }
  }

  // Dispatch order: exact, bucket, generic; within generic the one that asks for more of the CPU first; else by extents.
  static void sort_variants(Draft& draft) {
    std::vector<std::size_t> order(draft.entry.variants.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto key = [&](std::size_t i) {
      const Variant& variant = draft.entry.variants[i];
      std::vector<std::int64_t> extents;
      for (const ExtentGuard& guard : variant.extents) extents.insert(extents.end(), {guard.least, guard.most});
      return std::tuple(variant.tier, -static_cast<std::int64_t>(variant.target.size()), extents, variant.candidate);
    };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    std::vector<Variant> variants;
    std::vector<Origin> origins;
    for (const std::size_t i : order) {
      variants.push_back(std::move(draft.entry.variants[i]));
      origins.push_back(std::move(draft.origins[i]));
    }
    draft.entry.variants = std::move(variants);
    draft.origins = std::move(origins);
  }

  void rename(Entry& entry) const {
    for (const std::string& key : {describe(entry), entry.operator_name}) {
      const auto found = request_.c_names.find(key);
      if (found == request_.c_names.end()) continue;
      entry.c_name = found->second;
      return;
    }
  }

  // Of several devices each under its number: "device 2".
  std::map<std::string, std::string> provenance() const {
    std::map<std::string, std::string> made_with;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      const std::string number = i == 0 ? "" : fmt::format(" {}", i + 1);
      made_with["device" + number] = db::device(store_, devices_[i]).text;
      for (const db::StoredChoice& choice : choices_in_force(store_, devices_[i])) made_with["toolchain" + number] = db::toolchain(store_, choice.row.key.toolchain).text;
    }
    return made_with;
  }

  db::Store& store_;
  const SetRequest& request_;
  std::vector<Draft> drafts_;
  std::vector<std::string> left_out_;
  std::vector<db::DeviceId> devices_;
  int threads_ = 1;
};

}  // namespace

CollectedSet collect(db::Store& store, const SetRequest& request) { return Collector(store, request).collect(); }

}  // namespace kiln::generators::package
