#include "generators/cuda/emit/stream_sums.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/error.h"
#include "generators/cuda/emit/storage.h"

namespace kiln::generators::cuda {

SumsKernel::SumsKernel(const StreamPlan& plan, std::string name) : StreamKernel(plan, std::move(name)) {
  for (const Value& value : computation().values) {
    const bool is_stored = std::any_of(computation().outputs.begin(), computation().outputs.end(), [&](const Output& output) { return &value_of(output) == &value; });
    if (value.kind != Value::Kind::dot && (!is_stored || value.kind != Value::Kind::element))
      throw ScheduleError(fmt::format("{}: {} is computed beside {}; beside a sum for each element values are inlined", computation().name, value.name, dot().name));
  }
  if (dot().initial->op != Op::constant)
    throw ScheduleError(fmt::format("{}: {} starts from {}, and sums start from constants", computation().name, dot().name, print(*dot().initial)));
}

const Operand& SumsKernel::weights() const {
  const auto found = std::find_if(computation().operands.begin(), computation().operands.end(),
                                  [](const Operand& one) { return one.reach == Reach::column_terms || one.reach == Reach::terms_of_columns; });
  return *found;
}

void SumsKernel::declare_lengths() {
  parameter(KernelParameter::Kind::columns, 0, "int columns");
  parameter(KernelParameter::Kind::terms, 0, "int terms");
  parameter(KernelParameter::Kind::rows, 0, "int rows");
}

void SumsKernel::store_element() {
  const std::string first = literal(*dot().initial);
  if (first != "0.0f") lines_.add(fmt::format("sum = {} + sum;", first));
  for (const Output& output : computation().outputs) {
    const Operand& written = operand(static_cast<std::size_t>(output.operand));
    const Value& value = value_of(output);
    const std::string text = value.kind == Value::Kind::dot ? "sum" : call(value.name);
    lines_.add(fmt::format("{}[(i64)row * columns + column] = {};", pointer(written.name), stored_element(output, text)));
  }
}

void SumsKernel::add_term(const std::string& sum) {
  is_in_term_ = true;
  lines_.add(fmt::format("{} += {};", sum, call(dot().name)));
  is_in_term_ = false;
}

std::string SumsKernel::argument(const Expression& leaf) {
  if (leaf.op == Op::parameter) return scalar(leaf.name);
  if (leaf.op == Op::load) {
    if (leaf.name == dot().name) return "sum";
    const Operand& one = *computation().find_operand(leaf.name);
    return is_in_term_ ? term_operand(one) : element_operand(one);
  }
  if (leaf.op == Op::extent) return leaf.name == "axis0" ? "columns" : leaf.name == "axis1" ? "rows" : "terms";
  if (is_in_term_) throw ScheduleError(fmt::format("{}: the terms of {} depend on where they stand, which a kernel of sums does not say", computation().name, dot().name));
  return leaf.name == "axis0" ? "column" : "row";
}

std::string SumsKernel::element_operand(const Operand& one) const {
  const std::string at = one.reach == Reach::every ? "(i64)row * columns + column" : one.reach == Reach::column ? "column" : "row";
  return read_one(one.type, load_one(one, at));
}

}  // namespace kiln::generators::cuda
