#include "autotune/measure/in_parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace kiln::autotune {

int usable_processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return ::sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : static_cast<int>(std::thread::hardware_concurrency());
}

void in_chunks(std::int64_t count, const std::function<void(std::int64_t chunk, std::int64_t first, std::int64_t last)>& body) {
  std::atomic<std::int64_t> next = 0;
  const std::int64_t chunks = chunks_of(count);
  const auto work = [&] {
    for (std::int64_t chunk = next++; chunk < chunks; chunk = next++) body(chunk, chunk * kChunk, std::min(count, (chunk + 1) * kChunk));
  };
  std::vector<std::jthread> helpers;
  for (std::int64_t i = 1; i < std::min<std::int64_t>(usable_processors(), chunks); ++i) helpers.emplace_back(work);
  work();
}

}  // namespace kiln::autotune
