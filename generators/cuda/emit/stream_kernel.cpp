#include "generators/cuda/emit/stream_kernel.h"

#include <fmt/format.h>

#include "generators/cuda/emit/conversions.h"
#include "generators/cuda/emit/storage.h"

namespace kiln::generators::cuda {

std::string word_of(LoadHint hint) {
  switch (hint) {
    case LoadHint::plain: return "LOAD_PLAIN";
    case LoadHint::no_l1: return "LOAD_NO_L1";
    case LoadHint::evict_first: return "LOAD_EVICT_FIRST";
  }
  return {};
}

std::string word_of(StoreHint hint) {
  switch (hint) {
    case StoreHint::plain: return "STORE_PLAIN";
    case StoreHint::streaming: return "STORE_STREAMING";
    case StoreHint::evict_first: return "STORE_EVICT_FIRST";
  }
  return {};
}

StreamKernel::StreamKernel(const StreamPlan& plan, std::string name) : plan_(plan), name_(std::move(name)), functions_(identifiers_, plan.capability >= kConversionToE4M3) {
  identifiers_.make(name_);
  declare_operands();
  write_functions();
}

void StreamKernel::declare_operands() {
  for (std::size_t i = 0; i < computation().operands.size(); ++i) {
    const Operand& one = operand(i);
    const std::string name = identifiers_.make(one.name);
    pointers_[one.name] = name;
    parameter(KernelParameter::Kind::operand, static_cast<int>(i),
              fmt::format("{}{}* __restrict__ {}", one.is_written ? "" : "const ", storage_of(one.type).pointed, name));
  }
  for (std::size_t i = 0; i < computation().scalars.size(); ++i) {
    const Scalar& one = computation().scalars[i];
    scalars_[one.name] = identifiers_.make(one.name);
    parameter(KernelParameter::Kind::scalar, static_cast<int>(i), fmt::format("{} {}", value_type(one.type), scalars_[one.name]));
  }
}

void StreamKernel::write_functions() {
  for (const Value& value : computation().values) {
    const bool is_reduction = value.kind == Value::Kind::reduction || value.kind == Value::Kind::dot;
    const bool is_stored = value.kind == Value::Kind::element && !value.is_kept;
    locals_[value.name] = identifiers_.make(is_stored ? value.name + "_lanes" : value.name);
    const ExpressionPtr before = is_stored && plan_.capability >= kConversionToE4M3 ? before_e4m3(*value.expression) : nullptr;
    if (before) encoded_.insert(value.name);
    const std::string comment = is_reduction ? fmt::format("What one {} gives to {}", value.kind == Value::Kind::dot ? "term" : "element", value.name)
                                             : fmt::format("{} {}{}", value.kind == Value::Kind::row ? "One a row:" : "Each", value.name, before ? ", before it is rounded to E4M3" : "");
    called_[value.name] = functions_.add(value.name + (is_reduction ? "_term" : "_value"), comment, before ? before : value.expression,
                                         value.is_exact ? Math::exact : Math::approximate);
  }
}

std::string StreamKernel::call(const std::string& value) {
  return called_.at(value).call([&](const Expression& leaf) { return argument(leaf); });
}

void StreamKernel::parameter(KernelParameter::Kind kind, int place, const std::string& declaration) {
  parameters_.push_back({kind, place});
  declarations_.push_back(declaration);
}

std::string StreamKernel::vector_type(const Operand& one) const { return fmt::format("Vec<{}>", plan_.vector * one.type.bytes()); }

std::string StreamKernel::load(const Operand& one, const std::string& at) const {
  return fmt::format("load_stream<{}, {}>({} + {})", plan_.vector * one.type.bytes(), load_word(one), pointer(one.name), at);
}

// What every row or column reads again stays in the caches; hints are for what comes once.
std::string StreamKernel::load_word(const Operand& one) const {
  if (one.is_of_earlier) return "LOAD_WRITTEN";
  const bool comes_again = one.reach == Reach::column || one.reach == Reach::row_terms;
  return word_of(comes_again ? LoadHint::plain : plan_.loads);
}

std::string StreamKernel::load_one(const Operand& one, const std::string& at) const {
  return fmt::format("{}({} + {})", one.is_of_earlier ? "load_written" : "__ldg", pointer(one.name), at);
}

void StreamKernel::declare_vectors(const Operand& one, int accesses) {
  const std::string count = accesses > 1 ? fmt::format("[{}]", accesses) : "";
  if (is_narrow(one)) {
    lines_.add(fmt::format("{} {}{}[{}];", storage_of(one.type).pointed, vectors(one.name), count, plan_.vector));
  } else {
    lines_.add(fmt::format("{} {}{};", vector_type(one), vectors(one.name), count));
  }
}

void StreamKernel::load_vectors(const Operand& one, const std::string& subscript, const std::string& at) {
  if (!is_narrow(one)) return lines_.add(fmt::format("{}{} = {};", vectors(one.name), subscript, load(one, at)));
  for (int i = 0; i < plan_.vector; ++i) lines_.add(fmt::format("{}{}[{}] = {};", vectors(one.name), subscript, i, load_one(one, fmt::format("{} + {}", at, i))));
}

std::string StreamKernel::lane(const Operand& one, const std::string& subscript) const {
  if (is_narrow(one)) return read_one(one.type, fmt::format("{}{}[i]", vectors(one.name), subscript));
  return fmt::format("{}({}{}.w, i)", storage_of(one.type).at, vectors(one.name), subscript);
}

std::string StreamKernel::stored_element(const Output& output, const std::string& value) const {
  if (encoded_.contains(value_of(output).name)) return stored_e4m3(value);
  return stored_one(operand(static_cast<std::size_t>(output.operand)).type, value);
}

void StreamKernel::store_vector(const Output& output, const std::string& at) {
  const Operand& written = operand(static_cast<std::size_t>(output.operand));
  const Value& value = value_of(output);
  const bool is_encoded = encoded_.contains(value.name);
  const std::string elements = local(value.name);
  lines_.add(fmt::format("{} {}[{}];", is_encoded ? "float" : value_type(written.type), elements, plan_.vector));
  lines_.add("#pragma unroll");
  lines_.add(fmt::format("for (int i = 0; i < {}; ++i) {}[i] = {};", plan_.vector, elements, call(value.name)));
  if (is_narrow(written)) {
    for (int i = 0; i < plan_.vector; ++i)
      lines_.add(fmt::format("{}[{} + {}] = {};", pointer(written.name), at, i, stored_element(output, fmt::format("{}[{}]", elements, i))));
    return;
  }
  const std::string packed = pointer(written.name) + "_v";
  lines_.add(fmt::format("{} {};", vector_type(written), packed));
  lines_.add(fmt::format("{}({}.w, {});", is_encoded ? kPutE4M3 : storage_of(written.type).put, packed, elements));
  lines_.add(fmt::format("store_stream<{}, {}>({} + {}, {});", plan_.vector * written.type.bytes(), word_of(plan_.stores), pointer(written.name), at, packed));
}

void StreamKernel::wait_for_the_kernel_before() {
  if (!plan_.may_be_dependent()) return;
  lines_.add("pdl_launch_dependents();");
  lines_.add("pdl_wait();");
}

KernelText StreamKernel::emit() {
  body();
  std::string list;
  for (const std::string& declaration : declarations_) list += (list.empty() ? "" : ", ") + declaration;
  const std::string bounds = plan_.blocks_per_sm > 0 ? fmt::format("{}, {}", plan_.threads, plan_.blocks_per_sm) : fmt::format("{}", plan_.threads);
  std::string text = fmt::format("// {}: {}\n", name_, print_kernel(plan_));
  text += functions_.text() + header();
  text += fmt::format("\nextern \"C\" __global__ void __launch_bounds__({}){} {}({}) {{\n", bounds,
                      plan_.cluster > 1 ? fmt::format(" __cluster_dims__({}, 1, 1)", plan_.cluster) : "", name_, list);
  text += lines_.text() + "}\n";
  return {name_, std::move(text), parameters_};
}

}  // namespace kiln::generators::cuda
