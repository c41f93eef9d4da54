#include "dsl/condition.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <utility>

#include "dsl/error.h"

namespace kiln {
namespace {

// Those of two characters first: the others begin like them.
constexpr std::array<std::pair<std::string_view, Comparison>, 6> kComparisons{{{"==", Comparison::equal},
                                                                             {"!=", Comparison::not_equal},
                                                                             {"<=", Comparison::at_most},
                                                                             {">=", Comparison::at_least},
                                                                             {"<", Comparison::less},
                                                                             {">", Comparison::greater}}};

class Reader {
 public:
  Reader(TextCursor& cursor, std::string& expected) : cursor_(cursor), expected_(expected) {}

  std::optional<Condition> read() {
    Condition condition;
    do {
      cursor_.skip_spaces();
      auto clause = read_clause();
      if (!clause) return std::nullopt;
      condition.clauses.push_back(std::move(*clause));
      cursor_.skip_spaces();
    } while (take("&&"));
    return condition;
  }

 private:
  bool take(std::string_view word) {
    TextCursor ahead = cursor_;
    for (const char c : word)
      if (!ahead.take(c)) return false;
    cursor_ = ahead;
    return true;
  }

  bool need(std::string_view word, std::string_view expected) {
    cursor_.skip_spaces();
    if (take(word)) return true;
    expected_ = expected;
    return false;
  }

  std::optional<std::int64_t> number(std::int64_t least, std::string_view expected) {
    cursor_.skip_spaces();
    const TextCursor start = cursor_;
    const auto value = parse_integer(cursor_.take_while(is_word_part));
    if (value && *value >= least && *value <= std::numeric_limits<std::int32_t>::max()) return value;
    cursor_ = start;
    expected_ = expected;
    return std::nullopt;
  }

  std::optional<Clause> read_clause() {
    Clause clause;
    if (!is_word_start(cursor_.peek())) {
      expected_ = "an argument, as in C.dim(0).extent() >= 64";
      return std::nullopt;
    }
    clause.argument = cursor_.take_while(is_word_part);
    if (!need(".dim(", "'.dim(' after the argument, as in C.dim(0).extent() >= 64")) return std::nullopt;
    const auto dimension = number(0, "the number of a dimension");
    if (!dimension || !need(").extent()", "').extent()' after the dimension")) return std::nullopt;
    clause.dimension = static_cast<int>(*dimension);
    cursor_.skip_spaces();
    if (take("%")) {
      const auto modulus = number(1, "a modulus of at least 1");
      if (!modulus) return std::nullopt;
      clause.modulus = *modulus;
    }
    if (!read_comparison(clause)) return std::nullopt;
    const auto compared = number(0, "a number to compare with");
    if (!compared) return std::nullopt;
    clause.number = *compared;
    return clause;
  }

  bool read_comparison(Clause& clause) {
    cursor_.skip_spaces();
    for (const auto& [word, comparison] : kComparisons) {
      if (!take(word)) continue;
      clause.comparison = comparison;
      return true;
    }
    expected_ = "one of == != <= >= < >";
    return false;
  }

  TextCursor& cursor_;
  std::string& expected_;
};

std::string_view print(Comparison comparison) {
  for (const auto& [word, known] : kComparisons)
    if (known == comparison) return word;
  return "";
}

}  // namespace

std::string print(const Condition& condition) {
  std::string text;
  for (const Clause& clause : condition.clauses) {
    const std::string modulus = clause.modulus > 0 ? fmt::format(" % {}", clause.modulus) : "";
    text += fmt::format("{}{}.dim({}).extent(){} {} {}", text.empty() ? "" : " && ", clause.argument, clause.dimension, modulus,
                        print(clause.comparison), clause.number);
  }
  return text;
}

std::optional<Condition> read_condition(TextCursor& cursor, std::string& expected) { return Reader(cursor, expected).read(); }

std::optional<Condition> parse_condition(std::string_view text) {
  TextCursor cursor(text);
  std::string expected;
  auto condition = read_condition(cursor, expected);
  return cursor.at_end() ? condition : std::nullopt;
}

std::vector<Clause> clauses_of(std::string_view text) {
  std::optional<Condition> condition = parse_condition(text);
  KILN_CHECK(condition.has_value(), "'" + std::string(text) + "' is no condition");
  return std::move(condition->clauses);
}

bool holds(const Clause& clause, std::int64_t extent) {
  const std::int64_t value = clause.modulus > 0 ? extent % clause.modulus : extent;
  switch (clause.comparison) {
    case Comparison::equal: return value == clause.number;
    case Comparison::not_equal: return value != clause.number;
    case Comparison::less: return value < clause.number;
    case Comparison::at_most: return value <= clause.number;
    case Comparison::greater: return value > clause.number;
    case Comparison::at_least: return value >= clause.number;
  }
  return false;
}

}  // namespace kiln
