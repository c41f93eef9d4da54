// Finds the autoschedulers that the Halide package ships beside its library, loads one when it is asked for.
#include "generators/host/opaque.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <mutex>
#include <set>
#include <string_view>

#include "dsl/error.h"
#include "generators/host/host.h"

namespace kiln::generators::host {
namespace {

constexpr std::string_view kPrefix = "libautoschedule_", kSuffix = ".so";

std::filesystem::path halide_folder() {
  Dl_info library{};
  const auto inside = reinterpret_cast<const void*>(&Halide::load_plugin);
  KILN_CHECK(dladdr(inside, &library) != 0 && library.dli_fname != nullptr, "the dynamic loader does not know libHalide");
  return std::filesystem::path(library.dli_fname).parent_path();
}

std::string lower_case(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return text;
}

// A plugin registers itself on loading; a second time would be an error.
void load_once(const std::string& name) {
  static std::mutex mutex;
  static std::set<std::string> loaded;
  const std::lock_guard lock(mutex);
  if (loaded.contains(name)) return;
  Halide::load_plugin((halide_folder() / (std::string(kPrefix) + lower_case(name) + std::string(kSuffix))).string());
  loaded.insert(name);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

Halide::AutoschedulerParams read_arguments(const Directive& directive) {
  const auto& name = std::get<std::string>(directive.arguments.front());
  const std::vector<std::string> available = available_autoschedulers();
  if (std::find(available.begin(), available.end(), name) == available.end())
    throw ScheduleError("`" + print(directive) + "`: no such autoscheduler lies beside libHalide; there are " + joined(available));
  Halide::AutoschedulerParams out(name);
  for (auto argument = directive.arguments.begin() + 1; argument != directive.arguments.end(); ++argument) {
    const auto& pair = std::get<std::string>(*argument);
    const std::size_t equals = pair.find('=');
    out.extra[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return out;
}

// Linux gives AMX only to a process that asks for it, and neither the tuner nor a package does.
Pipeline without_tiles(Pipeline pipeline) {
  for (auto& [name, stage] : pipeline.stages)
    if (stage.function().schedule().memory_type() == Halide::MemoryType::AMXTile)
      throw ScheduleError("`" + name + "` is stored in AMX tiles, which Kiln does not build for: a call would end the process");
  return pipeline;
}

}  // namespace

std::vector<std::string> available_autoschedulers() {
  std::vector<std::string> names;
  std::error_code ignored;  // no folder: nothing is available
  for (const auto& entry : std::filesystem::directory_iterator(halide_folder(), ignored)) {
    std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
    name = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
    if (name.empty()) continue;
    name.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
    names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Pipeline rebuild_opaque(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const Halide::Target& target) {
  const Directive& directive = schedule.directives.front();
  if (directive.name == "own_schedule") return without_tiles(rebuild_own(algorithm));
  const Halide::AutoschedulerParams arguments = read_arguments(directive);
  load_once(arguments.name);
  Pipeline pipeline = rebuild(algorithm);
  set_estimates(pipeline, algorithm, problem);
  pipeline.pipeline.apply_autoscheduler(target, arguments);
  return pipeline;
}

}  // namespace kiln::generators::host
