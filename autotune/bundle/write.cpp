#include "autotune/bundle/write.h"

#include <fmt/format.h>
#include <unistd.h>

#include "autotune/bundle/plan.h"
#include "db/artifacts.h"
#include "db/builds.h"
#include "db/identities.h"
#include "db/runs.h"
#include "db/trials.h"
#include "dsl/error.h"

namespace kiln::autotune {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReadme = R"(Kernels of Kiln that were planned on a machine without this one's GPU, to be checked and timed here.

  ./measure                  measures everything that is not measured yet: on the first GPU, for ten minutes at most
  ./measure --for 1h         for longer; it ends earlier when nothing is left
  ./measure --device cuda:1  on another GPU
  ./measure --help           all of its flags

Nothing has to be installed beside NVIDIA's driver: no compiler, no CUDA Toolkit, no Halide. Every outcome is in bundle.db at once: stop it or kill it at
any moment, start it again, and it goes on. A kernel that is wrong, crashes or hangs costs itself alone. The folder must be on a local disk.

Back at home, take the results in and use them:

  kiln db merge bundle.db
  kiln choose
  kiln export --set NAME -o DIR
)";

// The rows of one store that a bundle needs, in another.
class Copy {
 public:
  Copy(db::Store& from, db::Store& to, const Objects& objects) : from_(from), to_(to), objects_(objects) {}

  void run(const BundleParts& parts) {
    db::RunRow row = db::run(from_, parts.run).row;
    device_ = keep(to_, db::device(from_, row.device));
    toolchain_ = keep(to_, db::toolchain(from_, row.toolchain));
    row.device = device_;
    row.toolchain = toolchain_;
    row.protocol = db::keep_protocol(to_, db::protocol(from_, row.protocol));
    row.options = with_plan(row.options, parts.references, parts.items);
    const db::RunId run = begin_run(to_, row);
    for (const auto& [algorithm, object] : parts.references) put_artifact(to_, "object", objects_.object(object.hash));
    for (const db::TrialRow& trial : db::trials(from_, parts.run))
      if (trial.state == "done" && !trial.rejection && trial.build) this->trial(trial, run);
    end_run(to_, run, "done");
  }

 private:
  void trial(const db::TrialRow& trial, db::RunId run) {
    const db::ProblemId problem = this->problem(trial.problem);
    db::ScheduleRow schedule = db::schedule(from_, trial.schedule);
    schedule.algorithm = db::problem(to_, problem).algorithm;
    schedule.parent.reset();
    db::BuildRow build = db::build(from_, *trial.build, trial.problem).row;
    build.schedule = keep(to_, schedule);
    build.toolchain = toolchain_;
    build.decided_by.reset();
    put_artifact(to_, "cubin", image(build.binary.value()));
    const db::BuildId build_id = record_build(to_, problem, build);
    const db::TrialId id = plan_trial(to_, run, problem, build.schedule);
    attach_build(to_, id, build_id);
    finish_trial(to_, id);
  }

  db::ProblemId problem(db::ProblemId id) {
    db::ProblemRow row = db::problem(from_, id);
    row.algorithm = keep(to_, db::algorithm(from_, row.algorithm));
    return keep(to_, row);
  }

  std::string image(const Digest& binary) const {
    if (objects_.has_object(binary.hex())) return objects_.object(binary.hex());
    return get_artifact(from_, binary).value();
  }

  db::Store &from_, &to_;
  const Objects& objects_;
  db::DeviceId device_{};
  db::ToolchainId toolchain_{};
};

std::int64_t bytes_of(const fs::path& folder) {
  std::int64_t bytes = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) bytes += static_cast<std::int64_t>(entry.file_size());
  return bytes;
}

}  // namespace

void require_new_folder(const fs::path& folder) {
  if (!fs::exists(folder)) return;
  if (fs::is_directory(folder) && fs::is_empty(folder)) return;
  const fs::path store = folder / kBundleStore;
  if (!fs::exists(store)) throw UsageError(fmt::format("-o {}: it is there already; name a folder that is not", folder.string()));
  throw UsageError(fmt::format("-o {}: it is there already, and may hold results: `kiln db merge {}` takes them in; name another folder", folder.string(),
                               store.string()));
}

std::int64_t write_bundle(db::Store& store, const Objects& objects, const BundleParts& parts, const fs::path& folder) {
  const fs::path aside = folder.parent_path() / fmt::format("{}.{}.tmp", folder.filename().string(), ::getpid());
  try {
    fs::create_directories(aside);
    {
      db::Store packed((aside / kBundleStore).string());
      db::Transaction all = packed.transaction("pack a bundle in");
      Copy(store, packed, objects).run(parts);
      all.commit();
    }
    fs::copy_file(parts.program, aside / "measure");
    write_whole(aside / "README", kReadme);
    fs::rename(aside, folder);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(aside, ignored);
    throw;
  }
  return bytes_of(folder);
}

}  // namespace kiln::autotune
