#include "generators/host/predict.h"

#include "generators/host/footprint.h"

namespace kiln::generators::host {
namespace {

int heap_allocations(const LoopNode& node) {
  int count = node.kind == LoopNode::Kind::allocation && node.on_heap ? 1 : 0;
  for (const LoopNode& child : node.children) count += heap_allocations(child);
  return count;
}

}  // namespace

Predicted predict(const FootprintTree& tree, const Device& device) {
  Predicted report;
  report.flops = flops(tree);
  report.compulsory_bytes = compulsory_bytes(tree);
  report.parallel_tasks = parallel_tasks(tree);
  report.peak_intermediate_bytes = peak_intermediate_bytes(tree, device.cores);
  for (const WorkingSet& set : working_sets(tree)) report.working_sets.push_back({set.loop, set.touched});
  for (const auto& [level, memory] : caches_of(device))
    if (const auto bytes = traffic(tree, memory)) report.traffic_bytes[level] = total(*bytes);
  return report;
}

Predicted predict(const LoopTree& program, const Device& device) {
  Predicted report = predict(footprint_of(program), device);
  if (!program.flops_known) report.flops.reset();
  report.allocations = heap_allocations(program.root);
  return report;
}

}  // namespace kiln::generators::host
