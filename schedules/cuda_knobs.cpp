#include "schedules/cuda_knobs.h"

#include <algorithm>

#include "dsl/capability.h"

namespace kiln::schedules {

MemoryKnobs declare_memory_knobs(Space& space, const Device& gpu) {
  const std::vector<std::string> launches = has_dependent_launches(gpu) ? std::vector<std::string>{"plain", "dependent"} : std::vector<std::string>{"plain"};
  return {space.words("loads", {"plain", "no_l1", "evict_first"}), space.words("stores", {"plain", "streaming", "evict_first"}), space.words("launch", launches)};
}

bool has_dependent_launches(const Device& gpu) { return gpu.gpu && capability_of(*gpu.gpu) >= kGridDependencies; }

std::vector<std::int64_t> cluster_sizes(const Device& gpu, std::vector<std::int64_t> sizes) {
  const int most = gpu.gpu ? gpu.gpu->cluster_blocks : 0;
  std::erase_if(sizes, [&](std::int64_t size) { return size > std::max(1, most); });
  return sizes;
}

void add_memory(Chain& chain, const MemoryKnobs& knobs, const Point& p, bool is_first) {
  if (p[knobs.loads] != "plain" || p[knobs.stores] != "plain") chain.add("cache", p[knobs.loads], p[knobs.stores]);
  if (p[knobs.launch] == "dependent" && !is_first) chain.add("dependent_launch");
}

std::int64_t access_elements(const Algorithm& algorithm) {
  int widest = 1;
  for (const Argument& argument : algorithm.arguments)
    if (!argument.is_scalar) widest = std::max(widest, argument.type.bytes());
  return std::max(1, 16 / widest);
}

}  // namespace kiln::schedules
