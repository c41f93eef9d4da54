#include "generators/cuda/ring_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "generators/cuda/resources/cluster.h"
#include "generators/cuda/resources/registers.h"
#include "generators/cuda/resources/ring.h"
#include "generators/cuda/resources/tensor_box.h"

namespace kiln::generators::cuda {
namespace {

std::optional<Rejection> find_illegal_copy(const RingPlan& plan, const Gpu& gpu) {
  for (const TensorMapPlan& map : plan.maps()) {
    const int bytes = plan.computation.operands[static_cast<std::size_t>(map.operand)].type.bytes();
    resources::TensorBox box{.element_bytes = bytes, .extents = {}, .pitches_bytes = {}, .box = {map.box.begin(), map.box.end()}, .swizzle_bytes = map.swizzle_bytes};
    for (const KernelAxis& axis : map.extents) box.extents.push_back(axis.extent);
    box.pitches_bytes = {box.extents[0] * bytes};
    if (auto rejection = resources::find_illegal_box(box, gpu)) return rejection;
  }
  return std::nullopt;
}

// Of one consumer nothing is dealt out: it has what the block begins with.
std::optional<Rejection> find_without_registers(const RingPlan& plan, const Gpu& gpu) {
  resources::Roles roles = plan.roles();
  if (plan.consumers > 1) {
    if (auto rejection = resources::find_illegal_roles(roles, gpu)) return rejection;
  } else {
    roles.consumer_registers = resources::entry_registers(plan.threads(), gpu, roles.blocks_per_sm);
  }
  auto rejection = resources::find_illegal_wgmma(plan.q.rows(), roles, gpu);
  if (!rejection) rejection = resources::find_overfull(plan.tile(), roles, plan.temporaries());
  if (rejection && plan.products() > 1) rejection->text += fmt::format(" {} counts the columns of both products.", plan.is_swapped ? "m" : "n");
  return rejection;
}

}  // namespace

std::optional<Rejection> find_unfit(const RingPlan& plan, const Gpu& gpu) {
  if (gpu.capability_major != 9)
    return Rejection{.reason = Reason::schedule_error, .asked = {}, .allowed = {}, .text = fmt::format("wgmma is an instruction of compute capability 9.0; {} has {}.{}", gpu.arch,
                                                                                                      gpu.capability_major, gpu.capability_minor)};
  if (auto rejection = find_without_registers(plan, gpu)) return rejection;
  if (auto rejection = resources::find_too_deep(plan.ring(), gpu, std::max(1, plan.blocks_per_sm))) return rejection;
  if (plan.parts > 1)
    if (auto rejection = resources::find_illegal_cluster({plan.parts, 1}, plan.parts, 1, gpu)) return rejection;
  return find_illegal_copy(plan, gpu);
}

}  // namespace kiln::generators::cuda
