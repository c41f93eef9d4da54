#include "autotune/cli/export/export_set.h"

#include <fmt/format.h>

#include <map>

#include "autotune/choose.h"
#include "autotune/cli/export/verify_role.h"
#include "autotune/compile_pool.h"
#include "autotune/probe.h"
#include "autotune/process/messages.h"
#include "autotune/records.h"
#include "db/choices.h"
#include "db/identities.h"
#include "dsl/error.h"
#include "generators/package/write.h"

namespace kiln::autotune::cli {
namespace {

namespace package = generators::package;
using package::CollectedSet;
using package::Origin;

constexpr double kVerify_s = 300;  // one variant on one problem, the reference's run included
constexpr std::uint64_t kInputSeed = 20260101;  // not the seed of a tuning run: other numbers than the kernel was checked on

// Everything the checks of one export share: algorithms, their references, the cache.
class PackageCheck {
 public:
  PackageCheck(db::Store& store, const ExportRequest& request)
      : store_(store), objects_(request.cache_folder), launch_(request.launch), pool_(1, probe(request.launch).device, objects_, request.launch) {}

  // Empty when the variant gave the right numbers on all its problems. `calls` counts comparisons. One of a GPU that is not here is not called.
  std::string find_failure(const CollectedSet& collected, const Origin& origin, const std::filesystem::path& library, ExportReport& report) {
    const package::Entry& entry = collected.set.entries[origin.entry];
    const bool is_gpu = entry.variants[origin.variant].launches.has_value();
    const std::optional<int> gpu = is_gpu ? ordinal_of(origin.device) : std::nullopt;
    if (is_gpu && !gpu) {
      ++report.not_called;
      return {};
    }
    for (const std::string& text : origin.problems) {
      const VerifyRequest request{library.string(), collected.set.name, entry.c_name, static_cast<int>(origin.variant), collected.set.threads, gpu};
      const VerifyOutcome outcome = verify(request, origin.algorithm, text);
      ++report.verified;
      if (origin.trial) record(*origin.trial, outcome);
      if (!outcome.failure.empty()) return fmt::format("{}: {}", text, outcome.failure);
    }
    return {};
  }

 private:
  struct Known {
    std::shared_ptr<const Algorithm> algorithm;
    std::string hash;
    ObjectRef reference;
  };

  VerifyOutcome verify(const VerifyRequest& request, db::AlgorithmId id, const std::string& problem_text) {
    const Known& known = this->known(id, problem_text);
    const Subject subject = subject_of(known.algorithm, resolve(parse_problem_text(problem_text), *known.algorithm), known.reference, kInputSeed);
    Launch launch = launch_;
    launch.arguments.push_back("--role=verify");
    Child child(launch);
    const auto deadline = seconds_from_now(kVerify_s);
    child.channel().send({1, "verify", verify_request_to_json(request, subject, known.hash, objects_.folder().string())}, deadline);
    const Channel::Received received = child.channel().receive(deadline);
    VerifyOutcome outcome;
    if (received.status == Channel::Status::message && received.message.kind == "verified") return verify_outcome_from_json(received.message.body);
    if (received.status == Channel::Status::message) throw_error(received.message.body);
    const Exit exit = received.status == Channel::Status::timeout ? child.kill_at_limit(kVerify_s, kVerify_s) : child.finish(std::chrono::seconds(5));
    outcome.failure = "the process that called it ended with " + exit.describe() + tail_for_message(child.log());
    return outcome;
  }

  // Which of this machine's GPUs it is.
  std::optional<int> ordinal_of(db::DeviceId id) {
    const auto [at, is_new] = ordinals_.try_emplace(id);
    const Digest wanted = db::device(store_, id).digest;
    try {
      for (int ordinal = 0; is_new && !at->second; ++ordinal)
        if (device_row(probe(launch_, fmt::format("cuda:{}", ordinal)).device).digest == wanted) at->second = ordinal;
    } catch (const EnvironmentError&) {
      // No driver, or no further GPU.
    }
    return at->second;
  }

  const Known& known(db::AlgorithmId id, const std::string& problem_text) {
    const auto found = known_.find(id);
    if (found != known_.end()) return found->second;
    Known known;
    const std::string json = db::algorithm(store_, id).json;
    known.algorithm = std::make_shared<const Algorithm>(algorithm_from_json(json));
    known.hash = objects_.put_algorithm(json);
    CompileJob job;
    job.what = CompileJob::What::reference;
    job.algorithm = known.algorithm;
    job.problem = resolve(parse_problem_text(problem_text), *known.algorithm);
    std::optional<CompileOutcome> outcome;
    pool_.run({job}, [](std::int64_t) {}, [&](CompileOutcome done) { outcome = std::move(done); });
    if (!outcome || !outcome->object)
      throw Error(fmt::format("the reference of {} cannot be built: {}", problem_text,
                              outcome && outcome->build.rejection ? outcome->build.rejection->text : "no worker answered"));
    known.reference = *outcome->object;
    return known_.emplace(id, std::move(known)).first->second;
  }

  void record(db::TrialId trial, const VerifyOutcome& outcome) {
    db::VerificationRow row;
    row.what = "exported";
    row.reference = "rebuilt algorithm, floats in f64, strict_float";
    row.tolerance = "as the candidate's";
    row.passed = outcome.failure.empty();
    row.bit_exact = outcome.bit_exact;
    row.max_error = outcome.max_error;
    row.worst_output = outcome.failure;
    record_verification(store_, trial, row);
  }

  db::Store& store_;
  Objects objects_;
  Launch launch_;
  CompilePool pool_;
  std::map<db::AlgorithmId, Known> known_;
  std::map<db::DeviceId, std::optional<int>> ordinals_;  // of GPUs; none: not here
};

// A kernel that failed in the package is verified no longer: what is chosen now is decided without it.
void choose_again(db::Store& store, const Origin& origin) {
  if (!origin.choice) return;
  for (const db::StoredChoice& choice : choices_in_force(store))
    if (choice.id == *origin.choice) choose(store, choice.row.key, std::nullopt, choice.row.calls.value_or(1), choice.row.horizon_s.value_or(0));
}

std::vector<ExportedEntry> summary(const CollectedSet& collected) {
  std::vector<ExportedEntry> entries;
  for (const package::Entry& entry : collected.set.entries) {
    ExportedEntry one{entry.c_name, describe(entry), 0, 0, 0, 0, 0};
    for (const package::Variant& variant : entry.variants) {
      (variant.tier == package::Tier::exact ? one.exact : variant.tier == package::Tier::bucket ? one.bucket : one.generic) += 1;
      one.calls += variant.calls;
      if (variant.tier == package::Tier::exact) one.exact_calls += variant.calls;
    }
    entries.push_back(std::move(one));
  }
  return entries;
}

void record(db::Store& store, const CollectedSet& collected, const std::string& manifest, const Digest& library) {
  db::PackageRow row;
  row.set_name = collected.set.name;
  row.manifest = manifest;
  row.library = library;
  for (const Origin& origin : collected.origins) {
    const package::Variant& variant = collected.set.entries[origin.entry].variants[origin.variant];
    if (origin.choice && variant.tier == package::Tier::exact)
      row.items.push_back({*origin.choice, variant.target, variant.symbol, static_cast<int>(origin.variant)});
  }
  record_package(store, row);
}

}  // namespace

ExportReport export_set(db::Store& store, const ExportRequest& request, const std::function<void(const std::string&)>& note) {
  PackageCheck check(store, request);
  package::SetRequest wanted = request.set;
  ExportReport report;
  for (;;) {
    const CollectedSet collected = package::collect(store, wanted);
    note(fmt::format("building {} with {} entries", collected.set.name, collected.set.entries.size()));
    package::StagedPackage staged = package::stage(collected.set, request.target);
    report.not_called = 0;
    std::vector<const Origin*> failed;
    for (const Origin& origin : collected.origins) {
      const std::string failure = check.find_failure(collected, origin, staged.library(), report);
      if (failure.empty()) continue;
      report.failed.push_back(fmt::format("{} variant {}: {}", collected.set.entries[origin.entry].c_name, origin.variant, failure));
      note("failed in the package, choosing again: " + report.failed.back());
      failed.push_back(&origin);
    }
    if (failed.empty()) {
      const std::string bytes = read_whole(staged.library());
      staged.publish();
      const std::string manifest = read_whole(request.target / "share" / collected.set.name / "manifest.json");
      record(store, collected, manifest, content_digest(bytes));
      report.entries = summary(collected);
      report.left_out = collected.left_out;
      report.library_digest = content_digest(bytes).short_hex();
      return report;
    }
    for (const Origin* origin : failed) {
      wanted.excluded.insert(origin->build_key.hex());
      choose_again(store, *origin);
    }
  }
}

}  // namespace kiln::autotune::cli
