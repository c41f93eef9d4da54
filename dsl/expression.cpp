// The prefix form of expressions: one printer and one parser over the same table of operations.

#include "dsl/expression.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "dsl/error.h"

namespace kiln {
namespace {

constexpr std::array<std::pair<Op, std::string_view>, 28> kOps{{
    {Op::constant, "constant"}, {Op::loop, "loop"}, {Op::reduction, "reduction"}, {Op::parameter, "parameter"}, {Op::extent, "extent"},
    {Op::load, "load"},         {Op::cast, "cast"}, {Op::reinterpret, "reinterpret"}, {Op::add, "add"}, {Op::sub, "sub"},
    {Op::mul, "mul"},           {Op::div, "div"},   {Op::mod, "mod"},             {Op::min, "min"},   {Op::max, "max"},
    {Op::eq, "eq"},             {Op::ne, "ne"},     {Op::lt, "lt"},               {Op::le, "le"},     {Op::gt, "gt"},
    {Op::ge, "ge"},             {Op::logical_and, "and"}, {Op::logical_or, "or"}, {Op::logical_not, "not"}, {Op::select, "select"},
    {Op::let, "let"},           {Op::variable, "variable"}, {Op::call, "call"},
}};

// How many arguments an operation has; nothing for those with any number.
std::optional<std::size_t> arity(Op op) {
  switch (op) {
    case Op::constant: case Op::loop: case Op::reduction: case Op::parameter: case Op::extent: case Op::variable: return 0;
    case Op::cast: case Op::reinterpret: case Op::logical_not: return 1;
    case Op::select: return 3;
    case Op::load: case Op::call: return std::nullopt;
    default: return 2;
  }
}

bool has_name(Op op) {
  return op == Op::loop || op == Op::reduction || op == Op::parameter || op == Op::extent || op == Op::load || op == Op::let ||
         op == Op::variable || op == Op::call;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_char(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '#' || c == '$' || c == ':' || c == '@'; }

bool is_word(std::string_view text) {
  if (text.empty() || !is_letter(text[0])) return false;
  for (const char c : text)
    if (!is_word_char(c)) return false;
  return true;
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string print_name(std::string_view name) { return is_word(name) ? std::string(name) : quoted(name); }

// The shortest text that reads back to the same number of that type.
std::string print_float(double value, DType type) {
  if (std::isnan(value)) return "nan";
  return type == kFloat32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
}

std::string print_value(const Expression& e) {
  return std::visit(
      [&e](const auto& value) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>)
          return quoted(value);
        else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, double>)
          return print_float(value, e.type);
        else
          return std::to_string(value);
      },
      e.value);
}

void print_to(std::string& out, const Expression& e) {
  if (e.op == Op::loop && e.type == kInt32 && is_word(e.name)) {
    out += e.name;
    return;
  }
  if (e.op == Op::constant && e.type == kInt32 && std::holds_alternative<std::int64_t>(e.value)) {
    out += print_value(e);
    return;
  }
  out += '(';
  out += kOps[static_cast<std::size_t>(e.op)].second;
  out += ' ';
  out += print(e.type);
  if (has_name(e.op)) (out += ' ') += print_name(e.name);
  if (e.op == Op::load) (out += ' ') += std::to_string(e.component);
  if (e.op == Op::constant) (out += ' ') += print_value(e);
  for (const ExpressionPtr& arg : e.args) {
    out += ' ';
    print_to(out, *arg);
  }
  out += ')';
}

bool same_value(const Expression& a, const Expression& b) {
  if (a.value.index() != b.value.index()) return false;
  const double* x = std::get_if<double>(&a.value);
  if (x == nullptr) return a.value == b.value;
  const double y = std::get<double>(b.value);
  return (std::isnan(*x) && std::isnan(y)) || std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(y);
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  ExpressionPtr whole() {
    ExpressionPtr result = expression();
    if (peek() != '\0') fail("the end", found());
    return result;
  }

 private:
  ExpressionPtr expression() {
    if (peek() == '(') return list();
    Expression e;
    e.type = kInt32;
    const std::size_t start = at_;
    const std::string word = bare();
    if (is_word(word)) {
      e.op = Op::loop;
      e.name = word;
    } else {
      e.value = number<std::int64_t>(word, start);
    }
    return std::make_shared<const Expression>(std::move(e));
  }

  ExpressionPtr list() {
    ++at_;
    Expression e;
    e.op = operation();
    e.type = type();
    if (has_name(e.op)) e.name = peek() == '"' ? string() : name();
    if (e.op == Op::load) {
      const std::size_t start = skip();
      e.component = static_cast<int>(number<std::int64_t>(bare(), start));
    }
    if (e.op == Op::constant) value(e);
    while (peek() != ')') {
      if (peek() == '\0') fail("')'", "the end");
      e.args.push_back(expression());
    }
    const std::optional<std::size_t> wanted = arity(e.op);
    if (wanted && e.args.size() != *wanted)
      fail(fmt::format("{} arguments of '{}'", *wanted, kOps[static_cast<std::size_t>(e.op)].second), std::to_string(e.args.size()));
    ++at_;
    return std::make_shared<const Expression>(std::move(e));
  }

  Op operation() {
    const std::size_t start = skip();
    const std::string word = bare();
    for (const auto& [op, text] : kOps)
      if (text == word) return op;
    at_ = start;
    fail("an operation", quote(word));
  }

  DType type() {
    const std::size_t start = skip();
    const std::string word = bare();
    if (const std::optional<DType> known = parse_dtype(word)) return *known;
    // The odd widths that dtype prints but does not list.
    if (word.size() >= 2 && (word[0] == 'i' || word[0] == 'u' || word[0] == 'f')) {
      const TypeClass kind = word[0] == 'i' ? TypeClass::signed_int : word[0] == 'u' ? TypeClass::unsigned_int : TypeClass::ieee_float;
      int bits = 0;
      const auto [end, code] = std::from_chars(word.data() + 1, word.data() + word.size(), bits);
      if (code == std::errc() && end == word.data() + word.size() && bits >= 1 && bits <= 64) return {kind, bits};
    }
    at_ = start;
    fail("a type", quote(word));
  }

  void value(Expression& e) {
    const std::size_t start = skip();
    if (peek() == '"')
      e.value = string();
    else if (e.type.is_float())
      e.value = floating(bare(), e.type, start);
    else if (e.type.kind == TypeClass::unsigned_int)
      e.value = number<std::uint64_t>(bare(), start);
    else
      e.value = number<std::int64_t>(bare(), start);
  }

  double floating(const std::string& word, DType type, std::size_t start) {
    if (word == "nan") return std::nan("");
    return type == kFloat32 ? static_cast<double>(number<float>(word, start)) : number<double>(word, start);
  }

  template <typename Number>
  Number number(const std::string& word, std::size_t start) {
    Number result{};
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), result);
    if (code != std::errc() || end != word.data() + word.size() || word.empty()) {
      at_ = start;
      fail("a number", word.empty() ? found() : quote(word));
    }
    return result;
  }

  std::string name() {
    const std::size_t start = skip();
    std::string word = bare();
    if (is_word(word)) return word;
    at_ = start;
    fail("a name", word.empty() ? found() : quote(word));
  }

  std::string string() {
    std::string result;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] != '\\') {
        result += text_[at_];
      } else if (at_ + 3 < text_.size() && text_[at_ + 1] == 'x') {
        unsigned code = 0;
        std::from_chars(text_.data() + at_ + 2, text_.data() + at_ + 4, code, 16);
        result += static_cast<char>(code);
        at_ += 3;
      } else if (at_ + 1 < text_.size()) {
        result += text_[++at_];
      }
    }
    if (at_ >= text_.size()) fail("'\"'", "the end");
    ++at_;
    return result;
  }

  std::string bare() {
    const std::size_t start = skip();
    while (at_ < text_.size() && text_[at_] != ' ' && text_[at_] != '(' && text_[at_] != ')' && text_[at_] != '"') ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  std::size_t skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_;
  }
  char peek() { return skip() < text_.size() ? text_[at_] : '\0'; }
  static std::string quote(std::string_view word) { return fmt::format("'{}'", word); }
  std::string found() { return peek() == '\0' ? "the end" : quote(text_.substr(at_, 1)); }

  [[noreturn]] void fail(const std::string& expected, const std::string& actual) const {
    throw DataError(fmt::format("expression, column {}: expected {}, found {}", at_ + 1, expected, actual));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// `bound`: what the variables around this expression stand for.
ExpressionPtr written_out(const ExpressionPtr& e, const std::map<std::string, ExpressionPtr>& bound) {
  if (e->op == Op::variable) {
    const auto found = bound.find(e->name);
    return found == bound.end() ? e : found->second;
  }
  if (e->op == Op::let) {
    std::map<std::string, ExpressionPtr> inside = bound;
    inside[e->name] = written_out(e->args[0], bound);
    return written_out(e->args[1], inside);
  }
  Expression result = *e;
  for (ExpressionPtr& arg : result.args) arg = written_out(arg, bound);
  return result.args == e->args ? e : std::make_shared<const Expression>(std::move(result));
}

}  // namespace

bool equal(const Expression& a, const Expression& b) {
  if (&a == &b) return true;
  if (a.op != b.op || a.type != b.type || a.name != b.name || a.component != b.component || !same_value(a, b) ||
      a.args.size() != b.args.size())
    return false;
  for (std::size_t i = 0; i < a.args.size(); ++i)
    if (!equal(*a.args[i], *b.args[i])) return false;
  return true;
}

std::string print(const Expression& expression) {
  std::string out;
  print_to(out, expression);
  return out;
}

ExpressionPtr without_lets(const ExpressionPtr& expression) { return written_out(expression, {}); }

ExpressionPtr parse_expression(std::string_view text) { return Parser(text).whole(); }

}  // namespace kiln
