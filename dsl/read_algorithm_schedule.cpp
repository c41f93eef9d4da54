#include "dsl/read_algorithm_schedule.h"

#include <algorithm>
#include <string>

namespace kiln {
namespace {

using namespace Halide::Internal;

bool is_at(const Halide::LoopLevel& level, const Halide::LoopLevel& where) {
  return level.func_name() == where.func_name() && level.var_name() == where.var_name();
}

bool is_inlined(const FuncSchedule& schedule) {
  const Halide::LoopLevel inlined = Halide::LoopLevel::inlined();
  return is_at(schedule.compute_level(), inlined) && is_at(schedule.store_level(), inlined);
}

bool is_root(const FuncSchedule& schedule) {
  const Halide::LoopLevel root = Halide::LoopLevel::root();
  return is_at(schedule.compute_level(), root) && is_at(schedule.store_level(), root);
}

bool has_default_storage(const Function& function) {
  const FuncSchedule& schedule = function.schedule();
  if (schedule.memory_type() != Halide::MemoryType::Auto || !schedule.bounds().empty() || !schedule.wrappers().empty()) return false;
  for (std::size_t d = 0; d < schedule.storage_dims().size(); ++d) {
    const StorageDim& dim = schedule.storage_dims()[d];
    if (dim.var != function.args()[d] || dim.alignment.defined() || dim.bound.defined() || dim.fold_factor.defined()) return false;
  }
  return true;
}

// Loops as a definition starts with them: reduction variables innermost, then the pure loops it has, all serial.
bool has_default_loops(const Function& function, const Definition& definition) {
  std::vector<std::string> order;
  for (const Halide::Internal::ReductionVariable& r : definition.schedule().rvars()) order.push_back(r.var);
  order.insert(order.end(), function.args().begin(), function.args().end());
  order.push_back(Halide::Var::outermost().name());
  auto from = order.begin();
  for (const Dim& dim : definition.schedule().dims()) {
    const auto found = std::find(from, order.end(), dim.var);
    const bool is_plain =
        dim.for_type == ForType::Serial && dim.device_api == Halide::DeviceAPI::None && dim.partition_policy == Halide::Partition::Auto;
    if (found == order.end() || !is_plain) return false;
    from = found + 1;
  }
  return true;
}

bool has_default_schedule(const Function& function, const Definition& definition) {
  const StageSchedule& schedule = definition.schedule();
  return schedule.splits().empty() && schedule.prefetches().empty() && schedule.fused_pairs().empty() && !schedule.atomic() &&
         !schedule.allow_race_conditions() && definition.specializations().empty() &&
         is_at(schedule.fuse_level().level, Halide::LoopLevel::inlined()) && has_default_loops(function, definition);
}

}  // namespace

bool is_scheduled(const std::vector<Function>& functions, const std::vector<Halide::Func>& outputs) {
  return std::ranges::any_of(functions, [&](const Function& function) {
    const bool is_output = std::ranges::any_of(outputs, [&](const Halide::Func& output) { return output.name() == function.name(); });
    const bool is_placed = !is_inlined(function.schedule()) && !(is_output && is_root(function.schedule()));
    const auto is_default = [&](const Definition& definition) { return has_default_schedule(function, definition); };
    return is_placed || !has_default_storage(function) || !is_default(function.definition()) ||
           !std::ranges::all_of(function.updates(), is_default);
  });
}

}  // namespace kiln
