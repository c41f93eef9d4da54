// The extents, types and parameters of one call, as text and as a value: `matmul(m=1024, n=12288, k=4096, f32)`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
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

// Throws UsageError with line:column, what was expected and what was found.
ProblemText parse_problem_text(std::string_view text);

// What the operator is called with: needed to read the right algorithm before its symbols are known.
// Items that name a GeneratorParam of the operator, the bare type under `type_param`; throws UsageError listing params and symbols for unknown names.
struct Problem {
  std::string operator_name;
  std::map<std::string, std::int64_t> extents;       // by symbol; complete: every symbol of the algorithm has one
  std::map<std::string, std::string> params;         // non-default GeneratorParams only, the type's included
  std::string type;                                  // the bare type as printed ("f32"), empty when the operator has no type parameter
  std::map<std::string, std::string> orders;         // argument -> innermost-first symbols, as in B.order=nk; empty: the declared order
  std::vector<std::string> symbol_order;             // printing order, from the algorithm
  bool operator==(const Problem&) const = default;
};

// The GeneratorParams that a problem text sets, given the operator's parameter names with defaults and its symbols.
std::map<std::string, std::string> params_of(const ProblemText& text, const std::map<std::string, std::string>& default_params,
                                             const std::string& type_param);

// Fills what was left out from the algorithm's estimates. Throws UsageError naming the symbol, the axis without estimate, and what to write.
Problem resolve(const ProblemText& text, const Algorithm& algorithm);

// Canonical: extents in symbol order, type, params by name, orders by argument; defaults left out. parse + resolve give it back.
std::string print(const Problem& problem);
Digest digest(const Problem& problem, const Digest& algorithm);

// The extent of one dimension of an argument under this problem.
std::int64_t extent_of(const Problem& problem, const Algorithm& algorithm, const std::string& argument, int dimension);

}  // namespace kiln
