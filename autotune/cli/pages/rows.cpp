#include "autotune/cli/pages/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "dsl/algorithm.h"
#include "dsl/error.h"
#include "dsl/problem.h"

namespace kiln::autotune::cli {
namespace {

// Whether `written`, completed by the algorithm of a stored problem, is that problem. Throws UsageError where it does not fit that algorithm.
bool completes_to(db::Store& store, const ProblemText& written, const db::ProblemRow& row) {
  const Algorithm algorithm = algorithm_from_json(db::algorithm(store, row.algorithm).json);
  const auto params = params_of(written, algorithm.default_params, algorithm.type_param);
  for (const auto& [name, value] : algorithm.params) {
    const auto asked = params.find(name);
    const auto by_default = algorithm.default_params.find(name);
    const bool is_default = by_default != algorithm.default_params.end() && by_default->second == value;
    if (asked == params.end() ? !is_default : asked->second != value) return false;
  }
  return print(resolve(written, algorithm)) == row.text;
}

// An operator may have several algorithms, one a set of GeneratorParams: a text that does not fit one of them may fit another.
bool is_meant(db::Store& store, const ProblemText& written, const db::ProblemRow& row) {
  try {
    return completes_to(store, written, row);
  } catch (const UsageError&) {
    return false;
  }
}

std::string list_of(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += "\n  " + text;
  return list;
}

}  // namespace

std::string option_of(const db::StoredRun& run, const char* name) {
  const nlohmann::json options = nlohmann::json::parse(run.row.options, nullptr, false);
  if (!options.is_object() || !options.contains(name) || !options[name].is_string()) return {};
  return options[name].get<std::string>();
}

std::vector<db::ProblemId> problems_meant(db::Store& store, const std::string& text) {
  const ProblemText written = parse_problem_text(text);
  std::vector<db::ProblemId> same_text, completed;
  std::vector<std::string> known;
  const std::vector<db::ProblemId> all = db::problems(store, written.operator_name);
  for (const db::ProblemId id : all) {
    known.push_back(db::problem(store, id).text);
    if (known.back() == text) same_text.push_back(id);
  }
  if (!same_text.empty()) return same_text;
  for (const db::ProblemId id : all)
    if (is_meant(store, written, db::problem(store, id))) completed.push_back(id);
  if (!completed.empty()) return completed;
  if (known.empty()) throw UsageError(fmt::format("no problem of {} in {}", written.operator_name, store.path()));
  throw UsageError(fmt::format("no problem {} in {}; there are:{}", text, store.path(), list_of(known)));
}

std::vector<db::CandidateName> candidates_meant(db::Store& store, const std::string& prefix, const std::string& problem) {
  std::vector<db::CandidateName> found = db::find_candidates(store, prefix);
  if (problem.empty()) return found;
  const std::vector<db::ProblemId> meant = problems_meant(store, problem);
  std::erase_if(found, [&](const db::CandidateName& name) { return std::find(meant.begin(), meant.end(), name.problem) == meant.end(); });
  if (found.empty()) throw UsageError(fmt::format("candidate {} was never tried on {}", prefix, problem));
  return found;
}

db::CandidateName one_candidate(db::Store& store, const std::string& prefix, const std::string& problem) {
  const std::vector<db::CandidateName> found = candidates_meant(store, prefix, problem);
  if (found.size() == 1) return found.front();
  std::vector<std::string> problems;
  for (const db::CandidateName& name : found) problems.push_back(db::problem(store, name.problem).text);
  throw UsageError(fmt::format("candidate {} was tried on {} problems; choose one with --problem:{}", prefix, found.size(), list_of(problems)));
}

}  // namespace kiln::autotune::cli
