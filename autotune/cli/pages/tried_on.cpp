#include "autotune/cli/pages/tried_on.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "db/trials.h"
#include "dsl/error.h"
#include "schedules/devices.h"

namespace kiln::autotune::cli {
namespace {

// One a model, the latest first.
struct TriedOn {
  std::vector<db::DeviceRow> gpus, cpus;
};

TriedOn tried_on(db::Store& store, const db::CandidateName& name) {
  TriedOn tried;
  for (const db::DeviceId id : db::devices_of(store, name.problem, name.schedule)) {
    const db::DeviceRow row = db::device(store, id);
    std::vector<db::DeviceRow>& of_kind = row.kind == "cuda" ? tried.gpus : tried.cpus;
    const bool is_known = std::any_of(of_kind.begin(), of_kind.end(), [&](const db::DeviceRow& other) { return other.model == row.model; });
    if (!is_known) of_kind.push_back(row);
  }
  return tried;
}

std::string candidate(db::Store& store, const db::CandidateName& name) { return "candidate " + db::schedule(store, name.schedule).digest.short_hex(); }

// What --device takes for a GPU of this model: its name, or where one would be.
std::string word_for(const db::DeviceRow& gpu) {
  const schedules::NamedDevice* named = schedules::find_gpu_model(gpu.model);
  return named != nullptr ? named->name : "cuda:0";
}

}  // namespace

std::optional<Device> gpu_tried_on(db::Store& store, const db::CandidateName& name) {
  const TriedOn tried = tried_on(store, name);
  if (tried.gpus.empty()) return std::nullopt;
  if (tried.gpus.size() + tried.cpus.size() > 1) {
    std::string list;
    for (const db::DeviceRow& gpu : tried.gpus) list += fmt::format("\n  {}, {}", word_for(gpu), gpu.model);
    for (const db::DeviceRow& cpu : tried.cpus) list += fmt::format("\n  cpu, {}", cpu.model);
    throw UsageError(fmt::format("{} was tried on {} devices; choose one with --device:{}", candidate(store, name), tried.gpus.size() + tried.cpus.size(), list));
  }
  const schedules::NamedDevice* named = schedules::find_gpu_model(tried.gpus.front().model);
  return named != nullptr ? named->device : parse_device(tried.gpus.front().text);
}

void require_tried_on_cpu(db::Store& store, const db::CandidateName& name) {
  const TriedOn tried = tried_on(store, name);
  if (tried.gpus.empty() || !tried.cpus.empty()) return;
  throw UsageError(fmt::format("{} was tried on {}, not on a CPU, and is measured on the device itself: --device cuda:0, where there is one", candidate(store, name),
                               tried.gpus.front().model));
}

}  // namespace kiln::autotune::cli
