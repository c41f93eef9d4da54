#include "generators/cuda/emit/conversions.h"

#include "dsl/float8_pattern.h"

namespace kiln::generators::cuda {

ExpressionPtr before_e4m3(const Expression& expression) {
  const DType code{TypeClass::unsigned_int, 8};
  if (expression.op != Op::cast || expression.type != code || expression.args[0]->op != Op::select) return nullptr;  // a cheap no for nearly all
  const auto match = match_encode_float8(expression);
  return match && match->format.name == kE4M3FN.name ? match->value : nullptr;
}

ExpressionPtr with_conversions(const ExpressionPtr& expression) {
  if (const ExpressionPtr value = before_e4m3(*expression)) {
    Expression call{.op = Op::call, .type = expression->type, .name = std::string(kEncodeE4M3), .args = {with_conversions(value)}};
    return std::make_shared<const Expression>(std::move(call));
  }
  Expression result = *expression;
  for (ExpressionPtr& arg : result.args) arg = with_conversions(arg);
  return result.args == expression->args ? expression : std::make_shared<const Expression>(std::move(result));
}

}  // namespace kiln::generators::cuda
