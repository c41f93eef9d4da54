#include "dsl/footprint_interval.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace kiln {
namespace {

constexpr Range kAnywhere{-Range::kFar, Range::kFar};

std::int64_t near(std::int64_t value) { return std::clamp(value, -Range::kFar, Range::kFar); }

std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return (a < 0) == (b < 0) ? Range::kFar : -Range::kFar;
  return near(product);
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

// Over the corners of two ranges.
template <typename Combine>
Range corners(const Range& a, const Range& b, const Combine& combine) {
  const std::array<std::int64_t, 4> values{combine(a.lo, b.lo), combine(a.lo, b.hi), combine(a.hi, b.lo), combine(a.hi, b.hi)};
  return {*std::min_element(values.begin(), values.end()), *std::max_element(values.begin(), values.end())};
}

Range of_type(DType type) {
  if (type.is_float() || type.bits > 16) return kAnywhere;
  const std::int64_t count = std::int64_t{1} << type.bits;
  return type.kind == TypeClass::signed_int ? Range{-count / 2, count / 2 - 1} : Range{0, count - 1};
}

std::optional<std::int64_t> integer(const Expression& expression) {
  if (expression.op != Op::constant) return std::nullopt;
  if (const auto* value = std::get_if<std::int64_t>(&expression.value)) return *value;
  if (const auto* value = std::get_if<std::uint64_t>(&expression.value)) return static_cast<std::int64_t>(*value);
  return std::nullopt;
}

// Halide's remarks on a value, which leave it as it is.
bool is_promise(std::string_view call) {
  return call == "likely" || call == "likely_if_innermost" || call == "promise_clamped" || call == "unsafe_promise_clamped";
}

class Reader {
 public:
  Reader(const NameRange& names, const Lets& lets) : names_(names), lets_(lets) {}

  Range read(const Expression& e) const {
    switch (e.op) {
      case Op::constant:
        if (const auto value = integer(e)) return {near(*value), near(*value)};
        return kAnywhere;
      case Op::loop:
      case Op::reduction:
      case Op::parameter:
      case Op::extent: return names_(e).value_or(of_type(e.type));
      case Op::variable: return let_value(e);
      case Op::let: return within(e);
      case Op::cast: return cast(e);
      case Op::add: return binary(e, [](const Range& a, const Range& b) { return Range{near(a.lo + b.lo), near(a.hi + b.hi)}; });
      case Op::sub: return binary(e, [](const Range& a, const Range& b) { return Range{near(a.lo - b.hi), near(a.hi - b.lo)}; });
      case Op::mul: return binary(e, [](const Range& a, const Range& b) { return corners(a, b, times); });
      case Op::min: return binary(e, [](const Range& a, const Range& b) { return Range{std::min(a.lo, b.lo), std::min(a.hi, b.hi)}; });
      case Op::max: return binary(e, [](const Range& a, const Range& b) { return Range{std::max(a.lo, b.lo), std::max(a.hi, b.hi)}; });
      case Op::div: return binary(e, quotient);
      case Op::mod: return binary(e, remainder);
      case Op::select: return hull(read(*e.args[1]), read(*e.args[2]));
      case Op::call: return is_promise(e.name) ? read(*e.args[0]) : of_type(e.type);
      default: return of_type(e.type);
    }
  }

 private:
  template <typename Combine>
  Range binary(const Expression& e, const Combine& combine) const {
    if (e.type.is_float()) return kAnywhere;
    return combine(read(*e.args[0]), read(*e.args[1]));
  }

  static Range quotient(const Range& a, const Range& b) {
    if (b.lo <= 0) return a.lo >= 0 && b.lo == 0 ? Range{0, a.hi} : kAnywhere;  // Halide's x / 0 is 0
    return corners(a, b, floor_quotient);
  }

  static Range remainder(const Range& a, const Range& b) {
    if (b.lo != b.hi || b.lo <= 0) return {0, near(std::max(std::abs(b.lo), std::abs(b.hi)))};
    if (a.is_bounded() && floor_quotient(a.lo, b.lo) == floor_quotient(a.hi, b.lo)) {
      const std::int64_t base = floor_quotient(a.lo, b.lo) * b.lo;
      return {a.lo - base, a.hi - base};
    }
    return {0, b.lo - 1};
  }

  Range cast(const Expression& e) const {
    const Range own = of_type(e.type);
    if (e.type.is_float() || e.args[0]->type.is_float()) return own;
    const Range value = read(*e.args[0]);
    return value.lo >= own.lo && value.hi <= own.hi ? value : own;  // else it may wrap
  }

  Range let_value(const Expression& e) const {
    for (std::size_t i = lets_.size(); i-- > 0;)
      if (lets_[i].first == e.name) return range_of(*lets_[i].second, names_, Lets(lets_.begin(), lets_.begin() + static_cast<std::ptrdiff_t>(i)));
    return of_type(e.type);
  }

  Range within(const Expression& e) const {
    Lets inner = lets_;
    inner.emplace_back(e.name, e.args[0]);
    return range_of(*e.args[1], names_, inner);
  }

  const NameRange& names_;
  const Lets& lets_;
};

}  // namespace

Range hull(const Range& a, const Range& b) {
  if (a.is_empty()) return b;
  if (b.is_empty()) return a;
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

Range overlap(const Range& a, const Range& b) { return {std::max(a.lo, b.lo), std::min(a.hi, b.hi)}; }

Range range_of(const Expression& expression, const NameRange& names, const Lets& lets) { return Reader(names, lets).read(expression); }

}  // namespace kiln
