#include "generators/cuda/resources/ring_time.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "generators/cuda/resources/spelling.h"

namespace kiln::generators::cuda::resources {
namespace {

// The fit is least squares of the logarithms, near misses weighing more than far ones. Where a number is known from elsewhere, the fit came to it.
constexpr double kSustained = 0.885;              // of the clock that the data sheet has as the most: 1.75 GHz on an H200 at work
constexpr double kSharedBytesPerClock = 128;      // of an SM, reads of wgmma and writes of copies together: fitted 1.758 GHz x 128
constexpr double kL2BytesPerClock = 64;           // of an SM; DeepGEMM's model has the same: fitted 1.735 GHz x 64
constexpr double kTensorPower = 0.77;             // of the data sheet's FLOPs: random operands draw what the card may draw, at 1.4 GHz (700 TFLOP/s)
constexpr double kReadShare = 0.9375;             // of the memory's bandwidth: 4.5 of 4.8 TB/s read in a stream
constexpr double kL2Latency_ns = 657, kMemoryLatency_ns = 1223;  // under load, without the bytes' own time
constexpr double kStepsHeld = 1.5;                // a stage is given back when the step after its own is under way
constexpr double kStep_ns = 3;                    // of barriers
constexpr double kShared = 0.36;                  // of rows of tiles that run together though no group says so: how far they find each other's operand in L2
constexpr double kPadding = 0.82;                 // rows outside a matrix are filled at the memory's pace, as if they were read
constexpr double kFitsL2 = 0.6;                   // an operand of less than this share of L2 is read of memory once
constexpr double kStore_ns = 1050, kStoreOfASum_ns = 6;  // results of a tile through shared memory: at least, and for each sum of a thread
constexpr double kStart_ns = 100, kLaunch_ns = 900, kDependent_ns = 500;
// Promotion: each group of 128 terms is waited for, and a thread adds its sums.
constexpr double kGroup_ns = 60, kAdd_ns = 0.95;
// Parts of a tile meet in the shared memory of a cluster: the barriers, and the other parts' sums at the pace of an SM's way into the others. Timed with small
// tiles only, where it is next to nothing.
constexpr double kMeet_ns = 300, kMeetBytesPerNs = 50;
// Memory-bound kernels, from a trial by hand on the same card: evict-first gains 1 to 2 %, whole lines of 256 bytes cost 2 to 6 %, more than 13 MB under way
// cost some 5 % at 20 MB.
constexpr double kEvictedFirst = 0.99, kLongFetch = 1.02, kMostInFlight = 13e6, kCrowding = 0.006e-6;
// Others: what is used again is better kept, and came 1 to 6 % slower in lines of 256 bytes.
constexpr double kEvictedEarly = 1.005, kLongFetchOfL2 = 1.01;
constexpr double kMemoryBound = 0.5;              // of the bytes out of L2 that come from memory

// One set of blocks that run together.
struct Pace {
  double tensor = 0, shared = 0, l2 = 0, latency = 0;  // ns a step
  double busy = 0;                                     // of the SM: the two first with what they wait for
};

class Clock {
 public:
  Clock(const RingWork& work, const Gpu& gpu) : w_(work), gpu_(gpu), tile_(work.ring.tile) {
    const double ghz = kSustained * static_cast<double>(gpu.clock_hz) * 1e-9;
    shared_bytes_per_ns_ = kSharedBytesPerClock * ghz;
    l2_bytes_per_ns_ = kL2BytesPerClock * ghz;
    memory_bytes_per_ns_ = kReadShare * static_cast<double>(gpu.memory_bytes_per_s) * 1e-9;
    tensor_flops_per_ns_ = kTensorPower * static_cast<double>(gpu.tensor_flops) / gpu.sms * 1e-9 * (w_.ring.element_bytes == 1 ? 2 : 1);
    talls_ = divided_up(w_.tall, tile_.m);
    wides_ = divided_up(w_.wide, tile_.n);
    blocks_ = talls_ * wides_ * w_.parts;
    at_once_ = std::int64_t{gpu.sms} * w_.blocks_per_sm;
    steps_ = static_cast<double>(divided_up(divided_up(w_.terms, tile_.k), w_.parts));
    count_bytes();
  }

  RingTime read() {
    const std::int64_t full = blocks_ / at_once_, rest = blocks_ % at_once_;
    for (std::int64_t i = 0; i < full; ++i) add_set(at_once_, i == 0);
    if (rest > 0) add_set(rest, full == 0);
    if (w_.takes_turns) add_store(store_ns());  // of the last tile: nothing is left to hide it
    time_.launch_ns = kLaunch_ns + (w_.is_dependent ? (w_.blocks_per_sm == 1 ? -kDependent_ns : kDependent_ns) : 0);
    time_.ns = (time_.ns + time_.launch_ns) * hints();
    time_.waves = static_cast<double>(blocks_) / static_cast<double>(at_once_);
    time_.used = time_.waves / static_cast<double>(full + (rest > 0));
    return time_;
  }

 private:
  double of_memory() const { return std::min(1.0, memory_reads_ / time_.l2_bytes); }
  int consumers_of_a_tile() const { return w_.takes_turns ? 1 : w_.consumers; }
  // The part of a tile's 64 x n instructions that one consumer issues, one below the other.
  double instructions_high() const { return tile_.m / 64.0 / consumers_of_a_tile(); }
  double stage_bytes() const { return static_cast<double>(resources::stage_bytes(w_.ring)); }

  // Of tiles in groups along one side the other side's operand comes past once for every group, or for every few that run together anyway.
  void count_bytes() {
    const double element = w_.ring.element_bytes, terms = static_cast<double>(w_.terms);
    const bool along_wide = w_.is_grouped_along_wide;
    const auto along = static_cast<double>(along_wide ? wides_ : talls_), across = static_cast<double>(along_wide ? talls_ : wides_);
    const double together = std::clamp(std::max(static_cast<double>(w_.group), 1 + kShared * (std::floor(static_cast<double>(at_once_) / across) - 1)), 1.0, along);
    const double tall_bytes = static_cast<double>(w_.tall) * terms * element, wide_bytes = static_cast<double>(w_.wide) * terms * element;
    const double once = along_wide ? wide_bytes : tall_bytes, again = along_wide ? tall_bytes : wide_bytes;
    const double passes = again > kFitsL2 * static_cast<double>(gpu_.l2_bytes) ? along / together : 1;
    const auto padded = static_cast<double>((talls_ * tile_.m - w_.tall) * wides_ + (wides_ * tile_.n - w_.wide) * talls_) * terms * element;
    time_.l2_bytes = static_cast<double>(talls_ * wides_) * terms * (tile_.m + tile_.n) * element;
    memory_reads_ = once + again * passes + static_cast<double>(w_.tall * w_.wide) * w_.output_bytes;
    time_.memory_bytes = memory_reads_ + kPadding * padded;
    time_.bytes_in_flight = static_cast<double>(std::min(blocks_, at_once_) * w_.ring.stages) * stage_bytes();
  }

  Pace pace(std::int64_t blocks) const {
    const auto beside = static_cast<double>(divided_up(blocks, gpu_.sms));
    const double flops = 2.0 * tile_.m * tile_.n * tile_.k;
    // Each instruction reads its 64 rows of one side and all of the other's; copies write a stage once.
    const double read = static_cast<double>(tile_.m) / 64 * (64 + tile_.n) * tile_.k * w_.ring.element_bytes;
    Pace one{.tensor = flops / tensor_flops_per_ns_, .shared = (read + stage_bytes()) / shared_bytes_per_ns_, .l2 = stage_bytes() / l2_bytes_per_ns_};
    one.busy = std::max(one.tensor, one.shared) + kStep_ns;
    if (w_.is_promoted) {
      const double groups = static_cast<double>(tile_.k) * w_.ring.element_bytes / 128;
      const double adds = groups * instructions_high() * tile_.n / 2 * kAdd_ns, work = one.busy - kStep_ns;
      one.busy = std::max(work, work / (consumers_of_a_tile() * w_.blocks_per_sm) + adds) + groups * kGroup_ns;
    }
    const double arrival = kL2Latency_ns + of_memory() * (kMemoryLatency_ns - kL2Latency_ns) + one.l2;
    const double held = (w_.is_promoted ? 1 : kStepsHeld) * beside * one.busy;
    return {beside * one.tensor, beside * one.shared, beside * one.l2, (arrival + held) / w_.ring.stages, beside * one.busy};
  }

  double store_ns() const { return kStore_ns + kStoreOfASum_ns * tile_.m * tile_.n / (128 * consumers_of_a_tile()) + meet_ns(); }
  double meet_ns() const { return w_.parts == 1 ? 0 : kMeet_ns + 4.0 * tile_.m * tile_.n * (w_.parts - 1) / w_.parts / kMeetBytesPerNs; }
  void add_store(double ns) {
    time_.store_ns += ns;
    time_.ns += ns;
  }

  void add_set(std::int64_t blocks, bool is_first) {
    const Pace step = pace(blocks);
    const double memory = time_.memory_bytes * static_cast<double>(blocks) / static_cast<double>(blocks_) / memory_bytes_per_ns_;
    const double all = std::max(steps_ * std::max({step.busy, step.l2, step.latency}), memory);
    time_.tensor_ns += steps_ * step.tensor;
    time_.shared_ns += steps_ * step.shared;
    time_.l2_ns += steps_ * step.l2;
    time_.latency_ns += steps_ * step.latency;
    time_.memory_ns += memory;
    time_.ns += all;
    // A block that goes on to another tile has its first stages under way meanwhile.
    if (is_first || !w_.is_persistent) {
      const double fill = kL2Latency_ns + of_memory() * (kMemoryLatency_ns - kL2Latency_ns) + stage_bytes() / l2_bytes_per_ns_ + (w_.is_persistent ? 0 : kStart_ns);
      time_.fill_ns += fill;
      time_.ns += fill;
    }
    add_store(w_.takes_turns ? std::max(0.0, store_ns() - all) : store_ns());
  }

  double hints() const {
    if (of_memory() <= kMemoryBound) return (w_.is_evicted_first ? kEvictedEarly : 1) * (w_.fetched_bytes > 128 ? kLongFetchOfL2 : 1);
    double factor = 1 + kCrowding * std::max(0.0, time_.bytes_in_flight - kMostInFlight);
    if (w_.is_evicted_first) factor *= kEvictedFirst;
    if (w_.fetched_bytes > 128) factor *= kLongFetch;
    return factor;
  }

  const RingWork& w_;
  const Gpu& gpu_;
  const Tile tile_;
  double shared_bytes_per_ns_ = 0, l2_bytes_per_ns_ = 0, memory_bytes_per_ns_ = 0, tensor_flops_per_ns_ = 0;
  std::int64_t talls_ = 0, wides_ = 0, blocks_ = 0, at_once_ = 0;
  double steps_ = 0, memory_reads_ = 0;
  RingTime time_;
};

}  // namespace

std::string_view print(RingBound bound) {
  constexpr std::array<std::string_view, 5> kNames = {"tensor_cores", "shared_memory", "l2_bandwidth", "memory_bandwidth", "latency"};
  return kNames[static_cast<std::size_t>(bound)];
}

RingBound RingTime::binds() const {
  const std::array<std::pair<double, RingBound>, 5> alone = {{{tensor_ns, RingBound::tensor_cores},
                                                              {shared_ns, RingBound::shared_memory},
                                                              {l2_ns, RingBound::l2_bandwidth},
                                                              {memory_ns, RingBound::memory_bandwidth},
                                                              {latency_ns, RingBound::latency}}};
  return std::max_element(alone.begin(), alone.end(), [](const auto& a, const auto& b) { return a.first < b.first; })->second;
}

std::optional<RingTime> ring_time(const RingWork& work, const Gpu& gpu) {
  if (gpu.memory_bytes_per_s == 0 || gpu.clock_hz == 0 || gpu.tensor_flops == 0 || gpu.sms == 0) return std::nullopt;
  return Clock(work, gpu).read();
}

}  // namespace kiln::generators::cuda::resources
