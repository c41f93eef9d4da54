// What a specialization asks of a call before it takes its own loops: comparisons of the arguments' extents, in Halide's spelling.
//   y.specialize(C.dim(0).extent() >= 64 && C.dim(0).extent() % 8 == 0)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/text_cursor.h"

namespace kiln {

enum class Comparison : std::uint8_t { equal, not_equal, less, at_most, greater, at_least };

// `argument.dim(dimension).extent() [% modulus] comparison number`
struct Clause {
  std::string argument;
  int dimension = 0;           // 0 is the innermost
  std::int64_t modulus = 0;    // at least 1 where the remainder is compared; 0: the extent itself is
  Comparison comparison = Comparison::equal;
  std::int64_t number = 0;
  bool operator==(const Clause&) const = default;
};

// Holds when all clauses do; at least one.
struct Condition {
  std::vector<Clause> clauses;
  bool operator==(const Condition&) const = default;
};

std::string print(const Condition& condition);
std::optional<Condition> parse_condition(std::string_view text);  // the whole text, or nothing
std::vector<Clause> clauses_of(std::string_view text);            // of one that parses

// Reads as far as a condition goes. Nothing when it does not go on: then `expected` says what was missing where the cursor stands.
std::optional<Condition> read_condition(TextCursor& cursor, std::string& expected);

bool holds(const Clause& clause, std::int64_t extent);

}  // namespace kiln
