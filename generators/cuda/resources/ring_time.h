// How long a ring's kernel takes, from its tiles and the problem: closed forms for ranking plans before any is built, and for saying what binds one.
//
// Blocks go over the chip in sets of as many as run at once, each set in steps. A step of a set takes the longest of: the tensor cores' products, the operands'
// way through shared memory, their way out of L2, and the time until a stage that was given back is full again; a set no less than its share of the memory's
// bytes. To that come the first stage's arrival, the results' way out where nothing hides it, and the launch.
//
// Fitted on 411 schedules of nine problems timed hot on an H200 (matmul of 16 to 4,096 rows, N = 12288, K = 4096, both layouts of weights, and matmul_fp8 of
// 1,024): the constants in ring_time.cpp. Rank correlation 0.95 to 0.99 a problem; what comes within 1.3 of the best is a tenth off, a fifth at most. Tiles 112
// wide take a quarter longer than this says, and tiles 16 wide where there are many, up to twice as long. For other GPUs the same forms over their data sheet are an
// estimate.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "dsl/device.h"
#include "generators/cuda/resources/ring.h"

namespace kiln::generators::cuda::resources {

// What of a plan and its problem decides the time. The tile's m lies along the tall side of the instruction, its n along the wide one.
struct RingWork {
  Ring ring;
  std::int64_t tall = 1, wide = 1, terms = 1;  // of the product
  double output_bytes = 2;                     // for each sum
  int consumers = 1;
  bool takes_turns = false;                    // consumers take tiles in turn
  bool is_promoted = false;                    // sums of 128 terms are added up outside the tensor cores
  int parts = 1;                               // blocks that share the terms of a tile
  int blocks_per_sm = 1;                       // that run at once
  bool is_persistent = false;
  bool is_dependent = false;                   // launched while the kernel before still runs
  bool is_grouped_along_wide = false;          // which way tiles come in groups
  std::int64_t group = 1;                      // of tiles
  // Of what is read of memory once, the larger operand:
  bool is_evicted_first = false;
  int fetched_bytes = 128;                     // by L2 at once
};

enum class RingBound : std::uint8_t { tensor_cores, shared_memory, l2_bandwidth, memory_bandwidth, latency };
std::string_view print(RingBound bound);       // "tensor_cores"

struct RingTime {
  double ns = 0;
  // What each would take alone.
  double tensor_ns = 0, shared_ns = 0, l2_ns = 0, memory_ns = 0;
  double latency_ns = 0;                       // waiting for stages to be filled, with as many under way as there are
  // What nothing runs beside.
  double fill_ns = 0, store_ns = 0, launch_ns = 0;
  double waves = 0;                            // blocks over those that run at once: 3.9 are four turns, the last not quite full
  double used = 0;                             // share of the turns' blocks that have work
  double l2_bytes = 0, memory_bytes = 0;       // that blocks read of L2; that cross into L2, and results
  double bytes_in_flight = 0;                  // over the chip

  RingBound binds() const;                     // the longest of the five
  bool operator==(const RingTime&) const = default;
};

// Nothing where the data sheet lacks a speed.
std::optional<RingTime> ring_time(const RingWork& work, const Gpu& gpu);

}  // namespace kiln::generators::cuda::resources
