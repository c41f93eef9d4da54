#include "autotune/tries.h"

#include <fmt/format.h>

#include "dsl/error.h"
#include "dsl/legality.h"

namespace kiln::autotune {
namespace {

Schedule read_schedule(const std::filesystem::path& file) {
  try {
    return parse_schedule(read_whole(file));
  } catch (const ScheduleError& error) {
    throw ScheduleError(fmt::format("while reading schedule file '{}', {}", file.string(), error.what()));
  }
}

}  // namespace

std::vector<std::vector<Schedule>> tries_for(const std::vector<WorkItem>& items, const std::vector<std::filesystem::path>& files) {
  std::vector<std::vector<Schedule>> tries(items.size());
  for (const auto& file : files) {
    const Schedule schedule = read_schedule(file);
    std::string complaint;
    bool is_legal_somewhere = false;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto illegal = find_illegal(schedule, *items[i].algorithm, &items[i].problem);
      if (illegal) {
        complaint = fmt::format("{}: {}", print(items[i].problem), illegal->message);
        continue;
      }
      is_legal_somewhere = true;
      tries[i].push_back(schedule);
    }
    if (!is_legal_somewhere) throw ScheduleError(fmt::format("schedule file '{}' is legal for no problem of this run: {}", file.string(), complaint));
  }
  return tries;
}

}  // namespace kiln::autotune
