// The extents, types and parameters of one call, as text and as a value: `matmul(m=1024, n=12288, k=4096, f32)`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/digest.h"

namespace kiln {

// A problem as it was written, before anyone knows the operator: names are not yet told apart into symbols and GeneratorParams.
struct ProblemText {
  struct Item {
    std::string name;   // empty for the bare type
    std::string value;
    int column = 0;     // 1-based, for messages
    bool operator==(const Item&) const = default;
  };
  std::string operator_name;
  std::vector<Item> items;
  bool operator==(const ProblemText&) const = default;
};

// A problem is one line. Throws UsageError with the column, what was expected and what was found. A value with blanks or punctuation is
// written in quotes: `blur(input.0=64, border="repeat edge")`.
ProblemText parse_problem_text(std::string_view text);

// What the operator is called with.
struct Problem {
  std::string operator_name;
  std::map<std::string, std::int64_t> extents;       // by symbol; complete: every symbol of the algorithm has one
  std::map<std::string, std::string> params;         // non-default GeneratorParams only, the type's included
  std::string type;                                  // the bare type as printed ("f32"); empty: no type parameter, or its default left out
  std::string type_param;                            // the GeneratorParam it stands for
  std::map<std::string, std::string> orders;         // argument -> innermost first, as in B.order=nk; the declared order is left out
  std::vector<std::string> symbol_order;             // printing order, from the algorithm
  bool operator==(const Problem&) const = default;
};

// The GeneratorParams that a problem text sets to other values than their defaults: needed to read the right algorithm before its symbols
// are known. The bare type becomes `type_param` in the spelling of its default ("f32" or Halide's "float32"). Items that name no parameter
// are left to `resolve`, which knows the symbols. Throws UsageError for a type that is unknown, given twice or not taken by the operator.
std::map<std::string, std::string> params_of(const ProblemText& text, const std::map<std::string, std::string>& default_params,
                                             const std::string& type_param);

// Fills what was left out from the algorithm's estimates. An extent may be given by its symbol or by any of its places (`A.0=64`); an order
// by one-letter symbols (`B.order=nk`) or by dimension numbers (`B.order=10`). Throws UsageError naming the symbol, the axis without
// estimate, and what to write. `algorithm` must have been read under params_of(text).
Problem resolve(const ProblemText& text, const Algorithm& algorithm);

// Canonical: extents in symbol order, type, params by name, orders by argument; defaults left out. parse + resolve give it back.
std::string print(const Problem& problem);
Digest digest(const Problem& problem, const Digest& algorithm);

// The extent of one dimension of an argument under this problem: its symbol's, else what the author estimated (a 3×3 filter's sides are no
// symbols). Throws UsageError when there is neither.
std::int64_t extent_of(const Problem& problem, const Algorithm& algorithm, const std::string& argument, int dimension);

}  // namespace kiln
