// The formulas of predict.h over the loop tree. Everything is a sum or a maximum over the tree; nothing here knows Halide.
#include "generators/host/predict.h"

#include <algorithm>
#include <set>

#include "generators/host/footprint.h"

namespace kiln::generators::host {
namespace {

using Bytes = std::optional<std::int64_t>;

bool is_loop(const LoopNode& node) { return node.kind != LoopNode::Kind::allocation; }
bool is_parallel(const LoopNode& node) { return node.kind == LoopNode::Kind::parallel_loop; }

std::optional<double> flops_of(const LoopNode& node) {
  double body = node.flops;
  for (const LoopNode& child : node.children) {
    const auto inner = flops_of(child);
    if (!inner) return std::nullopt;
    body += *inner;
  }
  if (!is_loop(node) || body == 0) return body;
  if (!node.trips) return std::nullopt;
  return body * static_cast<double>(*node.trips);
}

// Tasks of the parallel loops that start at or directly below `node`; 1 without any.
Bytes tasks_of(const LoopNode& node) {
  std::int64_t most = 1;
  for (const LoopNode& child : node.children) {
    const Bytes inner = tasks_of(child);
    if (!inner) return std::nullopt;
    most = std::max(most, *inner);
  }
  if (!is_parallel(node)) return most;
  if (!node.trips) return std::nullopt;
  // Only a parallel loop that is directly inside multiplies: below other work its tasks come in several batches.
  const bool directly = node.children.size() == 1 && is_parallel(node.children.front());
  return *node.trips * (directly ? most : 1);
}

Bytes peak_of(const LoopNode& node, const LoopTree& program, int cores) {
  std::int64_t children = 0;
  for (const LoopNode& child : node.children) {
    const Bytes inner = peak_of(child, program, cores);
    if (!inner) return std::nullopt;
    children = std::max(children, *inner);
  }
  if (node.kind == LoopNode::Kind::allocation) {
    const Bytes own = program.buffers[static_cast<std::size_t>(node.buffer)].bytes;
    if (!own) return std::nullopt;
    return *own + children;
  }
  if (!is_parallel(node) || children == 0) return children;
  if (!node.trips) return std::nullopt;
  return children * std::min<std::int64_t>(cores, *node.trips);
}

int heap_allocations(const LoopNode& node) {
  int count = node.kind == LoopNode::Kind::allocation && node.on_heap ? 1 : 0;
  for (const LoopNode& child : node.children) count += heap_allocations(child);
  return count;
}

// A node's own accesses with those of everything inside it, and the loops inside.
struct Subtree {
  std::vector<const Access*> accesses;
  std::set<int> loops;
};

void collect(const LoopNode& node, Subtree& out) {
  for (const Access& access : node.accesses) out.accesses.push_back(&access);
  for (const LoopNode& child : node.children) {
    if (is_loop(child)) out.loops.insert(child.id);
    collect(child, out);
  }
}

struct LoopSets {
  std::int64_t iteration = 0, whole = 0;
};

// Both footprints of every loop, computed once: traffic asks for them at three levels.
class Footprints {
 public:
  explicit Footprints(const LoopTree& program) : program_(program) { measure(program.root); }

  const LoopSets& of(const LoopNode& loop) const { return sets_.at(loop.id); }

  // Lines that the body of `node` touches outside its inner loops.
  std::int64_t direct(const LoopNode& node) const {
    std::vector<const Access*> own;
    for (const Access& access : node.accesses) own.push_back(&access);
    return touched_bytes(own, program_.buffers, [](int) { return false; });
  }

 private:
  void measure(const LoopNode& node) {
    if (is_loop(node)) {
      Subtree inside;
      collect(node, inside);
      LoopSets& sets = sets_[node.id];
      sets.iteration = touched_bytes(inside.accesses, program_.buffers, [&](int loop) { return inside.loops.contains(loop); });
      sets.whole = touched_bytes(inside.accesses, program_.buffers, [&](int loop) { return loop == node.id || inside.loops.contains(loop); });
    }
    for (const LoopNode& child : node.children) measure(child);
  }

  const LoopTree& program_;
  std::map<int, LoopSets> sets_;
};

struct Level {
  std::int64_t bytes = 0;
  bool shared = false;
  int cores = 1;
};

Bytes traffic_into(Level level, const LoopNode& node, const Footprints& footprints) {
  if (is_loop(node)) {
    const LoopSets& sets = footprints.of(node);
    if (!node.trips) return std::nullopt;
    const std::int64_t at_once = level.shared && is_parallel(node) ? std::clamp<std::int64_t>(*node.trips, 1, level.cores) : 1;
    if (std::min(sets.iteration * at_once, sets.whole) <= level.bytes) return sets.whole;
    level.bytes /= at_once;  // what is inside has its share only
  }
  std::int64_t body = footprints.direct(node);
  for (const LoopNode& child : node.children) {
    const Bytes inner = traffic_into(level, child, footprints);
    if (!inner) return std::nullopt;
    body += *inner;
  }
  return is_loop(node) ? body * *node.trips : body;
}

// A loop that Halide split into prologue, rest and epilogue stands once, with its largest part.
void list_working_sets(const LoopNode& node, const Footprints& footprints, std::vector<LoopBytes>& out) {
  for (const LoopNode& child : node.children) {
    if (is_loop(child)) {
      const std::int64_t bytes = footprints.of(child).iteration;
      const auto same = std::find_if(out.begin(), out.end(), [&](const LoopBytes& set) { return set.loop == child.name; });
      if (same == out.end())
        out.push_back({child.name, bytes});
      else
        same->bytes = std::max(same->bytes, bytes);
    }
    list_working_sets(child, footprints, out);
  }
}

}  // namespace

Predicted predict(const LoopTree& program, const Device& device) {
  Predicted report;
  if (program.flops_known) report.flops = flops_of(program.root);
  for (const Buffer& buffer : program.buffers)
    if (buffer.is_argument && buffer.bytes) report.compulsory_bytes += *buffer.bytes;
  report.parallel_tasks = tasks_of(program.root);
  report.peak_intermediate_bytes = peak_of(program.root, program, device.cores);
  report.allocations = heap_allocations(program.root);
  const Footprints footprints(program);
  list_working_sets(program.root, footprints, report.working_sets);
  const Level levels[] = {{device.l1_bytes}, {device.l2_bytes}, {device.l3_bytes, true, device.cores}};
  const char* const names[] = {"l1", "l2", "l3"};
  for (int i = 0; i < 3; ++i) {
    if (levels[i].bytes == 0) continue;  // the device has no such level, or does not tell
    if (const Bytes bytes = traffic_into(levels[i], program.root, footprints)) report.traffic_bytes[names[i]] = *bytes;
  }
  return report;
}

}  // namespace kiln::generators::host
