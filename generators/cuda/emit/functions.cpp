#include "generators/cuda/emit/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace kiln::generators::cuda {
namespace {

bool is_leaf(const Expression& e) { return e.op == Op::load || e.op == Op::loop || e.op == Op::parameter || e.op == Op::extent; }

// Words of C++ and of the prelude that a stage might be called, and locals of the skeletons.
const std::set<std::string>& reserved() {
  static const std::set<std::string> kWords = {
      "auto", "bool", "break", "case", "char", "class", "const", "continue", "default", "delete", "do", "double", "else", "enum", "extern", "false", "float", "for", "goto",
      "if", "inline", "int", "long", "new", "operator", "private", "public", "register", "return", "short", "signed", "sizeof", "static", "struct", "switch", "template", "this",
      "true", "typedef", "union", "unsigned", "using", "void", "volatile", "while", "min", "max", "u8", "u16", "u32", "u64", "i64", "DEV", "Vec", "pin", "mapa",
      "lane", "row", "rows", "column", "columns", "elements", "first", "start", "shared", "part", "tile_row", "tile_column", "unit", "v", "i", "t", "turned", "lines", "across", "below",
      "at", "line", "team", "share", "group", "sums", "sum", "term", "terms", "base", "r", "c", "of", "of_block", "sum_of_warp", "smem_raw", "smem", "warpgroup", "warp", "consumer", "tiles_p", "tiles_q", "steps", "step", "full", "empty", "group", "hint_p", "hint_q", "rank", "from", "to", "s", "k", "j", "p", "q",
      "parity", "stores", "buffers", "buffer", "done", "turn", "acc", "previous", "high", "block", "half", "pair", "piece", "shares", "of_part", "Place", "place_of", "TensorMap", "Wgmma", "WgmmaF16", "WgmmaE4M3", "first_row",
      "first_column", "next_row", "TILE_P", "TILE_Q", "DEPTH", "STAGES", "sum_of_row", "product_of_row", "largest_of_row", "least_of_row"};
  return kWords;
}

std::string cleaned(const std::string& name) {
  std::string result;
  for (const char c : name) result += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  if (result.empty() || std::isdigit(static_cast<unsigned char>(result.front())) != 0) result.insert(0, "_");
  return result;
}

std::string parameter_name(const Expression& leaf) {
  if (leaf.op == Op::loop) return "at_" + leaf.name;
  if (leaf.op == Op::extent) return "length_" + leaf.name;
  return cleaned(leaf.name);
}

}  // namespace

std::string Identifiers::make(const std::string& wanted) {
  const std::string base = cleaned(wanted);
  std::string name = base;
  for (int i = 1; reserved().contains(name) || !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

std::string Called::call(const std::function<std::string(const Expression&)>& argument) const {
  if (function.empty()) return argument(*leaves.front());
  std::string list;
  for (const ExpressionPtr& leaf : leaves) list += (list.empty() ? "" : ", ") + argument(*leaf);
  return fmt::format("{}({})", function, list);
}

Called Functions::add(const std::string& name, const std::string& comment, const ExpressionPtr& expression, Math math) {
  Called called;
  if (is_leaf(*expression)) {
    called.leaves = {expression};
    return called;
  }
  Identifiers parameters;
  std::map<std::string, std::string> names;  // by the leaf's printed form
  std::string list;
  const auto leaf = [&](const Expression& e) {
    const auto [known, is_new] = names.try_emplace(print(e));
    if (is_new) {
      known->second = parameters.make(parameter_name(e));
      called.leaves.push_back(std::make_shared<const Expression>(e));
      list += fmt::format("{}{} {}", list.empty() ? "" : ", ", value_type(e.type), known->second);
    }
    return known->second;
  };
  BodyPrinter body(leaf, math);
  const std::string value = body.value(expression);
  called.function = identifiers_.make(name);
  text_ += fmt::format("// {}\nDEV {} {}({}) {{", comment, value_type(expression->type), called.function, list);
  if (body.statements().empty()) {
    text_ += fmt::format(" return {}; }}\n", value);
  } else {
    text_ += "\n";
    for (const std::string& statement : body.statements()) text_ += "  " + statement + "\n";
    text_ += fmt::format("  return {};\n}}\n", value);
  }
  return called;
}

}  // namespace kiln::generators::cuda
