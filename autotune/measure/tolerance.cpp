#include "autotune/measure/tolerance.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace kiln::autotune {
namespace {

constexpr double kBudget = 8;                  // times epsilon * sqrt(K): rounding errors of a sum of K random terms grow with sqrt(K)
constexpr double kDiscontinuousShare = 1e-5;   // real pipelines differ in up to 8e-6 of their pixels where a float crosses an integer cast

// Integer expressions over the extents of the arguments; nothing where a value is known only at the call.
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

std::int64_t largest_extent(const Algorithm& algorithm, const Problem& problem) {
  std::int64_t largest = 1;
  for (const Argument& argument : algorithm.arguments)
    for (int d = 0; d < argument.rank; ++d) largest = std::max(largest, extent_of(problem, algorithm, argument.name, d));
  return largest;
}

std::int64_t points_of(const Update& update, const Algorithm& algorithm, const Problem& problem) {
  ExtentEvaluator evaluate(algorithm, problem);
  std::int64_t points = 1;
  for (const ReductionVariable& variable : update.reduction) {
    const std::optional<std::int64_t> extent = evaluate(*variable.extent);
    points *= std::max<std::int64_t>(1, extent ? *extent : largest_extent(algorithm, problem));
  }
  return points;
}

bool rounds(const Expression& e) {
  if (!e.type.is_float()) return false;
  return e.op == Op::add || e.op == Op::sub || e.op == Op::mul || e.op == Op::div || e.op == Op::mod || e.op == Op::call;
}

bool compares_floats(const Expression& e) {
  const bool compares = e.op == Op::eq || e.op == Op::ne || e.op == Op::lt || e.op == Op::le || e.op == Op::gt || e.op == Op::ge;
  return compares && e.args[0]->type.is_float();
}

// What is found in the stages that feed one output.
struct Findings {
  double arithmetic = 0;        // max of epsilon * sqrt(K)
  std::set<DType> rounded_to;   // by narrowing casts
  bool casts_float_to_integer = false, compares_floats = false;

  void look_at(const Expression& root, std::int64_t points) {
    for_each_node(root, [&](const Expression& e) {
      if (rounds(e)) arithmetic = std::max(arithmetic, e.type.epsilon() * std::sqrt(static_cast<double>(points)));
      compares_floats = compares_floats || autotune::compares_floats(e);
      if (e.op != Op::cast || !e.args[0]->type.is_float()) return;
      if (!e.type.is_float()) casts_float_to_integer = true;
      else if (e.type.epsilon() > e.args[0]->type.epsilon()) rounded_to.insert(e.type);
    });
  }
};

void look_at(const Stage& stage, const Algorithm& algorithm, const Problem& problem, Findings& findings) {
  for (const ExpressionPtr& value : stage.values) findings.look_at(*value, 1);
  for (const Update& update : stage.updates) {
    const std::int64_t points = points_of(update, algorithm, problem);
    for (const ExpressionPtr& value : update.values) findings.look_at(*value, points);
    for (const ExpressionPtr& index : update.indices) findings.look_at(*index, 1);
    if (update.predicate) findings.look_at(*update.predicate, 1);
  }
}

void visit_producers(const Stage& stage, const Algorithm& algorithm, const Problem& problem, std::set<std::string>& seen, Findings& findings) {
  if (!seen.insert(stage.name).second) return;
  look_at(stage, algorithm, problem, findings);
  for (const std::string& name : producers_of(stage))
    if (const Stage* producer = algorithm.find_stage(name)) visit_producers(*producer, algorithm, problem, seen, findings);
}

Tolerance tolerance_of(const Stage& output, DType type, const Algorithm& algorithm, const Problem& problem) {
  Findings findings;
  std::set<std::string> seen;
  visit_producers(output, algorithm, problem, seen, findings);
  Tolerance tolerance;
  tolerance.relative = kBudget * findings.arithmetic;
  for (const DType& rounded : findings.rounded_to) tolerance.relative += rounded.epsilon();
  const bool is_discontinuous = findings.casts_float_to_integer || (!type.is_float() && findings.compares_floats);
  tolerance.outlier_fraction = std::max(algorithm.outlier_fraction, is_discontinuous ? kDiscontinuousShare : 0);
  return tolerance;
}

}  // namespace

std::vector<Tolerance> tolerances(const Algorithm& algorithm, const Problem& problem) {
  std::vector<Tolerance> tolerances;
  for (const std::string& name : algorithm.outputs) {
    const Stage& output = algorithm.stage(name);
    for (const DType& type : output.types) tolerances.push_back(tolerance_of(output, type, algorithm, problem));
  }
  return tolerances;
}

}  // namespace kiln::autotune
