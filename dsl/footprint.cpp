// The sums and maxima of footprint.h; traffic has a file of its own.
#include "dsl/footprint.h"

#include <algorithm>
#include <set>

#include "dsl/footprint_parts.h"

namespace kiln {
namespace {

bool is_loop(const FootprintNode& node) { return node.kind != FootprintNode::Kind::allocation; }
bool is_parallel(const FootprintNode& node) { return node.kind == FootprintNode::Kind::parallel_loop; }

std::optional<double> flops_of(const FootprintPart& part) {
  double body = part.flops;
  for (const FootprintNode& child : part.children)
    for (const FootprintPart& inner : child.parts) {
      const auto inside = flops_of(inner);
      if (!inside) return std::nullopt;
      body += *inside;
    }
  if (body == 0) return 0;
  if (!part.trips) return std::nullopt;
  return body * static_cast<double>(*part.trips);
}

std::optional<std::int64_t> trips_of(const FootprintNode& loop) {
  std::int64_t sum = 0;
  for (const FootprintPart& part : loop.parts) {
    if (!part.trips) return std::nullopt;
    sum += *part.trips;
  }
  return sum;
}

std::optional<std::int64_t> tasks_in(const FootprintPart& part);

std::optional<std::int64_t> tasks_of(const FootprintNode& node) {
  std::int64_t most = 1, sum = 0;
  for (const FootprintPart& part : node.parts) {
    const auto inner = tasks_in(part);
    if (!inner) return std::nullopt;
    most = std::max(most, *inner);
    // Only a parallel loop that is directly inside multiplies: below other work its tasks come in several batches.
    const bool directly = part.children.size() == 1 && is_parallel(part.children.front());
    sum += part.trips.value_or(0) * (directly ? *inner : 1);
  }
  if (!is_parallel(node)) return most;
  if (!trips_of(node)) return std::nullopt;
  return sum;
}

std::optional<std::int64_t> tasks_in(const FootprintPart& part) {
  std::int64_t most = 1;
  for (const FootprintNode& child : part.children) {
    const auto inner = tasks_of(child);
    if (!inner) return std::nullopt;
    most = std::max(most, *inner);
  }
  return most;
}

std::optional<std::int64_t> peak_of(const FootprintPart& part, const FootprintTree& tree, int cores) {
  std::int64_t most = 0;
  for (const FootprintNode& child : part.children) {
    std::int64_t inside = 0;
    for (const FootprintPart& inner : child.parts) {
      const auto bytes = peak_of(inner, tree, cores);
      if (!bytes) return std::nullopt;
      inside = std::max(inside, *bytes);
    }
    if (!is_loop(child)) {
      const auto own = tree.buffers[static_cast<std::size_t>(child.buffer)].bytes;
      if (!own) return std::nullopt;
      inside += *own;
    } else if (is_parallel(child) && inside > 0) {
      const auto trips = trips_of(child);
      if (!trips) return std::nullopt;
      inside *= std::min<std::int64_t>(cores, *trips);
    }
    most = std::max(most, inside);
  }
  return most;
}

std::optional<std::int64_t> iterations_in(const FootprintPart& part, const std::string& loop) {
  std::int64_t sum = 0;
  for (const FootprintNode& child : part.children)
    for (const FootprintPart& inner : child.parts) {
      const auto inside = iterations_in(inner, loop);
      const bool is_it = is_loop(child) && child.name == loop;
      if (!inside) return std::nullopt;
      if (!is_it && *inside == 0) continue;
      if (!inner.trips) return std::nullopt;
      sum += *inner.trips * (is_it ? 1 : *inside);
    }
  return sum;
}

// A loop that stands in several places, or was split into prologue and rest, stands once, with its largest part.
void list(const FootprintPart& part, std::vector<WorkingSet>& out) {
  for (const FootprintNode& child : part.children) {
    if (is_loop(child) && !child.name.empty()) {
      auto known = std::find_if(out.begin(), out.end(), [&](const WorkingSet& set) { return set.loop == child.name; });
      if (known == out.end()) known = out.insert(out.end(), {child.name, 0, 0});
      for (const FootprintPart& inner : child.parts) {
        known->touched = std::max(known->touched, total(inner.touched));
        known->held = std::max(known->held, most_held(inner, child));
      }
    }
    for (const FootprintPart& inner : child.parts) list(inner, out);
  }
}

}  // namespace

std::int64_t total(const BufferBytes& bytes) {
  std::int64_t sum = 0;
  for (const auto& [buffer, count] : bytes) sum += count;
  return sum;
}

std::optional<double> flops(const FootprintTree& tree) { return flops_of(tree.root); }

std::optional<std::int64_t> iterations(const FootprintTree& tree, const std::string& loop) { return iterations_in(tree.root, loop); }

std::int64_t compulsory_bytes(const FootprintTree& tree) {
  std::int64_t sum = 0;
  for (const FootprintBuffer& buffer : tree.buffers)
    if (buffer.is_argument) sum += buffer.bytes.value_or(0);
  return sum;
}

std::optional<std::int64_t> parallel_tasks(const FootprintTree& tree) { return tasks_in(tree.root); }

std::optional<std::int64_t> peak_intermediate_bytes(const FootprintTree& tree, int cores) { return peak_of(tree.root, tree, cores); }

std::int64_t peak_live_bytes(const FootprintTree& tree) {
  const std::vector<BufferBytes> steps = steps_of(tree.root);
  std::map<int, std::size_t> first, last;
  for (std::size_t step = 0; step < steps.size(); ++step)
    for (const auto& [buffer, bytes] : steps[step]) {
      const FootprintBuffer& known = tree.buffers[static_cast<std::size_t>(buffer)];
      first.try_emplace(buffer, known.is_argument && !known.is_output ? 0 : step);
      last[buffer] = known.is_output ? steps.size() - 1 : step;
    }
  std::set<int> passed;  // between kernels, or to and from the caller
  for (const int buffer : allocated_at_top(tree.root)) passed.insert(buffer);
  std::int64_t most = 0;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    std::int64_t live = 0;
    for (const auto& [buffer, begin] : first) {
      const FootprintBuffer& known = tree.buffers[static_cast<std::size_t>(buffer)];
      if (begin <= step && step <= last[buffer] && (known.is_argument || passed.contains(buffer))) live += known.bytes.value_or(0);
    }
    most = std::max(most, live);
  }
  return most;
}

std::vector<std::pair<std::string, Memory>> caches_of(const Device& device) {
  require_cpu(device, "the model of caches");
  std::vector<std::pair<std::string, Memory>> caches = {{"l1", {device.l1_bytes, Memory::Owner::core, 1}},
                                                        {"l2", {device.l2_bytes, Memory::Owner::core, 1}},
                                                        {"l3", {device.l3_bytes, Memory::Owner::chip, device.cores}}};
  std::erase_if(caches, [](const auto& cache) { return cache.second.bytes == 0; });
  return caches;
}

std::vector<WorkingSet> working_sets(const FootprintTree& tree) {
  std::vector<WorkingSet> sets;
  list(tree.root, sets);
  return sets;
}

}  // namespace kiln
