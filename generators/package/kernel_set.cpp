#include "generators/package/kernel_set.h"

#include <algorithm>
#include <set>

#include "dsl/error.h"
#include "generators/package/spelling.h"
#include "generators/package/target_features.h"
#include "generators/runtime/set_numbers.h"

namespace kiln::generators::package {

namespace {

std::string as_identifier(const std::string& text) {
  std::string result;
  for (const char c : text) result += is_identifier(std::string("x") + c) ? c : '_';
  return result;
}

std::string long_name(const Entry& entry) {
  std::string name = entry.operator_name;
  for (const auto& [param, value] : entry.params) name += "_" + param + "_" + value;
  if (!entry.type.empty()) name += "_" + entry.type;
  for (const auto& [argument, order] : entry.orders) name += "_" + argument + "_" + order;
  return as_identifier(name);
}

[[noreturn]] void refuse(const Entry& entry, const std::string& what) { throw UsageError("entry " + describe(entry) + ": " + what); }

void check_limit(const Entry& entry, const char* what, std::size_t count, int limit) {
  if (count <= static_cast<std::size_t>(limit)) return;
  refuse(entry, "has " + std::to_string(count) + " " + what + ", a package holds at most " + std::to_string(limit));
}

void check_arguments(const Entry& entry) {
  std::set<std::string> names;
  std::size_t dimensions = 0;
  for (const PackageArgument& argument : entry.arguments) {
    if (!is_identifier(argument.name)) refuse(entry, "argument `" + argument.name + "` is no C identifier");
    if (!names.insert(argument.name).second) refuse(entry, "two arguments are named " + argument.name);
    if (argument.is_scalar && (argument.is_output || argument.rank != 0)) refuse(entry, "scalar " + argument.name + " must be an input of rank 0");
    if (argument.rank < 0 || argument.rank > KILN_MAX_RANK) {
      refuse(entry, "argument " + argument.name + " has rank " + std::to_string(argument.rank) + ", 0 to " + std::to_string(KILN_MAX_RANK) + " are possible");
    }
    if (argument.rank > 0 && (argument.unit_dimension < 0 || argument.unit_dimension >= argument.rank)) {
      refuse(entry, "argument " + argument.name + " has no dimension " + std::to_string(argument.unit_dimension) + " that could have stride 1");
    }
    dimensions += static_cast<std::size_t>(argument.rank);
  }
  check_limit(entry, "arguments", entry.arguments.size(), KILN_MAX_ARGUMENTS);
  check_limit(entry, "dimensions", dimensions, KILN_MAX_DIMENSIONS);
}

void check_symbols(const Entry& entry) {
  check_limit(entry, "symbols", entry.symbols.size(), KILN_MAX_SYMBOLS);
  for (const PackageSymbol& symbol : entry.symbols) {
    if (symbol.axes.empty()) refuse(entry, "symbol " + symbol.name + " stands nowhere in the arguments");
    for (const Axis& axis : symbol.axes) {
      const auto found = std::find_if(entry.arguments.begin(), entry.arguments.end(), [&](const PackageArgument& a) { return a.name == axis.argument; });
      if (found == entry.arguments.end() || axis.dimension < 0 || axis.dimension >= found->rank) {
        refuse(entry, "symbol " + symbol.name + " stands in " + axis.argument + "." + std::to_string(axis.dimension) + ", which there is not");
      }
    }
  }
}

void check_guards(const Entry& entry, const Variant& variant) {
  for (const ExtentGuard& guard : variant.extents) {
    const bool known = std::any_of(entry.symbols.begin(), entry.symbols.end(), [&](const PackageSymbol& s) { return s.name == guard.symbol; });
    if (!known) refuse(entry, "a guard names " + guard.symbol + ", which is no symbol of it");
    if (guard.least > guard.most) {
      refuse(entry, "a guard wants " + guard.symbol + " from " + std::to_string(guard.least) + " to " + std::to_string(guard.most));
    }
  }
  for (const auto& [argument, bytes] : variant.alignment_bytes) {
    const bool known = std::any_of(entry.arguments.begin(), entry.arguments.end(), [&](const PackageArgument& a) { return a.name == argument && !a.is_scalar; });
    if (!known) refuse(entry, "an alignment is given for " + argument + ", which is no buffer of it");
    if (bytes < 1 || (bytes & (bytes - 1)) != 0) refuse(entry, "the alignment of " + argument + " is " + std::to_string(bytes) + ", a power of two is needed");
  }
}

// What a GPU's kernels compute their addresses from, and what the runtime keeps places for.
void check_launches(const Entry& entry, const cuda::LaunchRecord& record) {
  check_limit(entry, "kernels in a variant", record.kernels.size(), KILN_CUDA_KERNELS);
  check_limit(entry, "buffers between kernels", record.intermediates.size(), KILN_CUDA_BETWEENS);
  for (const cuda::KernelLaunch& kernel : record.kernels) {
    const auto maps = std::count_if(kernel.parameters.begin(), kernel.parameters.end(), [](const auto& one) { return one.kind == cuda::LaunchParameter::Kind::map; });
    check_limit(entry, "parameters of a kernel", kernel.parameters.size(), KILN_CUDA_PARAMETERS);
    check_limit(entry, "tensor maps of a kernel", static_cast<std::size_t>(maps), KILN_CUDA_MAPS);
  }
  for (const PackageArgument& argument : entry.arguments)
    for (int d = 0; d < argument.rank; ++d) {
      const bool is_named = std::any_of(entry.symbols.begin(), entry.symbols.end(), [&](const PackageSymbol& symbol) {
        return std::any_of(symbol.axes.begin(), symbol.axes.end(), [&](const Axis& axis) { return axis.argument == argument.name && axis.dimension == d; });
      });
      if (!is_named) refuse(entry, "dimension " + std::to_string(d) + " of " + argument.name + " has no symbol, and a GPU's kernel is checked by symbols");
    }
}

void check_variants(const Entry& entry) {
  if (!std::is_sorted(entry.variants.begin(), entry.variants.end(), [](const Variant& a, const Variant& b) { return a.tier < b.tier; })) {
    refuse(entry, "variants are not in the order exact, bucket, generic");
  }
  for (const Variant& variant : entry.variants) {
    check_guards(entry, variant);
    if (variant.launches) check_launches(entry, *variant.launches);
  }
  const auto last = std::find_if(entry.variants.rbegin(), entry.variants.rend(), [](const Variant& variant) { return !variant.launches; });
  if (last == entry.variants.rend() && !entry.variants.empty()) return;  // of GPUs alone: what is not tuned is refused
  const bool has_generic = last != entry.variants.rend() && last->tier == Tier::generic;
  if (!has_generic) refuse(entry, "has no generic variant; every entry needs one, for x86-64-v2");
  const std::uint64_t beyond = required_features(last->target) & ~x86_64_v2_features();
  if (beyond != 0) refuse(entry, "its last generic variant needs " + feature_names(beyond).front() + "; it must run on x86-64-v2");
}

// An entry makes three functions; `taken` has those of the set itself and of the entries before.
void check_functions(const KernelSet& set, const Entry& entry, std::set<std::string>& taken) {
  for (const char* ending : {"", "_plan", "_run"}) {
    if (taken.insert(entry.c_name + ending).second) continue;
    refuse(entry, set.name + "_" + entry.c_name + ending + " is already a name in this set; choose another with --name ENTRY=cname");
  }
}

bool is_version(const std::string& text) {
  const bool has_digits_and_dots = text.find_first_not_of("0123456789.") == std::string::npos;
  return has_digits_and_dots && std::count(text.begin(), text.end(), '.') == 2 && text.front() != '.' && text.back() != '.' && text.find("..") == std::string::npos;
}

}  // namespace

bool is_for_gpu(const Entry& entry) {
  return std::any_of(entry.variants.begin(), entry.variants.end(), [](const Variant& variant) { return variant.launches.has_value(); });
}

bool is_for_gpu(const KernelSet& set) {
  return std::any_of(set.entries.begin(), set.entries.end(), [](const Entry& entry) { return is_for_gpu(entry); });
}

std::string print(Tier tier) { return tier == Tier::exact ? "exact" : tier == Tier::bucket ? "bucket" : "generic"; }

std::string problem_tail(const Entry& entry) {
  std::string tail = entry.type.empty() ? "" : ", " + entry.type;
  for (const auto& [param, value] : entry.params) tail += ", " + param + "=" + value;
  for (const auto& [argument, order] : entry.orders) tail += ", " + argument + ".order=" + order;
  return tail;
}

std::string describe(const Entry& entry) {
  const std::string tail = problem_tail(entry);
  return entry.operator_name + "(" + (tail.empty() ? "" : tail.substr(2)) + ")";
}

void name_entries(KernelSet& set) {
  for (Entry& entry : set.entries) {
    if (!entry.c_name.empty()) continue;
    const auto of_operator = [&](const Entry& other) { return other.operator_name == entry.operator_name; };
    entry.c_name = std::count_if(set.entries.begin(), set.entries.end(), of_operator) == 1 ? as_identifier(entry.operator_name) : long_name(entry);
  }
  std::map<std::string, const Entry*> named;
  for (const Entry& entry : set.entries) {
    const auto [at, is_new] = named.emplace(entry.c_name, &entry);
    if (!is_new) {
      throw UsageError("entries " + describe(*at->second) + " and " + describe(entry) + " would both be " + function_name(set, entry) +
                       "; name one with --name ENTRY=cname");
    }
  }
}

void check(const KernelSet& set) {
  if (!is_identifier(set.name) || spelled(set.name) != set.name || upper(set.name) == set.name) {
    throw UsageError("set name `" + set.name + "`: a C identifier with a lower-case letter, no reserved word, is needed");
  }
  if (!is_version(set.version)) throw UsageError("set version `" + set.version + "`: three numbers are needed, as in 0.1.0");
  if (set.threads < 1) throw UsageError("set " + set.name + " names " + std::to_string(set.threads) + " threads, at least 1 is needed");
  if (set.entries.empty()) throw UsageError("set " + set.name + " has no entries");
  std::set<std::string> taken = {"abi_version", "dump_calls", "last_error", "load", "load_device", "manifest", "opts", "plan",
                                 "supports",    "threads",    "unload",     "verify_plan", "verify_run"};
  for (const Entry& entry : set.entries) {
    if (!is_identifier(entry.c_name)) refuse(entry, "its C name `" + entry.c_name + "` is no C identifier");
    check_functions(set, entry, taken);
    check_arguments(entry);
    check_symbols(entry);
    check_variants(entry);
  }
}

}  // namespace kiln::generators::package
