#include "dsl/tolerance.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "dsl/extents.h"
#include "dsl/float8_pattern.h"

namespace kiln {
namespace {

constexpr DType kCode{TypeClass::unsigned_int, 8};
constexpr double kBudget = 8;                  // times epsilon * sqrt(K): rounding errors of a sum of K random terms grow with sqrt(K)
constexpr double kTensorEpsilon = 0x1p-13;     // of sums of products of E4M3 codes in the tensor cores: generators/cuda/emulator/units/e4m3_sums.h
constexpr std::int64_t kTensorTerms = 32;      // of a step there
constexpr std::int64_t kPromotedTerms = 128;   // whose sum is then added up elsewhere
constexpr double kPlainBias = 2;               // where it is not, all steps cut off one sum towards zero
constexpr double kDiscontinuousShare = 1e-5;   // real pipelines differ in up to 8e-6 of their pixels where a float crosses an integer cast

std::int64_t largest_extent(const Algorithm& algorithm, const Problem& problem) {
  std::int64_t largest = 1;
  for (const Argument& argument : algorithm.arguments)
    for (int d = 0; d < argument.rank; ++d) largest = std::max(largest, extent_of(problem, algorithm, argument.name, d));
  return largest;
}

std::int64_t points_of(const Update& update, const Algorithm& algorithm, const Problem& problem) {
  std::int64_t points = 1;
  for (const ReductionVariable& variable : update.reduction) {
    const std::optional<std::int64_t> extent = evaluate_extents(*variable.extent, algorithm, problem);
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

// A code of E4M3 as a number, perhaps through other types of float.
bool is_decoded(const Expression& factor) {
  if (factor.op == Op::cast && factor.type.is_float() && factor.args[0]->type.is_float()) return is_decoded(*factor.args[0]);
  const auto decoded = match_decode_float8(factor);
  return decoded && decoded->format.name == kE4M3FN.name;
}

bool reads_codes(const Expression& value) {
  bool reads = false;
  for_each_node(value, [&](const Expression& e) { reads = reads || (e.op == Op::load && e.type == kCode); });
  return reads;
}

bool multiplies_codes(const ExpressionPtr& value) {
  if (!reads_codes(*value)) return false;
  bool multiplies = false;
  for_each_node(*without_lets(value), [&](const Expression& e) { multiplies = multiplies || (e.op == Op::mul && is_decoded(*e.args[0]) && is_decoded(*e.args[1])); });
  return multiplies;
}

// In units of the budget.
double off_in_tensor_cores(std::int64_t points, bool may_be_plain) {
  const std::int64_t terms = may_be_plain ? points : std::min(points, kPromotedTerms);
  const std::int64_t steps = (terms + kTensorTerms - 1) / kTensorTerms;
  return (may_be_plain ? kPlainBias : 1) * kTensorEpsilon * std::sqrt(static_cast<double>(steps));
}

// What is found in the stages that feed one output.
struct Findings {
  double arithmetic = 0;        // max of epsilon * sqrt(K)
  double of_codes = 0;          // the same of sums in the tensor cores, beside that
  std::set<DType> rounded_to;   // by narrowing casts of the stage at hand
  double rounding = 0;          // the epsilons of those, over all stages
  bool turns_float_into_integer = false, compares_floats = false;

  void look_at(const Expression& root, std::int64_t points) {
    for_each_node(root, [&](const Expression& e) {
      if (rounds(e)) arithmetic = std::max(arithmetic, e.type.epsilon() * std::sqrt(static_cast<double>(points)));
      compares_floats = compares_floats || kiln::compares_floats(e);
      if ((e.op != Op::cast && e.op != Op::reinterpret) || !e.args[0]->type.is_float()) return;
      if (!e.type.is_float()) turns_float_into_integer = true;
      else if (e.op == Op::cast && e.type.epsilon() > e.args[0]->type.epsilon()) rounded_to.insert(e.type);
    });
  }
};

void look_at(const Stage& stage, const Algorithm& algorithm, const Problem& problem, Findings& findings) {
  for (const ExpressionPtr& value : stage.values) findings.look_at(*value, 1);
  for (const Update& update : stage.updates) {
    const std::int64_t points = points_of(update, algorithm, problem);
    for (const ExpressionPtr& value : update.values) {
      findings.look_at(*value, points);
      if (update.reduction.empty() || !multiplies_codes(value)) continue;
      findings.of_codes = std::max(findings.of_codes, off_in_tensor_cores(points, algorithm.contract == Contract::free));
    }
    for (const ExpressionPtr& index : update.indices) findings.look_at(*index, 1);
    if (update.predicate) findings.look_at(*update.predicate, 1);
  }
  for (const DType& rounded : findings.rounded_to) findings.rounding += rounded.epsilon();
  findings.rounded_to.clear();
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
  tolerance.relative = kBudget * (findings.arithmetic + findings.of_codes) + findings.rounding;
  const bool is_discontinuous = findings.turns_float_into_integer || (!type.is_float() && findings.compares_floats);
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

}  // namespace kiln
