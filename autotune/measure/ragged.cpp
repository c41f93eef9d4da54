#include "autotune/measure/ragged.h"

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "dsl/extents.h"

namespace kiln::autotune {
namespace {

constexpr std::int64_t kKept = 8;
constexpr std::int64_t kSmall = 251;
constexpr std::int64_t kMostLowered = 64;  // enough for a multiple of any vector width

bool is_prime(std::int64_t n) {
  for (std::int64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n >= 2;
}

std::int64_t prime_below(std::int64_t extent) {
  std::int64_t n = std::min(extent - 1, kSmall);
  while (!is_prime(n)) --n;
  return n;
}

bool stands_in_an_input(const std::string& symbol, const Algorithm& algorithm) {
  const auto axes = algorithm.symbols.find(symbol);
  if (axes == algorithm.symbols.end()) return false;
  return std::any_of(axes->second.begin(), axes->second.end(), [&](const Axis& axis) {
    return std::any_of(algorithm.arguments.begin(), algorithm.arguments.end(),
                       [&](const Argument& argument) { return argument.name == axis.argument && !argument.is_output; });
  });
}

template <typename Change>
Problem changed(const Problem& problem, const Change& change) {
  Problem other = problem;
  for (auto& [symbol, extent] : other.extents)
    if (extent > kKept) extent = change(symbol, extent);
  return other;
}

std::set<std::string> symbols_of(const Expression& condition, const Algorithm& algorithm) {
  std::set<std::string> symbols;
  for_each_node(condition, [&](const Expression& node) {
    if (node.op != Op::extent) return;
    for (const auto& [symbol, axes] : algorithm.symbols)
      for (const Axis& axis : axes)
        if (node.name == fmt::format("{}.extent.{}", axis.argument, axis.dimension)) symbols.insert(symbol);
  });
  return symbols;
}

}  // namespace

Problem within_requirements(Problem wished, const Problem& problem, const Algorithm& algorithm) {
  for (const ExpressionPtr& condition : algorithm.requirements) {
    const std::set<std::string> symbols = symbols_of(*condition, algorithm);
    if (symbols.size() != 1) continue;
    std::int64_t& extent = wished.extents.at(*symbols.begin());
    const std::int64_t least = std::max<std::int64_t>(1, extent - kMostLowered);
    const auto is_broken = [&] { return evaluate_extents(*condition, algorithm, wished) == 0; };
    while (extent > least && is_broken()) --extent;
    if (is_broken()) extent = problem.extents.at(*symbols.begin());
  }
  return wished;
}

std::vector<Problem> ragged_problems(const Problem& problem, const Algorithm& algorithm) {
  const std::vector<Problem> all{
      changed(problem, [](const std::string&, std::int64_t extent) { return prime_below(extent); }),
      changed(problem, [](const std::string&, std::int64_t extent) { return extent - 1; }),
      changed(problem, [&](const std::string& symbol, std::int64_t extent) { return stands_in_an_input(symbol, algorithm) ? extent : extent - 1; })};
  std::vector<Problem> ragged;
  for (const Problem& each : all) {
    const Problem candidate = within_requirements(each, problem, algorithm);
    if (candidate != problem && std::find(ragged.begin(), ragged.end(), candidate) == ragged.end()) ragged.push_back(candidate);
  }
  return ragged;
}

}  // namespace kiln::autotune
