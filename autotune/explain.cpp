#include "autotune/explain.h"

#include <stdlib.h>

#include <filesystem>

#include "autotune/compile_pool.h"
#include "db/identities.h"
#include "db/status.h"
#include "dsl/error.h"

namespace kiln::autotune {
namespace {

// A folder that exists as long as the value.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kiln-explain-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw EnvironmentError("cannot make a folder for the compiler's files: " + pattern);
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

ExplainSubject read_subject(Reader& reader, const std::string& problem, const Schedule& schedule) {
  const ProblemText text = parse_problem_text(problem);
  const OperatorSignature signature = reader.signature(text.operator_name);
  auto algorithm =
      std::make_shared<const Algorithm>(reader.read(text.operator_name, params_of(text, signature.default_params, signature.type_param)));
  return {algorithm, resolve(text, *algorithm), schedule};
}

ExplainSubject stored_subject(db::Store& store, db::ScheduleId schedule, db::ProblemId problem) {
  const db::ProblemRow row = db::problem(store, problem);
  auto algorithm = std::make_shared<const Algorithm>(algorithm_from_json(db::algorithm(store, row.algorithm).json));
  return {algorithm, resolve(parse_problem_text(row.text), *algorithm), parse_schedule(db::schedule(store, schedule).text)};
}

std::optional<KnownTime> known_time(db::Store& store, db::ScheduleId schedule, db::ProblemId problem, const std::string& kind) {
  std::optional<KnownTime> latest;
  for (const db::ProblemStatus& status : db::problem_status(store)) {
    if (status.key.problem != problem || (!kind.empty() && db::device(store, status.key.device).kind != kind)) continue;
    for (const db::KnownOutcome& known : db::known_outcomes(store, status.key)) {
      if (known.schedule != schedule || (latest && known.trial < latest->outcome.trial)) continue;
      latest = KnownTime{known, db::device(store, status.key.device).model, db::protocol(store, status.key.protocol)};
    }
  }
  return latest;
}

generators::Build build_once(const ExplainSubject& subject, const Device& device, const Launch& launch) {
  const TemporaryFolder folder;
  CompilePool pool(1, device, Objects(folder.path()), launch);
  CompileJob job;
  job.algorithm = subject.algorithm;
  job.schedule = print(subject.schedule);
  job.problem = subject.problem;
  std::optional<generators::Build> build;
  pool.run({job}, [](std::int64_t) {}, [&](CompileOutcome outcome) { build = std::move(outcome.build); });
  if (!build) throw EnvironmentError("the compile worker gave no answer");
  return *build;
}

Emulation emulate_once(const ExplainSubject& subject, const Device& gpu, const Launch& launch) {
  const TemporaryFolder folder;
  const Objects objects(folder.path());
  CompilePool pool(1, gpu, objects, launch);
  return Emulator(gpu, pool, objects, launch).emulate(subject.algorithm, subject.schedule, subject.problem);
}

Costs costs_of(const ExplainSubject& subject, const Device& device) {
  Costs costs;
  costs.closed = read_footprint(*subject.algorithm, subject.schedule, subject.problem);
  for (const auto& [level, memory] : caches_of(device)) costs.least[level] = least_traffic(*subject.algorithm, subject.problem, memory.bytes);
  return costs;
}

}  // namespace kiln::autotune
