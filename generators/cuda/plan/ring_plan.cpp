#include "generators/cuda/plan/ring_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "generators/cuda/resources/spelling.h"

namespace kiln::generators::cuda {
namespace {

constexpr int kWordBytes = 4;
constexpr int kRow = 128;       // bytes of the longest row that a swizzle spans
constexpr int kLeastSwizzle = 32;  // and of the shortest

// Consumers that keep so many sums need all that setmaxnreg can give them.
constexpr std::int64_t kManySums = 192;

// Those of three consumers, or of one where blocks share an SM, are fewer: most_accumulators in resources/registers.h, less what two groups at once add there.
constexpr int kSumsOfThree = 144, kSumsOfTwoBlocks = 80;
constexpr int kRegisters = 65536;  // of an SM

}  // namespace

bool RingPlan::reads_beside_products() const {
  return std::any_of(computation.operands.begin(), computation.operands.end(), [this](const Operand& one) {
    const auto place = static_cast<int>(&one - computation.operands.data());
    return !one.is_written && std::count(p.operands.begin(), p.operands.end(), place) + std::count(q.operands.begin(), q.operands.end(), place) == 0;
  });
}

// While one group is added up the next is multiplied. On an H200 a tile of 128×128 with steps of 256 terms took 0.91 of the time so, one of 256×96 0.90.
int RingPlan::groups_under_way() const {
  const int begun_with = blocks_per_sm > 1 ? kRegisters / (blocks_per_sm * threads()) / 8 * 8 : 0;
  const int most = blocks_per_sm > 1 ? std::min(kSumsOfTwoBlocks, resources::most_accumulators(begun_with)) : consumers == 3 ? kSumsOfThree : static_cast<int>(kManySums);
  const int sums = instructions_high() * q.rows() / 2;
  return groups() > 1 && sums + 2 * q.rows() / 2 <= most ? 2 : 1;
}

// The widest of 128 to 16 columns that divides the tile, at most 128 bytes; swapped, any number of rows.
int RingPlan::chunk() const {
  if (is_swapped) return q.tile % 64 == 0 ? 64 : q.tile % 32 == 0 ? 32 : q.tile;
  for (const int width : {128, 64, 32})
    if (width * output().type.bytes() <= kRow && q.tile % width == 0) return width;
  return 16;
}

int RingPlan::store_row_bytes() const { return (is_swapped ? 64 : chunk()) * output().type.bytes(); }

int RingPlan::store_swizzle_bytes() const { return store_row_bytes() < kLeastSwizzle || store_row_bytes() > kRow ? 0 : store_row_bytes(); }

resources::Roles RingPlan::roles() const {
  resources::Roles roles{.consumers = consumers, .is_pingpong = is_pingpong, .blocks_per_sm = std::max(1, blocks_per_sm)};
  const bool has_many = resources::accumulators(tile(), roles) + temporaries() >= kManySums;
  if (consumers == 3) {
    roles.producer_registers = 32, roles.consumer_registers = 160;
  } else if (has_many) {
    roles.producer_registers = 24, roles.consumer_registers = 240;
  }
  return roles;
}

RingMap RingPlan::map() const {
  RingMap map;
  const std::int64_t bytes = element_bytes();
  map.p_bytes = p.rows() * depth * bytes;
  map.q_bytes = q.rows() * depth * bytes;
  map.buffer_bytes = std::int64_t{64} * chunk() * output().type.bytes();
  map.at_q = stages * map.p_bytes;
  map.at_store = map.at_q + resources::rounded_up(stages * map.q_bytes, 1024);
  map.at_full = map.at_store + resources::rounded_up(ring().store_bytes, 1024);
  map.at_empty = map.at_full + 8 * stages;
  return map;
}

resources::Ring RingPlan::ring() const {
  return {.tile = tile(),
          .element_bytes = element_bytes(),
          .stages = stages,
          .store_bytes = std::int64_t{consumers} * store_buffers * 64 * chunk() * output().type.bytes()};
}

std::int64_t RingPlan::tiles() const { return resources::divided_up(axis_of_p().extent, p.tile) * resources::divided_up(axis_of_q().extent, q.tile); }

std::int64_t RingPlan::blocks(int sms) const {
  if (is_persistent) return std::min<std::int64_t>(tiles(), std::int64_t{sms} * std::max(1, blocks_per_sm));
  return tiles() * parts;
}

std::int64_t RingPlan::bytes_in_flight_of_a_block() const { return stages * resources::stage_bytes(ring()); }

std::vector<TensorMapPlan> RingPlan::maps() const {
  std::vector<TensorMapPlan> maps;
  const auto add_side = [&](const RingSide& side, const KernelAxis& axis) {
    for (const int place : side.operands) {
      TensorMapPlan map{.operand = place, .extents = {}, .box = {}, .l2_promotion_bytes = side.l2_promotion_bytes};
      map.extents = side.has_terms_inside ? std::vector{*computation.terms, axis} : std::vector{axis, *computation.terms};
      map.box = {line(), side.has_terms_inside ? side.tile : depth};
      maps.push_back(std::move(map));
    }
  };
  add_side(p, axis_of_p());
  add_side(q, axis_of_q());
  TensorMapPlan out{.operand = computation.outputs.front().operand, .extents = computation.axes, .box = {}, .swizzle_bytes = store_swizzle_bytes()};
  out.box = is_swapped ? std::vector{64, chunk()} : std::vector{chunk(), 64};
  maps.push_back(std::move(out));
  return maps;
}

std::string print_kernel(const RingPlan& plan) {
  std::string text = fmt::format("ring {}×{}×{}, {} stages, {} consumer{}", plan.p.tile, plan.q.tile, plan.depth, plan.stages, plan.consumers, plan.consumers == 1 ? "" : "s");
  if (plan.is_pingpong) text += " in turn";
  if (plan.products() > 1) text += fmt::format(", {} products", plan.products());
  if (plan.is_swapped) text += ", swapped";
  if (plan.keeps_sums) text += ", plain sums";
  if (plan.parts > 1) text += fmt::format(", {} parts", plan.parts);
  text += fmt::format(", {} store buffer{} of {}", plan.store_buffers, plan.store_buffers == 1 ? "" : "s", plan.chunk());
  if (plan.raster_along_q) text += ", groups along q";
  if (plan.blocks_per_sm > 0) text += fmt::format(", {} blocks an SM", plan.blocks_per_sm);
  return text;
}

std::string print(const RingPlan& plan) {
  std::string text = print_kernel(plan);
  if (plan.is_persistent) text += ", persistent";
  if (plan.is_dependent) text += ", dependent";
  text += fmt::format(", {} tiles in groups of {}", plan.tiles(), plan.raster_group);
  for (const RingSide* side : {&plan.p, &plan.q})
    for (std::size_t product = 0; product < side->operands.size(); ++product)
      text += fmt::format(", {} by {} bytes{}", plan.operand(*side, product).name, side->l2_promotion_bytes, side->is_evicted_first ? " evicted first" : "");
  return text + fmt::format(", shared {}\n", plan.shared_bytes());
}

}  // namespace kiln::generators::cuda
