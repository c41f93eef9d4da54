// The list of registrations, and what they do to an algorithm.

#include "dsl/registration.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include "dsl/error.h"

namespace kiln {
namespace {

std::map<std::string, Registration>& registrations() {
  static std::map<std::string, Registration> all;  // filled by constructors of static objects, so made on first use
  return all;
}

const Argument* find_argument(const Algorithm& algorithm, const std::string& name) {
  const auto found = std::ranges::find(algorithm.arguments, name, &Argument::name);
  return found == algorithm.arguments.end() ? nullptr : &*found;
}

Axis parse_axis(const std::string& text, const std::string& generator, const std::string& symbol) {
  const std::size_t dot = text.rfind('.');
  Axis axis{text.substr(0, dot), -1};
  if (dot != std::string::npos) std::from_chars(text.data() + dot + 1, text.data() + text.size(), axis.dimension);
  if (axis.argument.empty() || axis.dimension < 0)
    throw AlgorithmError(fmt::format("`{}` registers symbol {} at '{}'; an axis is written argument.dimension, as in A.1", generator, symbol, text));
  return axis;
}

// The axes of one symbol that exist under these GeneratorParams.
std::vector<Axis> existing_axes(const Algorithm& algorithm, const std::string& symbol, const std::string& text) {
  std::vector<Axis> axes;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const Axis axis = parse_axis(word, algorithm.generator, symbol);
    const Argument* argument = find_argument(algorithm, axis.argument);
    if (argument == nullptr) continue;
    if (axis.dimension >= argument->rank)
      throw AlgorithmError(fmt::format("`{}` registers symbol {} at {}.{}, but `{}` has {} dimensions", algorithm.generator, symbol,
                                       axis.argument, axis.dimension, axis.argument, argument->rank));
    axes.push_back(axis);
  }
  return axes;
}

void add_symbol(Algorithm& algorithm, const std::string& symbol, std::vector<Axis> axes) {
  if (axes.empty()) return;
  algorithm.symbol_order.push_back(symbol);
  algorithm.symbols[symbol] = std::move(axes);
}

void add_remaining_axes(Algorithm& algorithm) {
  std::set<Axis> named;
  for (const auto& [symbol, axes] : algorithm.symbols) named.insert(axes.begin(), axes.end());
  for (const Argument& argument : algorithm.arguments)
    for (int d = 0; d < argument.rank; ++d)
      if (!named.contains({argument.name, d})) add_symbol(algorithm, fmt::format("{}.{}", argument.name, d), {{argument.name, d}});
}

}  // namespace

Registration& Registration::symbol(std::string name, std::string axes) {
  symbols_.emplace_back(std::move(name), std::move(axes));
  return *this;
}

Registration& Registration::type_param(std::string name) {
  type_param_ = std::move(name);
  return *this;
}

Registration& Registration::optional_type_param(std::string name) {
  leaves_out_default_type_ = true;
  return type_param(std::move(name));
}

Registration& Registration::contract(Contract contract) {
  contract_ = contract;
  return *this;
}

Registration& Registration::contract_where(std::string param, std::string value, Contract contract) {
  contracts_where_.push_back({std::move(param), std::move(value), contract});
  return *this;
}

Registration& Registration::range(std::string input, double from, double to) {
  ranges_[std::move(input)] = {from, to};
  return *this;
}

Registration& Registration::values(std::string input, std::vector<double> values) {
  values_[std::move(input)] = std::move(values);
  return *this;
}

Registration& Registration::outlier_fraction(double fraction) {
  outlier_fraction_ = fraction;
  return *this;
}

Registration& Registration::space(SpaceFunction space) {
  space_ = std::move(space);
  return *this;
}

Registration& register_operator(const std::string& generator) { return registrations()[generator]; }

void apply_registration(Algorithm& algorithm) {
  algorithm.symbols.clear();
  algorithm.symbol_order.clear();
  if (const auto found = registrations().find(algorithm.generator); found != registrations().end()) {
    const Registration& r = found->second;
    for (const auto& [symbol, axes] : r.symbols_) add_symbol(algorithm, symbol, existing_axes(algorithm, symbol, axes));
    algorithm.type_param = r.type_param_;
    algorithm.leaves_out_default_type = r.leaves_out_default_type_;
    algorithm.contract = r.contract_;
    for (const auto& where : r.contracts_where_) {
      const auto param = algorithm.params.find(where.param);
      if (param == algorithm.params.end())
        throw AlgorithmError(fmt::format("`{}` registers a contract where {}={}, but has no GeneratorParam {}", algorithm.generator, where.param, where.value, where.param));
      if (param->second == where.value) algorithm.contract = where.contract;
    }
    algorithm.outlier_fraction = r.outlier_fraction_;
    for (Argument& argument : algorithm.arguments) {
      if (const auto range = r.ranges_.find(argument.name); range != r.ranges_.end()) argument.range = range->second;
      if (const auto values = r.values_.find(argument.name); values != r.values_.end()) argument.values = values->second;
    }
  }
  add_remaining_axes(algorithm);
}

std::string registered_type_param(const std::string& generator) {
  const auto found = registrations().find(generator);
  return found == registrations().end() ? "" : found->second.type_param_;
}

const SpaceFunction* registered_space(const std::string& generator) {
  const auto found = registrations().find(generator);
  return found == registrations().end() || !found->second.space_ ? nullptr : &found->second.space_;
}

}  // namespace kiln
