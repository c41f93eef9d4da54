#include "generators/cuda/emit/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "dsl/error.h"
#include "generators/cuda/emit/conversions.h"
#include "generators/cuda/emit/storage.h"

namespace kiln::generators::cuda {
namespace {

constexpr DType kBfloat16{TypeClass::brain_float, 16}, kFloat16{TypeClass::ieee_float, 16};

// Computed with as f32, and rounded.
bool is_short(DType type) { return type == kBfloat16 || type == kFloat16; }
std::string_view round_function(DType type) { return type == kBfloat16 ? "round_bf16" : "round_f16"; }

[[noreturn]] void refuse(const std::string& what) { throw ScheduleError(fmt::format("a kernel's text cannot say {}", what)); }

// Functions that CUDA has under its own name, of f32.
std::optional<std::string_view> plain_function(const std::string& name) {
  static const std::map<std::string, std::string_view> kNames = {{"exp", "expf"},     {"log", "logf"},     {"sqrt", "sqrtf"},   {"sin", "sinf"},   {"cos", "cosf"},
                                                                 {"tan", "tanf"},     {"tanh", "tanhf"},   {"erf", "erff"},     {"abs", "fabsf"},  {"floor", "floorf"},
                                                                 {"ceil", "ceilf"},   {"trunc", "truncf"}, {"round", "rintf"},  {"pow", "powf"},   {"atan", "atanf"},
                                                                 {"atan2", "atan2f"}, {"asin", "asinf"},   {"acos", "acosf"},   {"sinh", "sinhf"}, {"cosh", "coshf"},
                                                                 {"is_nan", "isnan"}, {"is_inf", "isinf"}, {"is_finite", "isfinite"}};
  const auto found = kNames.find(name);
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

// Operators on bits, which Halide has as calls.
std::optional<std::string_view> bit_operator(const std::string& name) {
  static const std::map<std::string, std::string_view> kOperators = {
      {"bitwise_and", "&"}, {"bitwise_or", "|"}, {"bitwise_xor", "^"}, {"shift_left", "<<"}, {"shift_right", ">>"}};
  const auto found = kOperators.find(name);
  return found == kOperators.end() ? std::nullopt : std::optional(found->second);
}

bool is_constant(const Expression& e, double value) {
  if (e.op != Op::constant) return false;
  const auto* number = std::get_if<double>(&e.value);
  return number != nullptr && *number == value;
}

bool is_leaf(const Expression& e) {
  return e.op == Op::constant || e.op == Op::load || e.op == Op::loop || e.op == Op::parameter || e.op == Op::extent;
}

// Nothing that could be computed twice: a cast that changes nothing prints as what it casts.
bool is_word(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

// Without the brackets that stand around all of it.
std::string bare(const std::string& text) {
  if (text.empty() || text.front() != '(' || text.back() != ')') return text;
  int depth = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return text;  // the first bracket closes before the end
  }
  return text.substr(1, text.size() - 2);
}

std::string float_literal(float value) {
  if (std::isnan(value) || std::isinf(value)) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return fmt::format("__uint_as_float(0x{:08x}u)", bits);
  }
  std::string digits = fmt::format("{}", value);  // the shortest that reads back as the same number
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  return digits + "f";
}

}  // namespace

std::string_view value_type(DType type) {
  if (type == kFloat32 || is_short(type)) return "float";
  if (type == kBool) return "bool";
  if (type.kind == TypeClass::signed_int) {
    switch (type.bits) {
      case 8: return "signed char";
      case 16: return "short";
      case 32: return "int";
      case 64: return "i64";
      default: break;
    }
  }
  if (type.kind == TypeClass::unsigned_int) {
    switch (type.bits) {
      case 8: return "u8";
      case 16: return "u16";
      case 32: return "u32";
      case 64: return "u64";
      default: break;
    }
  }
  refuse(fmt::format("a number of type {}; f32, bf16, f16 and integers it can", print(type)));
}

std::string literal(const Expression& constant) {
  const DType type = constant.type;
  if (const auto* number = std::get_if<double>(&constant.value)) {
    value_type(type);
    return float_literal(static_cast<float>(*number));
  }
  if (type == kBool) return std::get_if<std::uint64_t>(&constant.value) != nullptr && std::get<std::uint64_t>(constant.value) != 0 ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&constant.value)) {
    if (type.is_float()) return float_literal(static_cast<float>(*number));
    if (type == kInt32) return *number == std::numeric_limits<std::int32_t>::min() ? "(-2147483647 - 1)" : fmt::format("{}", *number);
    return fmt::format("({}){}", value_type(type), *number);
  }
  if (const auto* number = std::get_if<std::uint64_t>(&constant.value))
    return type.bits == 32 ? fmt::format("{}u", *number) : fmt::format("({}){}u", value_type(type), *number);
  refuse("a text");
}

bool BodyPrinter::is_approximate(DType type) const { return math_ == Math::approximate && (type == kFloat32 || is_short(type)); }

// bf16 arithmetic is f32 arithmetic, rounded; narrow integers wrap.
std::string BodyPrinter::rounded(DType type, const std::string& printed) const {
  if (is_short(type)) return fmt::format("{}({})", round_function(type), bare(printed));
  if (!type.is_float() && type.bits < 32 && type != kBool) return fmt::format("({})({})", value_type(type), printed);
  return printed;
}

std::string BodyPrinter::value(const ExpressionPtr& root) {
  const ExpressionPtr converted = with_conversions(root);
  count(*converted);
  return bare(text(*converted));
}

void BodyPrinter::count(const Expression& e) {
  if (is_leaf(e) || ++uses_[print(e)] > 1) return;
  for (const ExpressionPtr& arg : e.args) count(*arg);
}

std::string BodyPrinter::text(const Expression& e) {
  if (e.op == Op::constant) return literal(e);
  if (is_leaf(e)) return leaf_(e);
  const std::string key = print(e);
  if (const auto known = named_.find(key); known != named_.end()) return known->second;
  std::string printed = fresh(e);
  if (uses_[key] < 2 || is_word(printed)) return printed;
  const std::string name = fmt::format("t{}", named_.size());
  statements_.push_back(fmt::format("const {} {} = {};", value_type(e.type), name, bare(printed)));
  named_.emplace(key, name);
  return name;
}

// Left before right, always: parameters are numbered in the order in which they are met.
std::string BodyPrinter::arithmetic(const Expression& e, std::string_view op) {
  const std::string left = text(*e.args[0]), right = text(*e.args[1]);
  return fmt::format("({} {} {})", left, op, right);
}

std::string BodyPrinter::division(const Expression& e) {
  const Expression &above = *e.args[0], &below = *e.args[1];
  const std::string dividend = text(above);
  if (!e.type.is_float()) return fmt::format("{}({}, {})", e.op == Op::div ? "floor_div" : "floor_mod", bare(dividend), bare(text(below)));
  if (e.op == Op::mod) refuse("the remainder of a division of floats");
  if (!is_approximate(e.type)) return rounded(e.type, fmt::format("({} / {})", dividend, text(below)));
  const bool is_root = below.op == Op::call && below.name == "sqrt" && below.type == kFloat32;
  const std::string inverse = is_root ? fmt::format("fast_rsqrt({})", bare(text(*below.args[0]))) : fmt::format("fast_rcp({})", bare(text(below)));
  return rounded(e.type, is_constant(above, 1) ? inverse : fmt::format("({} * {})", dividend, inverse));
}

std::string BodyPrinter::cast(const Expression& e) {
  const DType from = e.args[0]->type, to = e.type;
  const std::string inner = text(*e.args[0]);
  if (from == to || (is_short(from) && to == kFloat32)) return inner;
  if (is_short(to)) return fmt::format("{}({})", round_function(to), from == kFloat32 || is_short(from) ? bare(inner) : fmt::format("(float)({})", inner));
  return fmt::format("({})({})", value_type(to), inner);
}

std::string BodyPrinter::reinterpret(const Expression& e) {
  const DType from = e.args[0]->type, to = e.type;
  const std::string inner = text(*e.args[0]);
  if (from == kFloat32 && !to.is_float() && to.bits == 32) return fmt::format("({})__float_as_uint({})", value_type(to), inner);
  if (to == kFloat32 && !from.is_float() && from.bits == 32) return fmt::format("__uint_as_float((u32)({}))", inner);
  if (!from.is_float() && !to.is_float() && from.bits == to.bits) return fmt::format("({})({})", value_type(to), inner);
  if (from == kBfloat16 && !to.is_float() && to.bits == 16) return fmt::format("({})(__float_as_uint({}) >> 16)", value_type(to), inner);
  if (to == kBfloat16 && !from.is_float() && from.bits == 16) return fmt::format("__uint_as_float((u32)(u16)({}) << 16)", inner);
  if (from == kFloat16 && !to.is_float() && to.bits == 16) return fmt::format("({})pack_f16({}, 0.0f)", value_type(to), bare(inner));
  if (to == kFloat16 && !from.is_float() && from.bits == 16) return fmt::format("f16_lo((u32)(u16)({}))", inner);
  refuse(fmt::format("the bits of {} as {}", print(from), print(to)));
}

std::string BodyPrinter::call(const Expression& e) {
  if (e.name == kEncodeE4M3) return stored_e4m3(bare(text(*e.args[0])));
  if (const auto op = bit_operator(e.name)) return rounded(e.type, arithmetic(e, *op));
  if (e.name == "bitwise_not") return rounded(e.type, fmt::format("(~{})", text(*e.args[0])));
  if (e.name == "likely" || e.name == "likely_if_innermost" || e.name == "strict_float" || e.name == "promise_clamped" || e.name == "unsafe_promise_clamped")
    return text(*e.args[0]);
  const bool is_f32 = !e.args.empty() && (e.args[0]->type == kFloat32 || is_short(e.args[0]->type));
  if (is_f32 && is_approximate(e.args[0]->type)) {
    const std::string inner = text(*e.args[0]);
    if (e.name == "exp") return rounded(e.type, fmt::format("fast_exp2({} * 1.442695f)", inner));
    if (e.name == "log") return rounded(e.type, fmt::format("(fast_log2({}) * 0.6931472f)", inner));
  }
  if (e.name == "abs" && !e.type.is_float()) return rounded(e.type, fmt::format("({0} < 0 ? -{0} : {0})", text(*e.args[0])));
  const auto function = plain_function(e.name);
  if (!is_f32 || !function) refuse(fmt::format("{} of {}", e.name, e.args.empty() ? print(e.type) : print(e.args[0]->type)));
  std::string list;
  for (const ExpressionPtr& arg : e.args) list += (list.empty() ? "" : ", ") + bare(text(*arg));
  return rounded(e.type, fmt::format("{}({})", *function, list));
}

std::string BodyPrinter::fresh(const Expression& e) {
  switch (e.op) {
    case Op::cast: return cast(e);
    case Op::reinterpret: return reinterpret(e);
    case Op::add: return rounded(e.type, arithmetic(e, "+"));
    case Op::sub: return rounded(e.type, arithmetic(e, "-"));
    case Op::mul: return rounded(e.type, arithmetic(e, "*"));
    case Op::div:
    case Op::mod: return division(e);
    case Op::min:
    case Op::max: {
      const std::string a = text(*e.args[0]), b = text(*e.args[1]), name = e.op == Op::min ? "min" : "max";
      return e.type.is_float() ? fmt::format("f{}f({}, {})", name, bare(a), bare(b)) : fmt::format("({0} {2} {1} ? {0} : {1})", a, b, e.op == Op::min ? "<" : ">");
    }
    case Op::eq: return arithmetic(e, "==");
    case Op::ne: return arithmetic(e, "!=");
    case Op::lt: return arithmetic(e, "<");
    case Op::le: return arithmetic(e, "<=");
    case Op::gt: return arithmetic(e, ">");
    case Op::ge: return arithmetic(e, ">=");
    case Op::logical_and: return arithmetic(e, "&&");
    case Op::logical_or: return arithmetic(e, "||");
    case Op::logical_not: return fmt::format("(!{})", text(*e.args[0]));
    case Op::select: {
      const std::string condition = text(*e.args[0]), yes = text(*e.args[1]), no = text(*e.args[2]);
      return fmt::format("({} ? {} : {})", condition, yes, no);
    }
    case Op::call: return call(e);
    default: KILN_CHECK(false, "an expression that recognition leaves no place for: " + print(e));
  }
}

}  // namespace kiln::generators::cuda
