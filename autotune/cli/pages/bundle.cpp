#include "autotune/cli/pages/bundle.h"

#include <fmt/format.h>

#include "autotune/cli/pages/best.h"
#include "autotune/cli/pages/json.h"
#include "autotune/cli/units.h"

namespace kiln::autotune::cli {

std::string print_bundle(const BundleOutcome& outcome, const std::string& folder) {
  std::string text;
  for (const PackedProblem& problem : outcome.problems)
    text += fmt::format("{}: {} candidates packed of {} tried{}; rejected: {}\n", problem.problem, problem.packed, problem.tried,
                        problem.unemulated > 0 ? fmt::format(", {} too large for the emulator", problem.unemulated) : "", rejected_text(problem.rejected));
  if (!outcome.is_written) return text + "no bundle was written\n";
  return text + fmt::format("{}: {}. On the machine with the GPU: {}/measure; then here: kiln db merge {}/bundle.db\n", folder,
                            print_bytes(static_cast<double>(outcome.bytes)), folder, folder);
}

std::string bundle_json(const BundleOutcome& outcome, const std::string& folder) {
  Json problems = Json::array();
  for (const PackedProblem& problem : outcome.problems)
    problems.push_back({{"problem", problem.problem}, {"tried", problem.tried}, {"packed", problem.packed}, {"unemulated", problem.unemulated}, {"rejected", problem.rejected}});
  const Json page = {{"run", outcome.run}, {"folder", outcome.is_written ? Json(folder) : Json(nullptr)}, {"bytes", outcome.bytes}, {"problems", problems}};
  return page.dump(2) + "\n";
}

}  // namespace kiln::autotune::cli
