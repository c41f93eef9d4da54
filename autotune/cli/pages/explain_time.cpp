#include "autotune/cli/pages/explain_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "autotune/cli/units.h"

namespace kiln::autotune::cli {
namespace {

using generators::cuda::resources::RingBound;
using generators::cuda::resources::RingTime;
using generators::cuda::resources::RingWork;

// A last turn that leaves more than this of the blocks without work is worth another tile.
constexpr double kWellUsed = 0.9;
// Bytes from memory over those that must come: more is read again and again.
constexpr double kReadAgain = 1.3;

double longest_ns(const RingTime& time) { return std::max({time.tensor_ns, time.shared_ns, time.l2_ns, time.memory_ns, time.latency_ns}); }

double arguments_bytes(const RingWork& work) {
  return static_cast<double>((work.tall + work.wide) * work.terms * work.ring.element_bytes) + static_cast<double>(work.tall * work.wide) * work.output_bytes;
}

std::string advice_on_bound(const ExpectedTime& expected) {
  const RingTime& time = expected.time;
  const auto& tile = expected.work.ring.tile;
  switch (time.binds()) {
    case RingBound::tensor_cores: return fmt::format("the products alone take {:.0f} % of the time: only fewer operations would help", 100 * time.tensor_ns / time.ns);
    case RingBound::shared_memory:
      return fmt::format("a tile of {}×{} is read from and written to shared memory in {:.2f} times what its products take: a larger one is used more often", tile.m, tile.n,
                         time.shared_ns / time.tensor_ns);
    case RingBound::l2_bandwidth: return fmt::format("a tile of {}×{} takes more out of L2 than it gives the tensor cores to do: a larger one is used more often", tile.m, tile.n);
    case RingBound::latency:
      return fmt::format("{} stages of {} are not enough under way: more stages, or more blocks on an SM, up to {:.1f}x", expected.work.ring.stages,
                         print_bytes(static_cast<double>(stage_bytes(expected.work.ring))), time.latency_ns / std::max({time.tensor_ns, time.shared_ns, time.l2_ns, time.memory_ns}));
    case RingBound::memory_bandwidth:
      if (time.memory_bytes > kReadAgain * arguments_bytes(expected.work))
        return fmt::format("{} cross from memory, the arguments are {}: tiles in larger groups, and no tile that hangs over the edge, read less of it again", print_bytes(time.memory_bytes),
                           print_bytes(arguments_bytes(expected.work)));
      return "every argument crosses from memory about once: only a smaller type or fusing with a neighbour would help";
  }
  return {};
}

}  // namespace

std::vector<std::string> advice_on(const ExpectedTime& expected, const Gpu& gpu) {
  const RingTime& time = expected.time;
  std::vector<std::string> lines;
  if (time.used < kWellUsed && time.binds() != RingBound::memory_bandwidth)
    lines.push_back(fmt::format("{:.2f} turns of {} blocks use {:.0f} % of the turns they begin: a tile, or parts of one, that leave less of the last turn empty, up to {:.2f}x", time.waves,
                                gpu.sms * expected.work.blocks_per_sm, 100 * time.used, 1 / time.used));
  if (lines.empty() || time.binds() != RingBound::tensor_cores) lines.push_back(advice_on_bound(expected));
  return lines;
}

std::string print_times(const std::vector<ExpectedTime>& times, const Gpu& gpu, const CallTime& call) {
  std::string text;
  for (const ExpectedTime& expected : times) {
    const RingTime& time = expected.time;
    text += fmt::format("{} is expected to take {}\n", expected.kernel, print_ns(time.ns));
    text += fmt::format("  alone               tensor cores {}, shared memory {}, L2 {}, memory {}, waiting for stages {}\n", print_ns(time.tensor_ns), print_ns(time.shared_ns),
                        print_ns(time.l2_ns), print_ns(time.memory_ns), print_ns(time.latency_ns));
    text += fmt::format("  beside nothing      first stage {}, results {}, launch {}\n", print_ns(time.fill_ns), print_ns(time.store_ns), print_ns(time.launch_ns));
    text += fmt::format("  turns               {:.2f} of {} blocks, {:.0f} % used\n", time.waves, gpu.sms * expected.work.blocks_per_sm, 100 * time.used);
    text += fmt::format("  bytes               {} from memory, {} out of L2, {} under way\n", print_bytes(time.memory_bytes), print_bytes(time.l2_bytes), print_bytes(time.bytes_in_flight));
    text += fmt::format("  binds               {} ({:.0f} % of the time)\n", print(time.binds()), 100 * std::min(1.0, longest_ns(time) / time.ns));
    for (const std::string& line : advice_on(expected, gpu)) text += "  " + line + "\n";
  }
  if (call.expected_ns && times.size() > 1) text += fmt::format("  all kernels         {}\n", print_ns(*call.expected_ns));
  if (call.measured_ns && call.expected_ns && !times.empty())
    text += fmt::format("  measured            {}, {:.0f} % {} than expected\n", print_ns(*call.measured_ns), 100 * std::abs(*call.measured_ns / *call.expected_ns - 1),
                        *call.measured_ns < *call.expected_ns ? "less" : "more");
  return text.empty() ? text : text + "\n";
}

Json times_json(const std::vector<ExpectedTime>& times, const Gpu& gpu) {
  Json list = Json::array();
  for (const ExpectedTime& expected : times) {
    const RingTime& time = expected.time;
    list.push_back({{"kernel", expected.kernel},
                    {"predicted_ns", time.ns},
                    {"binds", print(time.binds())},
                    {"tensor_ns", time.tensor_ns},
                    {"shared_ns", time.shared_ns},
                    {"l2_ns", time.l2_ns},
                    {"memory_ns", time.memory_ns},
                    {"latency_ns", time.latency_ns},
                    {"fill_ns", time.fill_ns},
                    {"store_ns", time.store_ns},
                    {"launch_ns", time.launch_ns},
                    {"waves", time.waves},
                    {"used", time.used},
                    {"l2_bytes", time.l2_bytes},
                    {"memory_bytes", time.memory_bytes},
                    {"bytes_in_flight", time.bytes_in_flight},
                    {"advice", advice_on(expected, gpu)}});
  }
  return list;
}

Json binds_json(const std::vector<ExpectedTime>& times) {
  if (times.empty()) return nullptr;
  return print(std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.time.ns < b.time.ns; })->time.binds());
}

}  // namespace kiln::autotune::cli
