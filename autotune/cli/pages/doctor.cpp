#include "autotune/cli/pages/doctor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <sstream>

#include "autotune/cli/pages/json.h"
#include "autotune/cli/text_table.h"
#include "autotune/cli/units.h"

namespace kiln::autotune::cli {
namespace {

// A night's store with its artifacts takes tens of megabytes, its cache of objects up to a gigabyte.
constexpr double kEnoughDisk_bytes = 2.0 * (1u << 30);
// More than a core busy with something else, or one percent of the time taken by other guests, moves times by several percent.
constexpr double kQuietLoad = 0.5;
constexpr double kQuietSteal = 0.01;

std::string yes_no(const std::optional<bool>& flag) { return flag ? (*flag ? "on" : "off") : "unknown"; }

std::string caches(const Device& device) {
  return fmt::format("{} L1 and {} L2 a core, {} L3", print_bytes(static_cast<double>(device.l1_bytes)), print_bytes(static_cast<double>(device.l2_bytes)),
                     print_bytes(static_cast<double>(device.l3_bytes)));
}

// A machine that tunes for its CPU lacks nothing without it: a row, and neither a warning nor missing.
std::string nvrtc(const Diagnosis& diagnosis) {
  if (diagnosis.nvrtc_path.empty()) return "not here; kernels for GPUs need it: `.ci/setup.sh` installs it into .venv";
  return diagnosis.nvrtc_version + ", " + diagnosis.nvrtc_path;
}

void judge_conditions(Diagnosis& diagnosis) {
  const Conditions& now = diagnosis.machine.conditions;
  if (!now.governor.empty() && now.governor != "performance")
    diagnosis.warnings.push_back(fmt::format("the frequency governor is {}; times are steadier with `performance`", now.governor));
  if (now.load_1min > kQuietLoad)
    diagnosis.warnings.push_back(fmt::format("the load is {:.2f}: other programs run; times will be noisy above {:.1f}", now.load_1min, kQuietLoad));
  if (now.steal_share > kQuietSteal)
    diagnosis.warnings.push_back(fmt::format("{} of the processor time was taken by other guests of this host", print_percent(now.steal_share)));
}

}  // namespace

std::string find_program(const std::string& name, const std::string& path) {
  std::istringstream folders(path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    std::error_code error;
    if (std::filesystem::is_regular_file(candidate, error) && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

std::vector<Tool> find_tools(const std::string& path) {
  std::vector<Tool> tools = {{"cc", "", "gcc", "exporting"},
                             {"ld", "", "binutils", "measuring and exporting"},
                             {"objcopy", "", "binutils", "exporting"},
                             {"ar", "", "binutils", "exporting"}};
  for (Tool& tool : tools) tool.path = find_program(tool.name, path);
  return tools;
}

void judge(Diagnosis& diagnosis) {
  if (diagnosis.machine.device.gpu) diagnosis.missing.push_back("no usable CPU was found");
  if (diagnosis.halide_path.empty()) diagnosis.missing.push_back("libHalide is not loaded; `.ci/setup.sh` installs it into .venv");
  for (const Tool& tool : diagnosis.tools)
    if (tool.path.empty())
      diagnosis.missing.push_back(fmt::format("{} is needed for {}: apt-get install {}", tool.name, tool.needed_for, tool.apt_package));
  if (diagnosis.free_bytes < kEnoughDisk_bytes)
    diagnosis.warnings.push_back(fmt::format("{} has {} free; a night may need {}", diagnosis.store_folder.string(), print_bytes(diagnosis.free_bytes),
                                             print_bytes(kEnoughDisk_bytes)));
  judge_conditions(diagnosis);
}

std::string print_diagnosis(const Diagnosis& diagnosis) {
  const Device& device = diagnosis.machine.device;
  const Conditions& now = diagnosis.machine.conditions;
  TextTable table;
  table.column("what").column("here");
  table.row({"CPU", fmt::format("{} (family {}, model {}, stepping {})", device.model, device.family, device.model_number, device.stepping)});
  table.row({"usable cores", std::to_string(device.cores)});
  table.row({"vectors", fmt::format("{} bits, {} registers", 8 * device.vector_bytes, device.vector_registers)});
  table.row({"caches", caches(device)});
  table.row({"features", fmt::format("{}", fmt::join(device.features, " "))});
  table.row({"target", diagnosis.target});
  table.row({"Halide", diagnosis.halide_version + (diagnosis.halide_path.empty() ? ", not loaded" : ", " + diagnosis.halide_path)});
  table.row({"autoschedulers", diagnosis.autoschedulers.empty() ? "none" : fmt::format("{}", fmt::join(diagnosis.autoschedulers, " "))});
  table.row({"NVRTC", nvrtc(diagnosis)});
  for (const Tool& tool : diagnosis.tools) table.row({tool.name, tool.path.empty() ? "missing" : tool.path});
  table.row({"SQLite", diagnosis.sqlite_version});
  table.row({"disk", fmt::format("{} free in {}", print_bytes(diagnosis.free_bytes), diagnosis.store_folder.string())});
  table.row({"governor", now.governor.empty() ? "unknown" : now.governor});
  table.row({"boost, SMT", yes_no(now.boost) + ", " + yes_no(now.smt)});
  table.row({"load, steal", fmt::format("{:.2f}, {}", now.load_1min, print_percent(now.steal_share))});
  std::string text = table.print();
  for (const std::string& line : diagnosis.warnings) text += "\nwarning: " + line;
  for (const std::string& line : diagnosis.missing) text += "\nmissing: " + line;
  if (!diagnosis.warnings.empty() || !diagnosis.missing.empty()) text += "\n";
  return diagnosis.missing.empty() ? text + "\nall that is needed is here\n" : text;
}

std::string diagnosis_json(const Diagnosis& diagnosis) {
  const Device& device = diagnosis.machine.device;
  const Conditions& now = diagnosis.machine.conditions;
  Json tools = Json::object();
  for (const Tool& tool : diagnosis.tools) tools[tool.name] = tool.path.empty() ? Json(nullptr) : Json(tool.path);
  return Json{{"device", {{"kind", device.kind()}, {"model", device.model}, {"features", device.features}, {"cores", device.cores},
                          {"l1_bytes", device.l1_bytes}, {"l2_bytes", device.l2_bytes}, {"l3_bytes", device.l3_bytes},
                          {"vector_bytes", device.vector_bytes}, {"vector_registers", device.vector_registers}}},
              {"target", diagnosis.target},
              {"halide", {{"version", diagnosis.halide_version}, {"path", diagnosis.halide_path}, {"autoschedulers", diagnosis.autoschedulers}}},
              {"nvrtc", diagnosis.nvrtc_path.empty() ? Json(nullptr) : Json{{"version", diagnosis.nvrtc_version}, {"path", diagnosis.nvrtc_path}}},
              {"tools", tools},
              {"sqlite_version", diagnosis.sqlite_version},
              {"free_bytes", diagnosis.free_bytes},
              {"conditions", {{"governor", now.governor}, {"boost", or_null(now.boost)}, {"smt", or_null(now.smt)}, {"load_1min", now.load_1min},
                              {"steal_share", now.steal_share}}},
              {"warnings", diagnosis.warnings},
              {"missing", diagnosis.missing}}
             .dump(2) +
         "\n";
}

}  // namespace kiln::autotune::cli
