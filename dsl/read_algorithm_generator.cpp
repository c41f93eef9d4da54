#include "dsl/read_algorithm_generator.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <typeinfo>

#include "dsl/error.h"
#include "dsl/read_algorithm.h"
#include "dsl/read_algorithm_expression.h"

namespace kiln {
namespace {

using Halide::Internal::AbstractGenerator;
using Halide::Internal::GeneratorBase;
using Halide::Internal::GeneratorParamBase;
using Halide::Internal::GIOBase;

// Halide offers a generator's steps and parameters to its own driver only. They are members that derived classes may use, except param_info(),
// which is private: an explicit instantiation may name it all the same.
struct OpenGenerator : GeneratorBase {
  using GeneratorBase::call_generate;
  using GeneratorBase::call_schedule;
  using GeneratorBase::ensure_configure_has_been_called;
  using GeneratorBase::get_pipeline;
};
struct OpenParameter : GeneratorParamBase {
  using GeneratorParamBase::get_default_value;
  using GeneratorParamBase::get_type_decls;
  using GeneratorParamBase::is_synthetic_param;
};
struct OpenArgument : GIOBase {
  using GIOBase::array_size_defined;
  using GIOBase::dims_defined;
  using GIOBase::gio_types_defined;
  using GIOBase::name;
};
using ParameterList = Halide::Internal::GeneratorParamInfo& (GeneratorBase::*)();
ParameterList parameter_list();
template <ParameterList Member>
struct Reveal {
  friend ParameterList parameter_list() { return Member; }
};
template struct Reveal<&GeneratorBase::param_info>;

// Halide's own words without its "Error: " and trailing line ends.
std::string trimmed(std::string text) {
  constexpr std::string_view kPrefix = "Error: ";
  if (text.starts_with(kPrefix)) text.erase(0, kPrefix.size());
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

std::string current_exception_type() {
  int status = 0;
  char* name = abi::__cxa_demangle(abi::__cxa_current_exception_type()->name(), nullptr, nullptr, &status);
  const std::string result = status == 0 ? name : abi::__cxa_current_exception_type()->name();
  std::free(name);
  return result;
}

// Runs code of the generator's author. Halide's errors are no std::exceptions, and an author may throw anything.
template <typename Step>
auto guarded(const std::string& generator, const char* step, const Step& run) {
  const auto fail = [&](const std::string& what) { return AlgorithmError(fmt::format("`{}`: {} threw {}", generator, step, what)); };
  try {
    return run();
  } catch (const Error&) {
    throw;
  } catch (const Halide::Error& error) {
    throw fail(trimmed(error.what()));
  } catch (const std::exception& error) {
    throw fail(fmt::format("{}: {}", current_exception_type(), error.what()));
  } catch (...) {
    throw fail(fmt::format("a value of type {}", current_exception_type()));
  }
}

std::unique_ptr<AbstractGenerator> create(const std::string& generator, const std::string& target, bool autoscheduled) {
  const std::vector<std::string> known = registered_generators();
  if (std::ranges::find(known, generator) == known.end())
    throw UsageError(fmt::format("there is no generator `{}`; registered are {}", generator, fmt::join(known, ", ")));
  return guarded(generator, "the constructor", [&] {
    const Halide::Target parsed(target);
    const Halide::GeneratorContext context =
        autoscheduled ? Halide::GeneratorContext(parsed, Halide::AutoschedulerParams{"kiln", {}}) : Halide::GeneratorContext(parsed);
    return Halide::Internal::GeneratorRegistry::create(generator, context);
  });
}

// A parameter's value as C++ source, as a user would write it on a command line.
std::string plain_text(const std::string& source) {
  if (source.size() >= 2 && source.front() == '"') return source.substr(1, source.size() - 2);
  if (source.starts_with("Enum_")) return source.substr(source.find("::") + 2);
  if (source == "LoopLevel::inlined()") return "inlined";
  if (source == "LoopLevel::root()") return "root";
  if (source.size() >= 2 && source.back() == 'f' && source.find_first_not_of("0123456789.+-e") == source.size() - 1) {
    const std::string number = source.substr(0, source.size() - 1);
    return number.back() == '.' ? number.substr(0, number.size() - 1) : number;
  }
  return source;
}

std::vector<GeneratorParamBase*> parameters_of(AbstractGenerator& generator) {
  auto* base = dynamic_cast<GeneratorBase*>(&generator);
  if (base == nullptr) return {};  // written in another language: its parameters cannot be asked for
  std::vector<GeneratorParamBase*> result;
  for (GeneratorParamBase* p : (base->*parameter_list())().generator_params())
    if (p->name() != "target" && p->name() != "autoscheduler") result.push_back(p);
  return result;
}

bool is_synthetic(const GeneratorParamBase& p) { return (p.*(&OpenParameter::is_synthetic_param))(); }

// A type is asked for itself: its source text cannot say bfloat16.
const Halide::Internal::GeneratorParamImpl<Halide::Type>* as_type(const GeneratorParamBase& p) {
  return is_synthetic(p) ? nullptr : dynamic_cast<const Halide::Internal::GeneratorParamImpl<Halide::Type>*>(&p);
}

std::string value_of(const GeneratorParamBase& p) {
  if (const auto* type = as_type(p)) return print(dtype_of(type->value(), fmt::format("GeneratorParam `{}`", p.name())));
  return plain_text((p.*(&OpenParameter::get_default_value))());
}

// The names of an enumeration's values: its declaration's lines between the braces.
std::vector<std::string> choices_of(const GeneratorParamBase& p) {
  const std::string source = (p.*(&OpenParameter::get_type_decls))();
  std::vector<std::string> choices;
  const std::size_t end = source.find('}');
  for (std::size_t at = source.find('{'); at != std::string::npos && at < end;) {
    const std::size_t start = source.find_first_not_of(" ,\n{", at);
    if (start == std::string::npos || start >= end) break;
    at = source.find_first_of(" ,\n}", start);
    choices.push_back(source.substr(start, at - start));
  }
  return choices;
}

// Does the C++ leave this open, so that the caller must say it?
bool is_open(GeneratorBase& generator, const std::string& synthetic) {
  const auto& list = (generator.*parameter_list())();
  const auto asks = [&](const GIOBase& argument) {
    const std::string& name = (argument.*(&OpenArgument::name))();
    if (synthetic == name + ".type") return !(argument.*(&OpenArgument::gio_types_defined))();
    if (synthetic == name + ".dim") return !(argument.*(&OpenArgument::dims_defined))();
    if (synthetic == name + ".size") return !(argument.*(&OpenArgument::array_size_defined))();
    return false;
  };
  for (const auto* input : list.inputs())
    if (asks(*input)) return true;
  for (const auto* output : list.outputs())
    if (asks(*output)) return true;
  return false;
}

std::string halide_type_name(const std::string& kiln_name) {
  const std::optional<DType> wanted = parse_dtype(kiln_name);
  if (!wanted) return kiln_name;
  for (const auto& [name, type] : Halide::Internal::get_halide_type_enum_map())
    if (!type.is_handle() && dtype_of(type, name) == *wanted) return name;
  return kiln_name;
}

std::optional<double> constant(const Halide::Expr& e) {
  if (!e.defined()) return std::nullopt;
  const Halide::Expr folded = Halide::Internal::simplify(e);
  if (const auto value = Halide::Internal::as_const_int(folded)) return static_cast<double>(*value);
  if (const auto value = Halide::Internal::as_const_uint(folded)) return static_cast<double>(*value);
  if (const auto value = Halide::Internal::as_const_float(folded)) return *value;
  return std::nullopt;
}

}  // namespace

std::optional<Interval> read_estimate(const Halide::Expr& min, const Halide::Expr& extent) {
  const std::optional<double> from = constant(min), size = constant(extent);
  if (!size) return std::nullopt;
  return Interval{static_cast<std::int64_t>(from.value_or(0)), static_cast<std::int64_t>(*size)};
}

std::optional<Interval> read_output_estimate(const Halide::Internal::Function& function, std::size_t component, int dimension) {
  const Halide::Parameter& buffer = function.output_buffers().at(component);
  if (const auto found = read_estimate(buffer.min_constraint_estimate(dimension), buffer.extent_constraint_estimate(dimension))) return found;
  for (const Halide::Internal::Bound& bound : function.schedule().estimates())
    if (bound.var == function.args()[static_cast<std::size_t>(dimension)]) return read_estimate(bound.min, bound.extent);
  return std::nullopt;
}

std::map<std::string, std::string> default_parameters(const std::string& generator, const std::string& target) {
  const auto instance = create(generator, target, true);
  auto* base = dynamic_cast<GeneratorBase*>(instance.get());
  std::map<std::string, std::string> result;
  if (base == nullptr) return result;
  guarded(generator, "configure()", [&] { (base->*(&OpenGenerator::ensure_configure_has_been_called))(); });
  for (const GeneratorParamBase* p : parameters_of(*instance)) {
    if (!is_synthetic(*p))
      result[p->name()] = value_of(*p);
    else if (is_open(*base, p->name()))
      result[p->name()] = "";
  }
  return result;
}

GeneratorRun::GeneratorRun(const std::string& generator, const std::map<std::string, std::string>& params, const std::string& target,
                           bool autoscheduled)
    : name_(generator), generator_(create(generator, target, autoscheduled)), given_(params) {
  if (dynamic_cast<GeneratorBase*>(generator_.get()) != nullptr) parameters_ = default_parameters(generator, target);
  for (const auto& [name, value] : params) set_parameter(name, value);
}

void GeneratorRun::set_parameter(const std::string& name, const std::string& value) {
  const auto known = parameters_.find(name);
  if (known == parameters_.end()) {
    std::vector<std::string> all;
    for (const auto& [other, text] : parameters_) all.push_back(fmt::format("{}={}", other, text));
    throw UsageError(fmt::format("`{}` has no GeneratorParam `{}`; it has {}", name_, name, all.empty() ? "none" : fmt::format("{}", fmt::join(all, ", "))));
  }
  const bool is_type = name.ends_with(".type") || parse_dtype(known->second).has_value();
  try {
    generator_->set_generatorparam_value(name, is_type ? halide_type_name(value) : value);
  } catch (const Halide::Error& error) {
    for (const GeneratorParamBase* p : parameters_of(*generator_))
      if (p->name() == name && !choices_of(*p).empty())
        throw UsageError(fmt::format("`{}` cannot take {}={}; it is one of {}", name_, name, value, fmt::join(choices_of(*p), ", ")));
    throw UsageError(fmt::format("`{}` cannot take {}={}: {}", name_, name, value, trimmed(error.what())));
  }
}

void GeneratorRun::generate() {
  auto* base = dynamic_cast<GeneratorBase*>(generator_.get());
  if (base == nullptr) {
    pipeline_ = guarded(name_, "build_pipeline()", [&] { return generator_->build_pipeline(); });
    return;
  }
  guarded(name_, "configure()", [&] { (base->*(&OpenGenerator::ensure_configure_has_been_called))(); });
  guarded(name_, "generate()", [&] {
    (base->*(&OpenGenerator::call_generate))();
    pipeline_ = (base->*(&OpenGenerator::get_pipeline))();
  });
}

void GeneratorRun::schedule() {
  if (auto* base = dynamic_cast<GeneratorBase*>(generator_.get()))
    guarded(name_, "schedule()", [&] { (base->*(&OpenGenerator::call_schedule))(); });
}

std::map<std::string, std::string> GeneratorRun::params() const {
  std::map<std::string, std::string> result;
  for (const GeneratorParamBase* p : parameters_of(*generator_)) {
    if (!parameters_.contains(p->name())) continue;
    const auto given = given_.find(p->name());
    if (!is_synthetic(*p))
      result[p->name()] = value_of(*p);
    else if (given != given_.end())
      result[p->name()] = given->second;
  }
  return result;
}

std::vector<Argument> GeneratorRun::arguments() const {
  std::vector<Argument> result;
  const std::vector<AbstractGenerator::ArgInfo> all = generator_->arginfos();
  for (const AbstractGenerator::ArgInfo& a : all)
    if (a.dir == Halide::Internal::ArgInfoDirection::Input) add_input(result, a);
  for (const AbstractGenerator::ArgInfo& a : all)
    if (a.dir == Halide::Internal::ArgInfoDirection::Output) add_output(result, a);
  return result;
}

void GeneratorRun::add_input(std::vector<Argument>& arguments, const AbstractGenerator::ArgInfo& input) const {
  for (const Halide::Parameter& p : generator_->input_parameter(input.name)) {
    Argument a;
    a.name = p.name();
    a.type = dtype_of(p.type(), fmt::format("input `{}` of `{}`", a.name, name_));
    a.is_scalar = !p.is_buffer();
    a.rank = a.is_scalar ? 0 : p.dimensions();
    for (int d = 0; d < a.rank; ++d) a.estimates.push_back(read_estimate(p.min_constraint_estimate(d), p.extent_constraint_estimate(d)));
    if (a.is_scalar) {
      a.scalar_estimate = constant(p.estimate());
      if (!a.scalar_estimate) a.scalar_estimate = constant(p.default_value());
    }
    arguments.push_back(std::move(a));
  }
}

void GeneratorRun::add_output(std::vector<Argument>& arguments, const AbstractGenerator::ArgInfo& output) const {
  const std::vector<Halide::Func> funcs = generator_->output_func(output.name);
  for (std::size_t i = 0; i < funcs.size(); ++i) {
    const Halide::Internal::Function function = funcs[i].function();
    const std::string element = funcs.size() == 1 ? output.name : fmt::format("{}_{}", output.name, i);
    for (std::size_t c = 0; c < function.output_types().size(); ++c) {
      Argument a;
      a.name = function.output_types().size() == 1 ? element : fmt::format("{}_{}", element, c);
      a.is_output = true;
      a.type = dtype_of(function.output_types()[c], fmt::format("output `{}` of `{}`", a.name, name_));
      a.rank = function.dimensions();
      for (int d = 0; d < a.rank; ++d) a.estimates.push_back(read_output_estimate(function, c, d));
      arguments.push_back(std::move(a));
    }
  }
}

}  // namespace kiln
