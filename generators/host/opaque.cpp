// Finds the autoschedulers that the Halide package ships beside its library, loads one when it is asked for.
#include "generators/host/opaque.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <string_view>

#include "dsl/error.h"
#include "generators/host/host.h"

namespace kiln::generators::host {
namespace {

constexpr const char* kPermitFailedUnroll = "HL_PERMIT_FAILED_UNROLL";

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
  if (directive.name == "own_schedule") return rebuild_own(algorithm);
  const Halide::AutoschedulerParams arguments = read_arguments(directive);
  load_once(arguments.name);
  Pipeline pipeline = rebuild(algorithm);
  set_estimates(pipeline, algorithm, problem);
  pipeline.pipeline.apply_autoscheduler(target, arguments);
  return pipeline;
}

OpenUnrolls::OpenUnrolls(const Schedule& schedule) {
  const bool is_autoscheduled = schedule.is_opaque() && schedule.directives.front().name == "autoschedule";
  was_set_here_ = is_autoscheduled && std::getenv(kPermitFailedUnroll) == nullptr && setenv(kPermitFailedUnroll, "1", 0) == 0;
}

OpenUnrolls::~OpenUnrolls() {
  if (was_set_here_) unsetenv(kPermitFailedUnroll);
}

}  // namespace kiln::generators::host
