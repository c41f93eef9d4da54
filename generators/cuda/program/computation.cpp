#include "generators/cuda/program/computation.h"

#include <fmt/format.h>

#include <algorithm>

namespace kiln::generators::cuda {
namespace {

template <typename Item>
const Item* find_named(const std::vector<Item>& items, const std::string& name) {
  const auto found = std::find_if(items.begin(), items.end(), [&](const Item& item) { return item.name == name; });
  return found == items.end() ? nullptr : &*found;
}

std::string_view word(Op combine) {
  switch (combine) {
    case Op::mul: return "product";
    case Op::min: return "least";
    case Op::max: return "largest";
    default: return "sum";
  }
}

std::string line_of(const Value& value) {
  const std::string text = print(*value.expression);
  switch (value.kind) {
    case Value::Kind::element: return fmt::format("element {} {} = {}{}\n", value.name, print(value.type), text, value.is_kept ? ", kept" : "");
    case Value::Kind::row: return fmt::format("row {} {} = {}\n", value.name, print(value.type), text);
    case Value::Kind::dot: return fmt::format("element {} {} = sum over terms from {} of {}\n", value.name, print(value.type), print(*value.initial), text);
    case Value::Kind::reduction:
      return fmt::format("row {} {} = {} from {} of {}\n", value.name, print(value.type), word(value.combine), print(*value.initial), text);
  }
  return {};
}

}  // namespace

std::string_view print(Reach reach) {
  switch (reach) {
    case Reach::every: return "every";
    case Reach::turned: return "turned";
    case Reach::column: return "column";
    case Reach::row: return "row";
    case Reach::row_terms: return "row_terms";
    case Reach::column_terms: return "column_terms";
    case Reach::terms_of_columns: return "terms_of_columns";
  }
  return "";
}

const Operand* Computation::find_operand(const std::string& operand) const { return find_named(operands, operand); }
const Value* Computation::find_value(const std::string& value) const { return find_named(values, value); }

bool Computation::has_reductions() const {
  return std::any_of(values.begin(), values.end(), [](const Value& value) { return value.kind == Value::Kind::reduction; });
}

std::vector<const Value*> Computation::dots() const {
  std::vector<const Value*> found;
  for (const Value& value : values)
    if (value.kind == Value::Kind::dot) found.push_back(&value);
  return found;
}

std::int64_t Computation::rows() const {
  std::int64_t product = 1;
  for (std::size_t i = 1; i < axes.size(); ++i) product *= axes[i].extent;
  return product;
}

std::string print(const Computation& computation) {
  std::string text = fmt::format("kernel {}\n", computation.name);
  for (const KernelAxis& axis : computation.axes) text += fmt::format("axis {} = {}.{}\n", axis.loop, axis.source.argument, axis.source.dimension);
  if (computation.terms) text += fmt::format("terms {} = {}.{}\n", computation.terms->loop, computation.terms->source.argument, computation.terms->source.dimension);
  for (const Operand& operand : computation.operands)
    text += fmt::format("{} {} {} {}{}\n", operand.is_written ? "write" : "read", operand.name, print(operand.type), print(operand.reach),
                        operand.buffer == operand.name ? "" : " of " + operand.buffer);
  for (const Scalar& scalar : computation.scalars) text += fmt::format("scalar {} {}\n", scalar.name, print(scalar.type));
  for (const Value& value : computation.values) text += line_of(value);
  for (const Output& output : computation.outputs)
    text += fmt::format("{} <- {}\n", computation.operands[static_cast<std::size_t>(output.operand)].name,
                        computation.values[static_cast<std::size_t>(output.value)].name);
  return text;
}

}  // namespace kiln::generators::cuda
