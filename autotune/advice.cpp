#include "autotune/advice.h"

#include <fmt/format.h>

#include <algorithm>

namespace kiln::autotune {
namespace {

using generators::Actual;
using generators::Predicted;

// What a core of a current x86-64 server moves in a cycle, sustained: 48 of the 64 bytes that Intel's optimisation manual gives for L2 -> L1,
// 16 from the shared cache, 5 from memory (15 GB/s at 3 GHz). Two FMA units, two operations a lane each. They only decide which bound is the
// largest, so a factor of two in any of them seldom changes the answer.
struct Link {
  const char* resource;
  const char* into;  // the cache that is filled
  double bytes_per_cycle;
};
constexpr Link kLinks[] = {{"l2_bandwidth", "l1", 48}, {"l3_bandwidth", "l2", 16}, {"memory_bandwidth", "l3", 5}};
constexpr double kOperationsPerLane = 4;
// Above this share of idle time a number of tasks that does not divide by the threads is worth a word.
constexpr double kIdleShare = 0.1;
// Lines instead of elements and ragged ends cost some percent that no tiling can win back.
constexpr double kNearlyLeast = 1.1;

double traffic(const Predicted& predicted, const char* level) {
  const auto at = predicted.traffic_bytes.find(level);
  return at == predicted.traffic_bytes.end() ? 0 : static_cast<double>(at->second);
}

// Largest first. Cycles of one core when all `cores` share the work.
std::vector<Bound> bounds(const Predicted& predicted, const Actual* actual, const Device& device, double cores, int element_bytes) {
  const double vector_bytes = actual != nullptr ? std::clamp(actual->vector_bits / 8, element_bytes, device.vector_bytes) : device.vector_bytes;
  const double operations_per_cycle = kOperationsPerLane * vector_bytes / element_bytes;
  std::vector<Bound> all = {{"compute", predicted.flops.value_or(0) / operations_per_cycle / cores}};
  for (const Link& link : kLinks) all.push_back({link.resource, traffic(predicted, link.into) / link.bytes_per_cycle / cores});
  std::stable_sort(all.begin(), all.end(), [](const Bound& a, const Bound& b) { return a.cycles > b.cycles; });
  return all;
}

std::string kib(double bytes) { return bytes >= 1 << 20 ? fmt::format("{:.1f} MiB", bytes / (1 << 20)) : fmt::format("{:.1f} KiB", bytes / 1024); }

void advise_on_tasks(Advice& advice, const Predicted& predicted, int threads) {
  if (!predicted.parallel_tasks) return;
  const std::int64_t tasks = *predicted.parallel_tasks;
  if (tasks < threads) {
    advice.binds = "parallel_tasks";
    advice.lines.push_back(fmt::format("{} parallel task{} for {} threads: parallelise an outer loop, or split it into smaller tiles", tasks,
                                       tasks == 1 ? "" : "s", threads));
    return;
  }
  const std::int64_t rounds = (tasks + threads - 1) / threads;
  const double idle = 1 - static_cast<double>(tasks) / static_cast<double>(rounds * threads);
  if (idle > kIdleShare)
    advice.lines.push_back(fmt::format("{} tasks on {} threads need {} rounds and leave {:.0f} % of the last ones idle: another tile size divides better",
                                       tasks, threads, rounds, 100 * idle));
}

void advise_on_code(Advice& advice, const Actual& actual, const Device& device, int element_bytes, bool compute_binds) {
  const int widest = 8 * device.vector_bytes;
  if (actual.vector_bits < widest) {
    if (advice.binds.empty() && compute_binds) advice.binds = "vector_width";
    advice.lines.push_back(fmt::format("the widest vectors are of {} bits, the device has {}: vectorize the innermost dense loop by {}", actual.vector_bits,
                                       widest, device.vector_bytes / element_bytes));
  }
  const std::int64_t stack = actual.loop_stack_loads + actual.loop_stack_stores;
  if (stack == 0) return;
  if (advice.binds.empty() && compute_binds) advice.binds = "registers";
  advice.lines.push_back(fmt::format("loops read the stack {} and write it {} times: more values are kept than the {} vector registers hold; unroll less",
                                     actual.loop_stack_loads, actual.loop_stack_stores, device.vector_registers));
}

// Which loop walks more than the cache holds: the innermost one that does, so that shrinking what is inside it helps.
void advise_on_cache(Advice& advice, const Predicted& predicted, const char* cache, std::int64_t bytes) {
  for (auto at = predicted.working_sets.rbegin(); at != predicted.working_sets.rend(); ++at) {
    if (at->bytes <= bytes) continue;
    advice.lines.push_back(fmt::format("one iteration of {} touches {}, {} holds {}: smaller tiles inside it would be reused from there", at->loop,
                                       kib(static_cast<double>(at->bytes)), cache, kib(static_cast<double>(bytes))));
    return;
  }
}

void advise_on_bound(Advice& advice, const Predicted& predicted, const Device& device) {
  if (advice.binds == "l2_bandwidth") advise_on_cache(advice, predicted, "L1", device.l1_bytes);
  if (advice.binds == "l3_bandwidth") advise_on_cache(advice, predicted, "L2", device.l2_bytes);
  if (advice.binds != "memory_bandwidth") return;
  const double from_memory = traffic(predicted, "l3");
  if (from_memory > 1.5 * static_cast<double>(predicted.compulsory_bytes)) {
    advise_on_cache(advice, predicted, "L3", device.l3_bytes);
    advice.lines.push_back(fmt::format("{} come from memory, the arguments are {}: fuse stages or tile so that values are reused while they are near",
                                       kib(from_memory), kib(static_cast<double>(predicted.compulsory_bytes))));
  } else {
    advice.lines.push_back("every argument crosses from memory about once: only a smaller type or fusing with a neighbour would help");
  }
}

// "up to 1.8x, then compute binds": how far the largest bound can shrink before the next one takes over.
std::string gain(const Bound& largest, const Bound& next, double shrunk_to) {
  const bool reaches_next = shrunk_to <= next.cycles;
  const double left = std::max(shrunk_to, next.cycles);
  return fmt::format("up to {:.1f}x{}", largest.cycles / left, reaches_next ? fmt::format(", then {} binds", next.resource) : "");
}

// What the least traffic that any tiling has would buy where a link binds.
std::string buys_of_link(const Link& link, const Advice& advice, const Predicted& predicted, const std::map<std::string, LeastTraffic>& least) {
  const auto known = least.find(link.into);
  if (known == least.end()) return {};
  const double now = traffic(predicted, link.into), possible = std::min(static_cast<double>(known->second.bytes), now);
  const Bound& largest = advice.bounds[0];
  if (now < kNearlyLeast * possible)
    return fmt::format("no tiling brings much less than these {} into {} ({}); {} would take {:.0f} % of the time", kib(now), link.into,
                       known->second.because, advice.bounds[1].resource, 100 * advice.bounds[1].cycles / largest.cycles);
  return fmt::format("the least that can cross into {} is {} instead of {} ({}): {}", link.into, kib(possible), kib(now), known->second.because,
                     gain(largest, advice.bounds[1], largest.cycles * possible / now));
}

std::string next_step(const Advice& advice, const Predicted& predicted, const Actual* actual, const Device& device, int threads,
                      const std::map<std::string, LeastTraffic>& least) {
  const Bound &largest = advice.bounds[0], &next = advice.bounds[1];
  if (advice.binds == "parallel_tasks")
    return fmt::format("a task for each of {} threads: up to {:.1f}x", threads,
                       static_cast<double>(threads) / static_cast<double>(*predicted.parallel_tasks));
  if (advice.binds == "vector_width" && actual != nullptr && actual->vector_bits > 0)
    return fmt::format("vectors of {} bits: {}", 8 * device.vector_bytes,
                       gain(largest, next, largest.cycles * actual->vector_bits / (8 * device.vector_bytes)));
  if (advice.binds == "compute")
    return fmt::format("the arithmetic alone takes longest; {} would take {:.0f} % of that, so less traffic buys nothing", next.resource,
                       100 * next.cycles / largest.cycles);
  for (const Link& link : kLinks)
    if (advice.binds == link.resource) return buys_of_link(link, advice, predicted, least);
  return {};
}

std::string advice_on(const generators::Rejection& rejection) {
  using generators::Reason;
  switch (rejection.reason) {
    case Reason::schedule_error: return "the schedule cannot be applied; the text above says what would be legal";
    case Reason::numerics: return "the algorithm's contract allows less; its generator may have a parameter that allows more";
    case Reason::over_scratch: return "compute intermediates at a tile of their consumer, or use smaller tiles";
    case Reason::spills: return "unroll less, or use a smaller register tile";
    case Reason::compile_timeout: return "vectorise and unroll by less: the code grows with their product";
    case Reason::compile_error:
    case Reason::compiler_crash: return "the compiler's own words are above; a simpler form of the same schedule may pass";
    default: return "a change of the schedule is needed: see the text above";
  }
}

}  // namespace

Advice advise(const generators::Build& build, const Device& device, int threads, int element_bytes, const std::map<std::string, LeastTraffic>& least) {
  Advice advice;
  if (build.rejection) {
    advice.binds = print(build.rejection->reason);
    advice.lines.push_back(advice_on(*build.rejection));
    return advice;
  }
  if (!build.predicted) {
    advice.binds = "unknown";
    return advice;
  }
  const Actual* actual = build.actual ? &*build.actual : nullptr;
  const double cores = static_cast<double>(std::clamp<std::int64_t>(build.predicted->parallel_tasks.value_or(threads), 1, threads));
  advice.bounds = bounds(*build.predicted, actual, device, cores, element_bytes);
  advise_on_tasks(advice, *build.predicted, threads);
  if (actual != nullptr) advise_on_code(advice, *actual, device, element_bytes, advice.bounds.front().resource == "compute");
  if (advice.binds.empty()) advice.binds = advice.bounds.front().cycles > 0 ? advice.bounds.front().resource : "unknown";
  advise_on_bound(advice, *build.predicted, device);
  advice.next = next_step(advice, *build.predicted, actual, device, threads, least);
  return advice;
}

int element_bytes_of(const Algorithm& algorithm) {
  int widest_float = 0, widest = 1;
  for (const Stage& stage : algorithm.stages)
    for (const DType type : stage.types) {
      widest = std::max(widest, type.bytes());
      if (type.is_float()) widest_float = std::max(widest_float, type.bytes());
    }
  return widest_float > 0 ? widest_float : widest;
}

std::optional<double> intensity(const Predicted& predicted) {
  const double bytes = predicted.traffic_bytes.contains("l3") ? traffic(predicted, "l3") : static_cast<double>(predicted.compulsory_bytes);
  if (!predicted.flops || bytes <= 0) return std::nullopt;
  return *predicted.flops / bytes;
}

}  // namespace kiln::autotune
