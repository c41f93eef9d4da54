// Between which numbers an integer expression lies, given where the loops in it run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dsl/expression.h"

namespace kiln {

// From lo to hi, both included; beyond ±kFar means without end.
struct Range {
  static constexpr std::int64_t kFar = std::int64_t{1} << 40;
  std::int64_t lo = 0, hi = -1;
  bool is_empty() const { return hi < lo; }
  bool is_bounded() const { return lo > -kFar && hi < kFar; }
  std::int64_t length() const { return is_empty() ? 0 : hi - lo + 1; }
  bool operator==(const Range&) const = default;
};

Range hull(const Range& a, const Range& b);
Range overlap(const Range& a, const Range& b);

// What the names of an expression mean: loops and reduction variables, scalars, properties of arguments. Nothing: any value.
using NameRange = std::function<std::optional<Range>(const Expression&)>;
using Lets = std::vector<std::pair<std::string, ExpressionPtr>>;  // those around the expression, outermost first

// Interval arithmetic: exact for sums of different loops with constant factors, never too small. A value from memory lies where its type does.
Range range_of(const Expression& expression, const NameRange& names, const Lets& lets);

}  // namespace kiln
