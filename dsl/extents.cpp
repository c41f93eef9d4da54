#include "dsl/extents.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>

namespace kiln {
namespace {

class ExtentEvaluator {
 public:
  ExtentEvaluator(const Algorithm& algorithm, const Problem& problem) : algorithm_(algorithm), problem_(problem) {}

  std::optional<std::int64_t> operator()(const Expression& e) {
    switch (e.op) {
      case Op::constant: return constant(e);
      case Op::extent: return property(e.name);
      case Op::cast: return e.type.is_float() || e.args[0]->type.is_float() ? std::nullopt : (*this)(*e.args[0]);
      case Op::variable: {
        const auto found = bound_.find(e.name);
        return found == bound_.end() ? std::nullopt : found->second;
      }
      case Op::let: {
        bound_[e.name] = (*this)(*e.args[0]);
        return (*this)(*e.args[1]);
      }
      case Op::select: {
        const std::optional<std::int64_t> condition = (*this)(*e.args[0]);
        if (!condition) return std::nullopt;
        return (*this)(*e.args[*condition != 0 ? 1 : 2]);
      }
      default: return e.args.size() == 2 ? binary(e) : std::nullopt;
    }
  }

 private:
  static std::optional<std::int64_t> constant(const Expression& e) {
    if (const auto* value = std::get_if<std::int64_t>(&e.value)) return *value;
    if (const auto* value = std::get_if<std::uint64_t>(&e.value)) return static_cast<std::int64_t>(*value);
    return std::nullopt;
  }

  // "A.extent.0": argument, property, dimension. Mins are 0 in every call.
  std::optional<std::int64_t> property(const std::string& name) const {
    const std::size_t last = name.rfind('.'), middle = last == std::string::npos || last == 0 ? std::string::npos : name.rfind('.', last - 1);
    if (middle == std::string::npos) return std::nullopt;
    const std::string argument = name.substr(0, middle), what = name.substr(middle + 1, last - middle - 1);
    int dimension = 0;
    if (std::from_chars(name.data() + last + 1, name.data() + name.size(), dimension).ec != std::errc()) return std::nullopt;
    if (what == "min") return 0;
    if (what != "extent") return std::nullopt;
    for (const Argument& candidate : algorithm_.arguments)
      if (candidate.name == argument && dimension < candidate.rank) return extent_of(problem_, algorithm_, argument, dimension);
    return std::nullopt;
  }

  std::optional<std::int64_t> binary(const Expression& e) {
    const std::optional<std::int64_t> a = (*this)(*e.args[0]), b = (*this)(*e.args[1]);
    if (!a || !b || e.args[0]->type.is_float()) return std::nullopt;
    // Halide divides towards minus infinity for positive divisors and answers 0 for a zero divisor.
    const auto floored = [](std::int64_t x, std::int64_t y) { return x / y - ((x % y != 0 && (x % y < 0) != (y < 0)) ? 1 : 0); };
    switch (e.op) {
      case Op::add: return *a + *b;
      case Op::sub: return *a - *b;
      case Op::mul: return *a * *b;
      case Op::div: return *b == 0 ? 0 : floored(*a, *b);
      case Op::mod: return *b == 0 ? 0 : *a - floored(*a, *b) * *b;
      case Op::min: return std::min(*a, *b);
      case Op::max: return std::max(*a, *b);
      case Op::eq: return *a == *b;
      case Op::ne: return *a != *b;
      case Op::lt: return *a < *b;
      case Op::le: return *a <= *b;
      case Op::gt: return *a > *b;
      case Op::ge: return *a >= *b;
      case Op::logical_and: return *a != 0 && *b != 0;
      case Op::logical_or: return *a != 0 || *b != 0;
      default: return std::nullopt;
    }
  }

  const Algorithm& algorithm_;
  const Problem& problem_;
  std::map<std::string, std::optional<std::int64_t>> bound_;
};

}  // namespace

std::optional<std::int64_t> evaluate_extents(const Expression& expression, const Algorithm& algorithm, const Problem& problem) {
  return ExtentEvaluator(algorithm, problem)(expression);
}

}  // namespace kiln
