#include "dsl/directive.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "dsl/condition.h"
#include "dsl/directives/all.h"
#include "dsl/text_cursor.h"

namespace kiln {
namespace {

template <typename... Directives>
void add(std::vector<DirectiveSpec>& table, directive::List<Directives...>) {
  (table.push_back(Directives::spec()), ...);
}

std::vector<DirectiveSpec> make_table() {
  std::vector<DirectiveSpec> table;
  add(table, directive::Applied{});
  add(table, directive::Alone{});
  add(table, directive::OnGpu{});
  add(table, directive::Refused{});
  std::sort(table.begin(), table.end(), [](const DirectiveSpec& a, const DirectiveSpec& b) { return a.name < b.name; });
  return table;
}

bool contains(const std::vector<std::string>& words, std::string_view word) { return std::find(words.begin(), words.end(), word) != words.end(); }

bool fits(ParameterKind kind, const DirectiveArgument& argument) {
  const auto* word = std::get_if<std::string>(&argument);
  if (const auto* words = words_of(kind)) return word && contains(*words, *word);
  switch (kind) {
    case ParameterKind::number: return word == nullptr;
    case ParameterKind::key_value: return word && word->find('=') != std::string::npos;
    case ParameterKind::condition: return word && parse_condition(*word).has_value();
    case ParameterKind::stage:
    case ParameterKind::buffer: return word && word->find('=') == std::string::npos && word->find(".update(") == std::string::npos;
    default: return word && word->find('=') == std::string::npos;
  }
}

const Parameter& parameter_at(const Signature& signature, std::size_t i) {
  const std::size_t count = signature.parameters.size();
  return signature.parameters[i < count ? i : count - signature.repeated + (i - count) % signature.repeated];
}

bool fits_count(const Signature& signature, std::size_t count) {
  const std::size_t least = signature.parameters.size();
  return count == least || (signature.repeated > 0 && count > least && (count - least) % signature.repeated == 0);
}

// The first argument that does not fit, or the number of arguments.
std::size_t first_misfit(const Signature& signature, const std::vector<DirectiveArgument>& arguments) {
  std::size_t i = 0;
  while (i < arguments.size() && fits(parameter_at(signature, i).kind, arguments[i])) ++i;
  return i;
}

std::string shown(const DirectiveArgument& argument) {
  if (const auto* number = std::get_if<std::int64_t>(&argument)) return std::to_string(*number);
  return "'" + std::get<std::string>(argument) + "'";
}

// The number of edits (insert, drop, replace) from one word to the other.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view print(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::loop: return "a loop";
    case ParameterKind::new_loop: return "a name for a new loop";
    case ParameterKind::number: return "a number";
    case ParameterKind::stage: return "a stage";
    case ParameterKind::definition: return "a stage or its update";
    case ParameterKind::buffer: return "a stage or an input";
    case ParameterKind::condition: return "a condition";
    case ParameterKind::tail: return "a tail strategy";
    case ParameterKind::memory: return "a memory type";
    case ParameterKind::align: return "an alignment";
    case ParameterKind::fetch_bounds: return "a strategy";
    case ParameterKind::policy: return "a policy";
    case ParameterKind::truth: return "a truth value";
    case ParameterKind::load_hint: return "a hint for loads";
    case ParameterKind::store_hint: return "a hint for stores";
    case ParameterKind::staging: return "a memory of a kernel";
    case ParameterKind::instruction: return "an instruction";
    case ParameterKind::sums: return "how an instruction adds";
    case ParameterKind::roles: return "how warps share tiles";
    case ParameterKind::combination: return "how partial sums meet";
    case ParameterKind::eviction: return "an eviction";
    case ParameterKind::word: return "a name";
    case ParameterKind::key_value: return "key=value";
  }
  return "";
}

std::string_view print(NumericsEffect effect) {
  switch (effect) {
    case NumericsEffect::none: return "none";
    case NumericsEffect::reorders_reduction: return "reorders_reduction";
    case NumericsEffect::partial_sums: return "partial_sums";
    case NumericsEffect::any_order: return "any_order";
    case NumericsEffect::approximates: return "approximates";
    case NumericsEffect::unknown: return "unknown";
  }
  return "";
}

const std::vector<DirectiveSpec>& directives() {
  static const std::vector<DirectiveSpec> kTable = make_table();
  return kTable;
}

const DirectiveSpec* find_directive(std::string_view name) {
  const std::vector<DirectiveSpec>& table = directives();
  const auto found = std::lower_bound(table.begin(), table.end(), name, [](const DirectiveSpec& spec, std::string_view n) { return spec.name < n; });
  return found != table.end() && found->name == name ? &*found : nullptr;
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t fewest = std::max<std::size_t>(1, word.size() / 3) + 1;  // at most a third of the letters may be wrong
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edits(word, candidate);
    if (distance >= fewest) continue;
    fewest = distance;
    best = candidate;
  }
  return best;
}

const std::vector<std::string>& tail_strategies() {
  static const std::vector<std::string> kNames = {"Auto",           "RoundUp",          "GuardWithIf",  "Predicate",           "PredicateLoads",
                                                  "PredicateStores", "ShiftInwards", "ShiftInwardsAndBlend", "RoundUpAndBlend"};
  return kNames;
}

const std::vector<std::string>& memory_types() {
  static const std::vector<std::string> kNames = {"Auto", "Heap", "Stack"};
  return kNames;
}

const std::vector<std::string>* words_of(ParameterKind kind) {
  static const std::vector<std::string> kAligns = {"Auto", "NoAlign", "AlignStart", "AlignEnd"};
  static const std::vector<std::string> kFetchBounds = {"Clamp", "GuardWithIf", "NonFaulting"};
  static const std::vector<std::string> kPolicies = {"Auto", "Never", "Always"};
  static const std::vector<std::string> kTruths = {"true", "false"};
  static const std::vector<std::string> kLoadHints = {"plain", "no_l1", "evict_first"};
  static const std::vector<std::string> kStoreHints = {"plain", "streaming", "evict_first"};
  static const std::vector<std::string> kStagings = {"shared"};
  static const std::vector<std::string> kInstructions = {"wgmma"};
  static const std::vector<std::string> kSums = {"plain"};
  static const std::vector<std::string> kRoles = {"cooperative", "pingpong"};
  static const std::vector<std::string> kCombinations = {"fixed"};
  static const std::vector<std::string> kEvictions = {"first", "normal"};
  switch (kind) {
    case ParameterKind::tail: return &tail_strategies();
    case ParameterKind::memory: return &memory_types();
    case ParameterKind::align: return &kAligns;
    case ParameterKind::fetch_bounds: return &kFetchBounds;
    case ParameterKind::policy: return &kPolicies;
    case ParameterKind::truth: return &kTruths;
    case ParameterKind::load_hint: return &kLoadHints;
    case ParameterKind::store_hint: return &kStoreHints;
    case ParameterKind::staging: return &kStagings;
    case ParameterKind::instruction: return &kInstructions;
    case ParameterKind::sums: return &kSums;
    case ParameterKind::roles: return &kRoles;
    case ParameterKind::combination: return &kCombinations;
    case ParameterKind::eviction: return &kEvictions;
    default: return nullptr;
  }
}

const Signature* match_signature(const DirectiveSpec& spec, const std::vector<DirectiveArgument>& arguments) {
  for (const Signature& signature : spec.signatures)
    if (fits_count(signature, arguments.size()) && first_misfit(signature, arguments) == arguments.size()) return &signature;
  return nullptr;
}

std::string print(const DirectiveSpec& spec, const Signature& signature) {
  std::vector<std::string_view> names;
  for (const Parameter& parameter : signature.parameters) names.push_back(parameter.name);
  return fmt::format("{}({}{})", spec.name, names.empty() ? "" : listed(names), signature.repeated > 0 ? ", …" : "");
}

std::optional<ArgumentMismatch> explain_mismatch(const DirectiveSpec& spec, const std::vector<DirectiveArgument>& arguments) {
  if (match_signature(spec, arguments)) return std::nullopt;
  // Of the signatures with this many arguments, the one that fits furthest says what is wrong.
  const Signature* best = nullptr;
  for (const Signature& signature : spec.signatures)
    if (fits_count(signature, arguments.size()) && (!best || first_misfit(signature, arguments) > first_misfit(*best, arguments))) best = &signature;
  std::string forms;
  for (const Signature& signature : spec.signatures) forms.append(forms.empty() ? "" : " or ").append(print(spec, signature));
  if (!best) return ArgumentMismatch{-1, fmt::format("{} has {} argument{}; write {}", spec.name, arguments.size(), arguments.size() == 1 ? "" : "s", forms)};
  const std::size_t i = first_misfit(*best, arguments);
  const Parameter& parameter = parameter_at(*best, i);
  std::string text = fmt::format("argument {} of {} is {}, found {}", i + 1, print(spec, *best), print(parameter.kind), shown(arguments[i]));
  if (const auto* words = words_of(parameter.kind)) text += "; they are " + listed(*words);
  return ArgumentMismatch{static_cast<int>(i), text};
}

}  // namespace kiln
