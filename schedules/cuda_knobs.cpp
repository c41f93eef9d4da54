#include "schedules/cuda_knobs.h"

#include <algorithm>

namespace kiln::schedules {

MemoryKnobs declare_memory_knobs(Space& space) {
  return {space.words("loads", {"plain", "no_l1", "evict_first"}), space.words("stores", {"plain", "streaming", "evict_first"}),
          space.words("launch", {"plain", "dependent"})};
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
