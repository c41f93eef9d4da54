#include "dsl/rebuild_mutate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "dsl/error.h"
#include "dsl/rebuild.h"

namespace kiln {
namespace {

using namespace Halide::Internal;

const Halide::Type kDouble = Halide::Float(64);

Halide::Expr widened(Halide::Expr e) { return e.type().is_float() && e.type() != kDouble ? Cast::make(kDouble, std::move(e)) : e; }

// Back to the type that the algorithm gave this value.
Halide::Expr narrowed(Halide::Expr e, const Halide::Type& type) { return e.type() == type ? e : Cast::make(type, std::move(e)); }

// Halide's math functions that exist for f64 under the same name with another suffix. Checked against the runtime's math by the tests.
std::optional<std::string> double_name(const std::string& name) {
  static constexpr std::array<std::string_view, 26> kFunctions{
      "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "cos",  "cosh", "exp",  "floor", "is_finite",
      "is_inf", "is_nan", "log", "pow", "round", "sin", "sinh", "sqrt", "tan", "tanh", "trunc", "hypot", "fmod"};
  for (const std::string_view suffix : {"_f16", "_f32"}) {
    if (!name.ends_with(suffix)) continue;
    const std::string base = name.substr(0, name.size() - suffix.size());
    if (std::ranges::find(kFunctions, base) != kFunctions.end()) return base + "_f64";
  }
  return std::nullopt;
}

// Intrinsics that mean the same for every type of their arguments.
bool is_generic(const Call* op) {
  static constexpr std::array kGeneric{Call::abs,        Call::absd,       Call::if_then_else, Call::likely,     Call::likely_if_innermost,
                                       Call::mux,        Call::require,    Call::return_second, Call::round,     Call::strict_add,
                                       Call::strict_div, Call::strict_eq,  Call::strict_le,    Call::strict_lt,  Call::strict_max,
                                       Call::strict_min, Call::strict_mul, Call::strict_sub,   Call::undef,      Call::unsafe_promise_clamped,
                                       Call::promise_clamped};
  const auto is = [&](Call::IntrinsicOp intrinsic) { return op->is_intrinsic(intrinsic); };
  return std::ranges::any_of(kGeneric, is) || (op->is_intrinsic(Call::lerp) && op->type.is_float());
}

// A cast that the algorithm means as a rounding: from a float to a narrower one, or between the two 16-bit ones.
bool rounds(const Halide::Type& from, const Halide::Type& to) {
  return from.is_float() && to.is_float() && from != to && to.bits() <= from.bits();
}

}  // namespace

const Halide::Parameter& Renamer::input(const Halide::Parameter& old) {
  if (const auto known = targets_.inputs.find(old.name()); known != targets_.inputs.end()) return known->second;
  const Halide::Parameter fresh = old.is_buffer() ? Halide::Parameter(old.type(), true, old.dimensions(), old.name())
                                                  : Halide::Parameter(old.type(), false, 0, old.name());
  return targets_.inputs.emplace(old.name(), fresh).first->second;
}

Halide::Expr Renamer::visit(const Variable* op) {
  if (update_ >= 0) {
    const auto& reductions = stage_.reductions.at(static_cast<std::size_t>(update_));
    if (const auto found = reductions.find(op->name); found != reductions.end())
      return Variable::make(op->type, halide_name(found->second), domain_);
  }
  if (op->param.defined()) return Variable::make(op->type, op->name, input(op->param));
  if (op->image.defined()) return op;
  if (const auto loop = stage_.loops.find(op->name); loop != stage_.loops.end()) return Variable::make(op->type, halide_name(loop->second));
  return op;  // bound by a let
}

Halide::Expr Renamer::visit(const Call* op) {
  if (op->call_type == Call::Halide) return Call::make(targets_.functions.at(op->name), mutate(op->args), op->value_index);
  if (op->call_type == Call::Image && op->param.defined()) {
    const std::vector<Halide::Expr> args = mutate(op->args);
    return Call::make(input(op->param), args);
  }
  return IRMutator::visit(op);
}

Halide::Expr Widener::visit(const FloatImm* op) { return FloatImm::make(kDouble, op->value); }

Halide::Expr Widener::visit(const Variable* op) {
  if (float_lets_.contains(op->name)) return Variable::make(kDouble, op->name);
  return widened(Renamer::visit(op));
}

Halide::Expr Widener::visit(const Let* op) {
  const Halide::Expr value = mutate(op->value);
  if (op->value.type().is_float()) float_lets_.insert(op->name);
  return Let::make(op->name, value, mutate(op->body));
}

Halide::Expr Widener::visit(const Cast* op) {
  const Halide::Expr value = mutate(op->value);
  if (!op->type.is_float()) return narrowed(value, op->type);
  if (rounds(op->value.type(), op->type)) return widened(Cast::make(op->type, value));
  return narrowed(value, kDouble);
}

Halide::Expr Widener::visit(const Reinterpret* op) {
  return widened(Reinterpret::make(op->type, narrowed(mutate(op->value), op->value.type())));
}

Halide::Expr Widener::visit(const Call* op) {
  if (op->call_type == Call::Halide || op->call_type == Call::Image) return widened(Renamer::visit(op));
  const Halide::Type type = op->type.is_float() ? kDouble : op->type;
  if (is_generic(op)) return Call::make(type, op->name, mutate(op->args), op->call_type);
  if (const std::optional<std::string> name = double_name(op->name)) return Call::make(type, *name, mutate(op->args), op->call_type);
  return call_in_own_type(op);
}

Halide::Expr Widener::call_in_own_type(const Call* op) {
  std::vector<Halide::Expr> args;
  for (const Halide::Expr& arg : op->args) args.push_back(arg.as<StringImm>() != nullptr ? arg : narrowed(mutate(arg), arg.type()));
  return widened(Call::make(op->type, op->name, args, op->call_type));
}

}  // namespace kiln
