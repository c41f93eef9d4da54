// halide_buffer_t over plain memory, the bounds query, and its answer in words.
#include "generators/host/call.h"

#include <cstring>
#include <limits>

#include "dsl/element.h"
#include "dsl/error.h"
#include "generators/host/loaded.h"

namespace kiln::generators::host {
namespace {

halide_type_code_t code_of(TypeClass kind) {
  switch (kind) {
    case TypeClass::signed_int: return halide_type_int;
    case TypeClass::unsigned_int: return halide_type_uint;
    case TypeClass::ieee_float: return halide_type_float;
    case TypeClass::brain_float: return halide_type_bfloat;
  }
  KILN_CHECK(false, "a type class that no case names");
}

std::int32_t in_int32(std::int64_t value, const std::string& what) {
  if (value < 0 || value > std::numeric_limits<std::int32_t>::max())
    throw UsageError(what + " is " + std::to_string(value) + "; Halide's buffers count in 32 bits, up to " +
                     std::to_string(std::numeric_limits<std::int32_t>::max()));
  return static_cast<std::int32_t>(value);
}

}  // namespace

halide_type_t halide_type(DType type) { return halide_type_t(code_of(type.kind), static_cast<std::uint8_t>(type.bits), 1); }

void store_scalar(DType type, double value, void* to) {
  std::memset(to, 0, sizeof(std::uint64_t));
  store_element(static_cast<std::byte*>(to), type, value);
}

std::vector<std::vector<std::int64_t>> extents_of(const Algorithm& algorithm, const Problem& problem) {
  std::vector<std::vector<std::int64_t>> out;
  for (const Argument& argument : algorithm.arguments) {
    out.emplace_back();
    for (int d = 0; !argument.is_scalar && d < argument.rank; ++d) out.back().push_back(extent_of(problem, algorithm, argument.name, d));
  }
  return out;
}

Call::Call(const Algorithm& algorithm, const std::vector<std::vector<std::int64_t>>& extents, const std::vector<void*>& pointers,
           const std::vector<DType>& element_types) {
  const std::size_t count = algorithm.arguments.size();
  KILN_CHECK(extents.size() == count && pointers.size() == count && (element_types.empty() || element_types.size() == count),
             "a call of " + algorithm.generator + " needs " + std::to_string(count) + " arguments");
  buffers_.resize(count);
  dimensions_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Argument& argument = algorithm.arguments[i];
    if (argument.is_scalar) {
      argv_.push_back(pointers[i]);
      continue;
    }
    std::int64_t stride = 1;
    for (std::size_t d = 0; d < extents[i].size(); ++d) {
      const std::string where = argument.name + "." + std::to_string(d);
      dimensions_[i].emplace_back(0, in_int32(extents[i][d], "the extent of " + where), in_int32(stride, "the stride of " + where));
      stride *= extents[i][d];
    }
    halide_buffer_t& buffer = buffers_[i];
    buffer = {};
    buffer.host = static_cast<std::uint8_t*>(pointers[i]);
    buffer.type = halide_type(element_types.empty() ? argument.type : element_types[i]);
    buffer.dimensions = static_cast<std::int32_t>(extents[i].size());
    buffer.dim = dimensions_[i].data();
    argv_.push_back(&buffer);
  }
}

halide_buffer_t& Call::buffer(std::size_t argument) {
  KILN_CHECK(argument < buffers_.size() && argv_[argument] == &buffers_[argument], "argument " + std::to_string(argument) + " is no buffer");
  return buffers_[argument];
}

std::vector<DType> reference_types(const Algorithm& algorithm) {
  std::vector<DType> types;
  for (const Argument& argument : algorithm.arguments) types.push_back(argument.is_output && argument.type.is_float() ? kFloat64 : argument.type);
  return types;
}

std::vector<std::vector<Interval>> required_regions(const Loaded& build, const Algorithm& algorithm, const std::vector<std::vector<std::int64_t>>& extents,
                                                    const std::vector<DType>& element_types) {
  // Scalars take part in a bounds query by value: their estimate, else zero. Eight bytes serve any type.
  std::vector<std::uint64_t> scalars(algorithm.arguments.size(), 0);
  std::vector<void*> pointers;
  for (std::size_t i = 0; i < algorithm.arguments.size(); ++i) {
    const Argument& argument = algorithm.arguments[i];
    if (argument.is_scalar) store_scalar(argument.type, argument.scalar_estimate.value_or(0), &scalars[i]);
    pointers.push_back(argument.is_scalar ? &scalars[i] : nullptr);
  }
  Call call(algorithm, extents, pointers, element_types);
  if (const int code = build(call.argv()); code != 0)
    throw Error("the bounds query of " + algorithm.generator + " failed with Halide's code " + std::to_string(code));
  std::vector<std::vector<Interval>> regions(algorithm.arguments.size());
  for (std::size_t i = 0; i < regions.size(); ++i)
    for (std::size_t d = 0; d < extents[i].size(); ++d) {
      const halide_dimension_t& dimension = call.buffer(i).dim[d];
      regions[i].push_back({.min = dimension.min, .extent = dimension.extent});
    }
  return regions;
}

std::optional<std::string> find_shortfall(const std::vector<std::vector<Interval>>& required, const Algorithm& algorithm,
                                          const std::vector<std::vector<std::int64_t>>& extents) {
  for (std::size_t i = 0; i < required.size(); ++i) {
    const Argument& argument = algorithm.arguments[i];
    const std::string name = (argument.is_output ? "output " : "input ") + argument.name;
    for (std::size_t d = 0; d < required[i].size(); ++d) {
      const Interval& region = required[i][d];
      const std::string dimension = " in dimension " + std::to_string(d);
      if (region.extent > 0 && region.min < 0)
        return name + " needs to start at " + std::to_string(region.min) + dimension + ", starts at 0";
      if (region.extent > 0 && region.min + region.extent > extents[i][d])
        return name + " needs extent " + std::to_string(region.min + region.extent) + dimension + ", has " + std::to_string(extents[i][d]);
    }
  }
  return std::nullopt;
}

}  // namespace kiln::generators::host
