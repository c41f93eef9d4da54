#include "generators/cuda/launch_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "dsl/error.h"

namespace kiln {

// Found by the JSON library beside the types.
static void to_json(nlohmann::json& json, const Axis& place) { json = {{"argument", place.argument}, {"dimension", place.dimension}}; }
static void from_json(const nlohmann::json& json, Axis& place) {
  json.at("argument").get_to(place.argument);
  json.at("dimension").get_to(place.dimension);
}
static void to_json(nlohmann::json& json, const DType& type) { json = print(type); }
static void from_json(const nlohmann::json& json, DType& type) {
  const auto parsed = parse_dtype(json.get<std::string>());
  if (!parsed) throw DataError("a launch record names no type: " + json.dump());
  type = *parsed;
}

}  // namespace kiln

namespace kiln::generators::cuda {

NLOHMANN_JSON_SERIALIZE_ENUM(LaunchParameter::Kind, {{LaunchParameter::Kind::buffer, "buffer"},
                                                     {LaunchParameter::Kind::scalar, "scalar"},
                                                     {LaunchParameter::Kind::count32, "count32"},
                                                     {LaunchParameter::Kind::count64, "count64"},
                                                     {LaunchParameter::Kind::map, "map"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Length, place, constant)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TensorTile, box, swizzle_bytes, l2_promotion_bytes)

// What only some parameters and kernels have stands in their records alone: those of the others are as they always were.
static void to_json(nlohmann::json& json, const LaunchParameter& parameter) {
  json = {{"kind", parameter.kind}, {"name", parameter.name}, {"type", parameter.type}, {"counts", parameter.counts}};
  if (parameter.kind == LaunchParameter::Kind::map) json["tile"] = parameter.tile;
}
static void from_json(const nlohmann::json& json, LaunchParameter& parameter) {
  json.at("kind").get_to(parameter.kind);
  json.at("name").get_to(parameter.name);
  json.at("type").get_to(parameter.type);
  json.at("counts").get_to(parameter.counts);
  if (parameter.kind == LaunchParameter::Kind::map) json.at("tile").get_to(parameter.tile);
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GridFactor, lengths, per_block)
static void to_json(nlohmann::json& json, const KernelLaunch& kernel) {
  json = {{"name", kernel.name},          {"threads", kernel.threads}, {"cluster", kernel.cluster}, {"shared_bytes", kernel.shared_bytes}, {"is_dependent", kernel.is_dependent},
          {"grid", kernel.grid}, {"parameters", kernel.parameters}};
  if (kernel.blocks_per_sm > 0) json["blocks_per_sm"] = kernel.blocks_per_sm;
}
static void from_json(const nlohmann::json& json, KernelLaunch& kernel) {
  json.at("name").get_to(kernel.name);
  json.at("threads").get_to(kernel.threads);
  json.at("cluster").get_to(kernel.cluster);
  json.at("shared_bytes").get_to(kernel.shared_bytes);
  json.at("is_dependent").get_to(kernel.is_dependent);
  json.at("grid").get_to(kernel.grid);
  json.at("parameters").get_to(kernel.parameters);
  kernel.blocks_per_sm = json.value("blocks_per_sm", 0);
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(IntermediateBuffer, name, lengths, element_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LaunchGuard, length, multiple, at_most, exactly)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LaunchRecord, kernels, intermediates, guards, alignment_bytes)

namespace {

std::int64_t value_of(const Length& length, const Extents& extents) { return length.place.argument.empty() ? length.constant : extents(length.place); }

Length length_of(const KernelAxis& axis) {
  if (axis.source.argument.empty()) return {{}, axis.extent};
  return {axis.source, 0};
}

std::vector<Length> lengths(const Computation& computation, std::size_t from) {
  std::vector<Length> result;
  for (std::size_t i = from; i < computation.axes.size(); ++i) result.push_back(length_of(computation.axes[i]));
  return result;
}

LaunchParameter parameter_of(const KernelParameter& parameter, const Computation& computation) {
  using Kind = LaunchParameter::Kind;
  switch (parameter.kind) {
    case KernelParameter::Kind::operand: return {Kind::buffer, computation.operands[static_cast<std::size_t>(parameter.place)].buffer, {}, {}};
    case KernelParameter::Kind::scalar: {
      const Scalar& scalar = computation.scalars[static_cast<std::size_t>(parameter.place)];
      return {Kind::scalar, scalar.name, scalar.type, {}};
    }
    case KernelParameter::Kind::columns: return {Kind::count32, {}, {}, {length_of(computation.axes.front())}};
    case KernelParameter::Kind::terms: return {Kind::count32, {}, {}, {length_of(*computation.terms)}};
    case KernelParameter::Kind::rows: return {Kind::count32, {}, {}, lengths(computation, 1)};
    case KernelParameter::Kind::elements: return {Kind::count64, {}, {}, lengths(computation, 0)};
  }
  KILN_CHECK(false, "a kernel's parameter of no kind");
}

std::vector<GridFactor> grid_of(const StreamPlan& plan) {
  const Computation& computation = plan.computation;
  switch (plan.shape) {
    case StreamPlan::Shape::flat: return {{lengths(computation, 0), std::int64_t{plan.threads} * plan.vector * plan.accesses}};
    case StreamPlan::Shape::rows: return {{lengths(computation, 1), plan.rows_per_block}};
    case StreamPlan::Shape::dots: return {{{length_of(computation.axes[0])}, std::int64_t{plan.columns_per_team} * plan.teams}};
    case StreamPlan::Shape::strips: return {{{length_of(computation.axes[0])}, std::int64_t{plan.lanes} * plan.vector}};
    case StreamPlan::Shape::turned: return {{{length_of(computation.axes[0])}, plan.tile_columns}, {{length_of(computation.axes[1])}, plan.tile_rows}};
  }
  KILN_CHECK(false, "a plan of no shape");
}

std::vector<GridFactor> grid_of(const RingPlan& plan) { return {{{length_of(plan.axis_of_p())}, plan.p.tile}, {{length_of(plan.axis_of_q())}, plan.q.tile}}; }

LaunchParameter parameter_of(const TensorMapPlan& map, const Computation& computation) {
  const Operand& operand = computation.operands[static_cast<std::size_t>(map.operand)];
  LaunchParameter parameter{LaunchParameter::Kind::map, operand.buffer, operand.type, {}, {map.box, map.swizzle_bytes, map.l2_promotion_bytes}};
  for (const KernelAxis& axis : map.extents) parameter.counts.push_back(length_of(axis));
  return parameter;
}

LaunchParameter constant_of(LaunchParameter::Kind kind, std::int64_t value) { return {kind, {}, {}, {{{}, value}}}; }

// L2's policy in the encoding that createpolicy.fractional gives for a whole access: generators/cuda/device/copies.cuh.
std::int64_t hint_of(const RingSide& side) { return side.is_evicted_first ? 0x12F0000000000000 : 0x1000000000000000; }

// In the order in which emit_ring declares them.
std::vector<LaunchParameter> parameters_of(const RingPlan& plan, const KernelText& text) {
  std::vector<LaunchParameter> parameters;
  for (const TensorMapPlan& map : plan.maps()) parameters.push_back(parameter_of(map, plan.computation));
  for (const KernelParameter& parameter : text.parameters) parameters.push_back(parameter_of(parameter, plan.computation));
  parameters.push_back(constant_of(LaunchParameter::Kind::count32, plan.raster_group));
  for (const RingSide* side : {&plan.p, &plan.q}) parameters.push_back(constant_of(LaunchParameter::Kind::count64, hint_of(*side)));
  return parameters;
}

KernelLaunch launch_of(const Kernel& kernel) {
  const KernelPlan& plan = kernel.plan;
  KernelLaunch launch{kernel.text.name, plan.threads(), plan.cluster(), plan.shared_bytes(), plan.is_dependent(), {}, {}};
  if (const RingPlan* ring = plan.ring()) {
    launch.grid = grid_of(*ring);
    launch.parameters = parameters_of(*ring, kernel.text);
    if (ring->is_persistent) launch.blocks_per_sm = std::max(1, ring->blocks_per_sm);
    return launch;
  }
  launch.grid = grid_of(*plan.stream());
  for (const KernelParameter& parameter : kernel.text.parameters) launch.parameters.push_back(parameter_of(parameter, plan.computation()));
  return launch;
}

// Rows and columns that accesses of several elements, constants of the text and the plan's registers presuppose.
void add_guards(std::vector<LaunchGuard>& guards, const StreamPlan& plan) {
  const Computation& computation = plan.computation;
  const Length columns = length_of(computation.axes.front());
  switch (plan.shape) {
    case StreamPlan::Shape::flat: return;
    case StreamPlan::Shape::rows:
      // A thread keeps so many vectors: longer rows would not be covered.
      guards.push_back({columns, plan.vector, plan.accesses * plan.columns_per_access(), plan.has_fixed_columns ? computation.columns() : 0});
      return;
    case StreamPlan::Shape::dots:
    case StreamPlan::Shape::strips:
      guards.push_back({plan.shape == StreamPlan::Shape::dots ? length_of(*computation.terms) : columns, plan.vector, 0, 0});
      if (plan.shape == StreamPlan::Shape::strips) guards.push_back({length_of(*computation.terms), plan.accesses, 0, 0});
      guards.push_back({length_of(computation.axes[1]), 1, plan.rows_at_once, 0});
      return;
    case StreamPlan::Shape::turned:
      guards.push_back({columns, plan.vector, 0, 0});
      guards.push_back({length_of(computation.axes[1]), plan.vector, 0, 0});
      return;
  }
}

// Rows of what is copied in tiles begin at multiples of 16 bytes.
void add_guards(std::vector<LaunchGuard>& guards, const RingPlan& plan) {
  for (const TensorMapPlan& map : plan.maps()) {
    const LaunchGuard guard{length_of(map.extents.front()), 16 / plan.computation.operands[static_cast<std::size_t>(map.operand)].type.bytes(), 0, 0};
    if (std::find(guards.begin(), guards.end(), guard) == guards.end()) guards.push_back(guard);
  }
}

}  // namespace

LaunchRecord launch_record(const Program& program) {
  LaunchRecord record;
  for (const Kernel& kernel : program.kernels) {
    record.kernels.push_back(launch_of(kernel));
    if (const RingPlan* ring = kernel.plan.ring()) {
      add_guards(record.guards, *ring);
    } else {
      add_guards(record.guards, *kernel.plan.stream());
    }
  }
  for (const Intermediate& between : program.intermediates) {
    IntermediateBuffer buffer{between.name, {}, between.type.bytes()};
    for (const KernelAxis& axis : between.dimensions) buffer.lengths.push_back(length_of(axis));
    record.intermediates.push_back(std::move(buffer));
  }
  return record;
}

Extents extents_by_argument(const Algorithm& algorithm, const std::vector<std::vector<std::int64_t>>& extents) {
  return [&algorithm, &extents](const Axis& place) {
    for (std::size_t i = 0; i < algorithm.arguments.size(); ++i)
      if (algorithm.arguments[i].name == place.argument) return extents[i][static_cast<std::size_t>(place.dimension)];
    throw DataError("a launch record speaks of an argument that the algorithm lacks: " + place.argument);
  };
}

std::int64_t product(const std::vector<Length>& lengths, const Extents& extents) {
  std::int64_t result = 1;
  for (const Length& length : lengths) result *= value_of(length, extents);
  return result;
}

std::int64_t blocks(const KernelLaunch& kernel, const Extents& extents, int sms) {
  std::int64_t result = kernel.cluster;
  for (const GridFactor& factor : kernel.grid) result *= (product(factor.lengths, extents) + factor.per_block - 1) / factor.per_block;
  return kernel.blocks_per_sm > 0 ? std::min(result, std::int64_t{sms} * kernel.blocks_per_sm) : result;
}

std::int64_t bytes(const IntermediateBuffer& buffer, const Extents& extents) { return product(buffer.lengths, extents) * buffer.element_bytes; }

LaunchGuard guard_of(const LaunchRecord& record, const std::vector<Axis>& places) {
  LaunchGuard all;
  for (const LaunchGuard& guard : record.guards) {
    if (std::find(places.begin(), places.end(), guard.length.place) == places.end()) continue;
    all.multiple = std::lcm(all.multiple, guard.multiple);
    if (guard.at_most > 0) all.at_most = all.at_most > 0 ? std::min(all.at_most, guard.at_most) : guard.at_most;
    if (guard.exactly > 0) all.exactly = guard.exactly;
  }
  return all;
}

std::optional<std::string> find_unmet(const LaunchRecord& record, const Extents& extents) {
  for (const LaunchGuard& guard : record.guards) {
    const std::int64_t length = value_of(guard.length, extents);
    const std::string is = fmt::format("{}.{} is {}", guard.length.place.argument, guard.length.place.dimension, length);
    if (guard.exactly > 0 && length != guard.exactly) return fmt::format("{}, and the kernel is for {}", is, guard.exactly);
    if (guard.at_most > 0 && length > guard.at_most) return fmt::format("{}, more than the {} that its threads cover", is, guard.at_most);
    if (length % guard.multiple != 0) return fmt::format("{}, no multiple of {}", is, guard.multiple);
  }
  return std::nullopt;
}

std::string print(const LaunchRecord& record) { return nlohmann::json(record).dump(); }

LaunchRecord parse_launch_record(std::string_view text) {
  try {
    return nlohmann::json::parse(text).get<LaunchRecord>();
  } catch (const nlohmann::json::exception& error) {
    throw DataError(std::string("a launch record cannot be read: ") + error.what());
  }
}

}  // namespace kiln::generators::cuda
