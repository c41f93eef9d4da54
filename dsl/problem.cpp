#include "dsl/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "dsl/error.h"
#include "dsl/text_cursor.h"

namespace kiln {
namespace {

// Halide keeps extents in 32 bits.
constexpr std::int64_t kLargestExtent = std::numeric_limits<std::int32_t>::max();
constexpr std::string_view kOrderSuffix = ".order";

[[noreturn]] void fail(int column, const std::string& what) { throw UsageError(fmt::format("problem, column {}: {}", column, what)); }

bool is_name_part(char c) { return is_word_part(c) || c == '.'; }
bool is_value_part(char c) { return is_name_part(c) || c == '+' || c == '-' || c == ':' || c == '/'; }

std::string written(const std::string& value) {
  const bool is_plain = !value.empty() && std::all_of(value.begin(), value.end(), is_value_part);
  return is_plain ? value : quoted(value);
}

std::string read_value(TextCursor& cursor, const std::string& name) {
  const TextCursor start = cursor;
  if (cursor.peek() == '"') {
    auto value = cursor.take_quoted();
    if (!value) fail(start.column(), fmt::format("the value of '{}' has no closing quote", name));
    return *value;
  }
  std::string value = cursor.take_while(is_value_part);
  if (value.empty()) fail(start.column(), fmt::format("expected a value after '{}=', found {}", name, start.found()));
  return value;
}

ProblemText::Item read_item(TextCursor& cursor) {
  ProblemText::Item item;
  item.column = cursor.column();
  const std::string word = cursor.take_while(is_name_part);
  if (word.empty()) fail(cursor.column(), fmt::format("expected symbol=number, param=value or a type, found {}", cursor.found()));
  cursor.skip_spaces();
  if (cursor.take('=')) {
    cursor.skip_spaces();
    item.name = word;
    item.value = read_value(cursor, word);
  } else {
    item.value = word;
  }
  return item;
}

// Spelled alike, or the same number: GeneratorParams print 1.0 as 1.000000.
bool same_value(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto number = [](const std::string& text, double& value) {
    char* end = nullptr;
    value = std::strtod(text.c_str(), &end);
    return !text.empty() && *end == '\0';
  };
  double first = 0, second = 0;
  return number(a, first) && number(b, second) && first == second;
}

// Halide's name of a type, as GeneratorParam<Type> spells it.
std::string halide_type_name(DType type) {
  if (type == kBool) return "bool";
  switch (type.kind) {
    case TypeClass::signed_int: return fmt::format("int{}", type.bits);
    case TypeClass::unsigned_int: return fmt::format("uint{}", type.bits);
    case TypeClass::ieee_float: return fmt::format("float{}", type.bits);
    case TypeClass::brain_float: return fmt::format("bfloat{}", type.bits);
  }
  return {};
}

std::string short_type_name(const std::string& value) {
  static const std::vector<std::string> kNames = {"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"};
  for (const std::string& name : kNames)
    if (name == value || halide_type_name(*parse_dtype(name)) == value) return name;
  return value;
}

// The bare type of a text in the spelling that the parameter's default uses.
std::string type_value(const ProblemText::Item& item, const std::string& default_value) {
  const auto type = parse_dtype(item.value);
  if (!type)
    fail(item.column, fmt::format("'{}' is neither a type nor name=value; the types are bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, "
                                  "bf16, f32, f64", item.value));
  return parse_dtype(default_value) ? item.value : halide_type_name(*type);
}

std::map<std::string, std::string> changed_params(const Algorithm& algorithm) {
  std::map<std::string, std::string> changed;
  for (const auto& [name, value] : algorithm.params) {
    const auto standard = algorithm.default_params.find(name);
    if (standard == algorithm.default_params.end() || !same_value(value, standard->second)) changed.emplace(name, value);
  }
  return changed;
}

std::string axis_name(const Axis& axis) { return fmt::format("{}.{}", axis.argument, axis.dimension); }

// The symbol that an item's name means: itself, or the one whose places include `A.0`. Null when it means none.
const std::string* symbol_of(const Algorithm& algorithm, const std::string& name) {
  for (const std::string& symbol : algorithm.symbol_order)
    if (symbol == name) return &symbol;
  for (const std::string& symbol : algorithm.symbol_order)
    for (const Axis& axis : algorithm.symbols.at(symbol))
      if (axis_name(axis) == name) return &symbol;
  return nullptr;
}

const std::string* symbol_at(const Algorithm& algorithm, const Axis& place) {
  for (const auto& [symbol, axes] : algorithm.symbols)
    if (std::find(axes.begin(), axes.end(), place) != axes.end()) return &symbol;
  return nullptr;
}

const Argument* find_argument(const Algorithm& algorithm, const std::string& name) {
  for (const Argument& argument : algorithm.arguments)
    if (argument.name == name) return &argument;
  return nullptr;
}

void set_extent(Problem& problem, const std::string& symbol, const ProblemText::Item& item) {
  const auto value = parse_integer(item.value);
  if (!value) fail(item.column, fmt::format("'{}' is an extent and needs a number, found '{}'", item.name, item.value));
  if (*value < 1 || *value > kLargestExtent)
    fail(item.column, fmt::format("'{}' is {}; an extent is at least 1 and at most {}", item.name, *value, kLargestExtent));
  const auto [old, is_new] = problem.extents.emplace(symbol, *value);
  if (is_new) return;
  if (item.name == symbol || old->second == *value)
    fail(item.column, fmt::format("the extent '{}' is given twice", symbol));
  fail(item.column, fmt::format("'{}' is {}, but it is the same extent as '{}', which is {}", item.name, *value, symbol, old->second));
}

// The dimensions of `argument` in the order written, innermost first: by one-letter symbols or by numbers. Empty when it is no order of them.
std::vector<int> read_order(const Algorithm& algorithm, const Argument& argument, const std::string& order) {
  std::vector<int> dimensions;
  for (const char letter : order) {
    int found = -1;
    for (int dimension = 0; dimension < argument.rank; ++dimension) {
      const std::string* symbol = symbol_at(algorithm, {argument.name, dimension});
      if (std::string(1, letter) == (symbol ? *symbol : "") || std::to_string(dimension) == std::string(1, letter)) found = dimension;
    }
    if (found < 0 || std::find(dimensions.begin(), dimensions.end(), found) != dimensions.end()) return {};
    dimensions.push_back(found);
  }
  return static_cast<int>(dimensions.size()) == argument.rank ? dimensions : std::vector<int>{};
}

// How `dimensions` print: by symbols where each is one letter, else by numbers.
std::string print_order(const Algorithm& algorithm, const Argument& argument, const std::vector<int>& dimensions) {
  std::string letters, numbers;
  for (const int dimension : dimensions) {
    const std::string* symbol = symbol_at(algorithm, {argument.name, dimension});
    if (symbol && symbol->size() == 1) letters += *symbol;
    numbers += std::to_string(dimension);
  }
  return letters.size() == dimensions.size() ? letters : numbers;
}

void set_order(Problem& problem, const Algorithm& algorithm, const ProblemText::Item& item) {
  const std::string name = item.name.substr(0, item.name.size() - kOrderSuffix.size());
  const Argument* argument = find_argument(algorithm, name);
  std::vector<std::string> buffers;
  for (const Argument& known : algorithm.arguments)
    if (!known.is_scalar) buffers.push_back(known.name);
  if (!argument || argument->is_scalar)
    fail(item.column, fmt::format("'{}' orders the dimensions of '{}', which is no buffer of {}; its buffers are {}", item.name, name,
                                  algorithm.generator, listed(buffers)));
  std::vector<int> declared;
  for (int dimension = 0; dimension < argument->rank; ++dimension) declared.push_back(dimension);
  const std::vector<int> dimensions = read_order(algorithm, *argument, item.value);
  if (dimensions.empty())
    fail(item.column, fmt::format("'{}' must name each dimension of {} once, innermost first, as in '{}'; found '{}'", item.name, name,
                                  print_order(algorithm, *argument, declared), item.value));
  if (!problem.orders.emplace(name, print_order(algorithm, *argument, dimensions)).second)
    fail(item.column, fmt::format("'{}' is given twice", item.name));
}

void drop_declared_orders(Problem& problem, const Algorithm& algorithm) {
  std::erase_if(problem.orders, [&](const auto& entry) {
    const std::vector<int> dimensions = read_order(algorithm, *find_argument(algorithm, entry.first), entry.second);
    return std::is_sorted(dimensions.begin(), dimensions.end());
  });
}

void fill_from_estimates(Problem& problem, const Algorithm& algorithm) {
  for (const std::string& symbol : algorithm.symbol_order) {
    if (problem.extents.contains(symbol)) continue;
    const std::vector<Axis>& axes = algorithm.symbols.at(symbol);
    for (const Axis& axis : axes) {
      const Argument* argument = find_argument(algorithm, axis.argument);
      KILN_CHECK(argument != nullptr, "symbol '" + symbol + "' stands in no argument '" + axis.argument + "'");
      const auto dimension = static_cast<std::size_t>(axis.dimension);
      if (dimension >= argument->estimates.size() || !argument->estimates[dimension]) continue;
      problem.extents[symbol] = argument->estimates[dimension]->extent;
      break;
    }
    if (!problem.extents.contains(symbol))
      throw UsageError(fmt::format("problem of {}: '{}' is not given and {} has no estimate; write {}({}=…)", algorithm.generator, symbol,
                                   axes.empty() ? "it" : axis_name(axes.front()), algorithm.generator, symbol));
  }
}

bool is_order(const std::string& name) { return name.size() > kOrderSuffix.size() && name.ends_with(kOrderSuffix); }

void require_same_params(const ProblemText& text, const Algorithm& algorithm, const Problem& problem) {
  const auto asked = params_of(text, algorithm.default_params, algorithm.type_param);
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first && same_value(a.second, b.second); };
  if (std::equal(asked.begin(), asked.end(), problem.params.begin(), problem.params.end(), same)) return;
  const auto text_of = [](const std::map<std::string, std::string>& params) {
    std::vector<std::string> items;
    for (const auto& [name, value] : params) items.push_back(name + "=" + value);
    return items.empty() ? std::string("the defaults") : listed(items);
  };
  throw UsageError(fmt::format("problem of {}: it asks for {}, but the algorithm was read with {}", algorithm.generator, text_of(asked),
                               text_of(problem.params)));
}

}  // namespace

ProblemText parse_problem_text(std::string_view text) {
  TextCursor cursor(text);
  ProblemText problem;
  cursor.skip_spaces();
  problem.operator_name = cursor.take_while(is_word_part);
  if (problem.operator_name.empty()) fail(cursor.column(), fmt::format("expected the name of an operator, found {}", cursor.found()));
  cursor.skip_spaces();
  if (!cursor.take('(')) fail(cursor.column(), fmt::format("expected '(' after '{}', found {}", problem.operator_name, cursor.found()));
  cursor.skip_spaces();
  while (!cursor.take(')')) {
    problem.items.push_back(read_item(cursor));
    cursor.skip_spaces();
    if (cursor.take(',')) {
      cursor.skip_spaces();
      if (cursor.peek() == ')') fail(cursor.column(), "expected symbol=number, param=value or a type after ',', found ')'");
    } else if (cursor.peek() != ')') {
      fail(cursor.column(), fmt::format("expected ',' or ')', found {}", cursor.found()));
    }
  }
  cursor.skip_spaces();
  if (!cursor.at_end()) fail(cursor.column(), fmt::format("expected nothing after ')', found {}", cursor.found()));
  return problem;
}

std::map<std::string, std::string> params_of(const ProblemText& text, const std::map<std::string, std::string>& default_params,
                                             const std::string& type_param) {
  std::map<std::string, std::string> params;
  for (const ProblemText::Item& item : text.items) {
    const bool is_type = item.name.empty();
    if (is_type && type_param.empty()) {
      if (!parse_dtype(item.value))
        fail(item.column, fmt::format("'{}' is neither a type nor name=value", item.value));
      fail(item.column, fmt::format("{} takes no bare type, found '{}'", text.operator_name, item.value));
    }
    const std::string& name = is_type ? type_param : item.name;
    const auto standard = default_params.find(name);
    if (standard == default_params.end()) {
      KILN_CHECK(!is_type, "the type parameter '" + type_param + "' is no parameter of " + text.operator_name);
      continue;
    }
    const std::string value = is_type ? type_value(item, standard->second) : item.value;
    if (!params.emplace(name, value).second) fail(item.column, fmt::format("the parameter '{}' is given twice", name));
  }
  std::erase_if(params, [&](const auto& param) { return same_value(param.second, default_params.at(param.first)); });
  return params;
}

Problem resolve(const ProblemText& text, const Algorithm& algorithm) {
  if (text.operator_name != algorithm.generator)
    throw UsageError(fmt::format("the problem is of operator '{}', the algorithm of '{}'", text.operator_name, algorithm.generator));
  Problem problem;
  problem.operator_name = text.operator_name;
  problem.symbol_order = algorithm.symbol_order;
  problem.params = changed_params(algorithm);
  problem.type_param = algorithm.type_param;
  const bool is_left_out = algorithm.leaves_out_default_type && !problem.params.contains(algorithm.type_param);
  if (!algorithm.type_param.empty() && !is_left_out) problem.type = short_type_name(algorithm.params.at(algorithm.type_param));
  require_same_params(text, algorithm, problem);
  for (const ProblemText::Item& item : text.items) {
    if (item.name.empty() || algorithm.default_params.contains(item.name)) continue;
    if (const std::string* symbol = symbol_of(algorithm, item.name)) {
      set_extent(problem, *symbol, item);
    } else if (is_order(item.name)) {
      set_order(problem, algorithm, item);
    } else {
      std::vector<std::string> params;
      for (const auto& [name, value] : algorithm.default_params) params.push_back(name);
      fail(item.column, fmt::format("{} has no symbol or parameter '{}'; its symbols are {}; its parameters are {}", algorithm.generator,
                                    item.name, listed(algorithm.symbol_order), listed(params)));
    }
  }
  drop_declared_orders(problem, algorithm);
  fill_from_estimates(problem, algorithm);
  return problem;
}

std::string print(const Problem& problem) {
  std::vector<std::string> items;
  for (const std::string& symbol : problem.symbol_order) items.push_back(fmt::format("{}={}", symbol, problem.extents.at(symbol)));
  if (!problem.type.empty()) {
    // A type parameter may hold what has no short name: then it prints as any other parameter.
    items.push_back(parse_dtype(problem.type) ? problem.type : fmt::format("{}={}", problem.type_param, written(problem.type)));
  }
  for (const auto& [name, value] : problem.params)
    if (name != problem.type_param) items.push_back(fmt::format("{}={}", name, written(value)));
  for (const auto& [argument, order] : problem.orders) items.push_back(fmt::format("{}{}={}", argument, kOrderSuffix, order));
  return fmt::format("{}({})", problem.operator_name, items.empty() ? "" : listed(items));
}

Digest digest(const Problem& problem, const Digest& algorithm) {
  return digest("problem", fmt::format("{}\n{}\n", algorithm.hex(), print(problem)));
}

std::int64_t extent_of(const Problem& problem, const Algorithm& algorithm, const std::string& argument, int dimension) {
  if (const std::string* symbol = symbol_at(algorithm, {argument, dimension})) return problem.extents.at(*symbol);
  const Argument* found = find_argument(algorithm, argument);
  const auto index = static_cast<std::size_t>(dimension);
  if (!found || index >= found->estimates.size() || !found->estimates[index])
    throw UsageError(fmt::format("problem of {}: dimension {} of '{}' belongs to no symbol and has no estimate", algorithm.generator, dimension,
                                 argument));
  return found->estimates[index]->extent;
}

}  // namespace kiln
