#include "autotune/measure/ragged.h"

#include <algorithm>

namespace kiln::autotune {
namespace {

constexpr std::int64_t kKept = 8;
constexpr std::int64_t kSmall = 251;

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

}  // namespace

std::vector<Problem> ragged_problems(const Problem& problem, const Algorithm& algorithm) {
  const std::vector<Problem> all{
      changed(problem, [](const std::string&, std::int64_t extent) { return prime_below(extent); }),
      changed(problem, [](const std::string&, std::int64_t extent) { return extent - 1; }),
      changed(problem, [&](const std::string& symbol, std::int64_t extent) { return stands_in_an_input(symbol, algorithm) ? extent : extent - 1; })};
  std::vector<Problem> ragged;
  for (const Problem& candidate : all)
    if (candidate != problem && std::find(ragged.begin(), ragged.end(), candidate) == ragged.end()) ragged.push_back(candidate);
  return ragged;
}

}  // namespace kiln::autotune
