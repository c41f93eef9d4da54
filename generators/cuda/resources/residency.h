// How many blocks of a kernel an SM holds at once, and what stops it from holding more.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "dsl/device.h"
#include "generators/rejection.h"

namespace kiln::generators::cuda::resources {

struct BlockNeeds {
  int threads = 0;
  int registers = 0;              // of one thread at launch; 0: not known yet, they then limit nothing
  std::int64_t shared_bytes = 0;  // static and dynamic
  int barriers = 1;               // as ptxas reports them
};

enum class Limit { threads, registers, shared_bytes, blocks, barriers };
std::string_view print(Limit limit);  // "threads", "shared memory"

struct Residency {
  // Blocks that fit by each resource alone.
  std::int64_t by_threads = 0, by_registers = 0, by_shared_bytes = 0, by_blocks = 0, by_barriers = 0;
  std::int64_t blocks = 0;        // the least of them
  std::vector<Limit> binds;       // the resources of which no more blocks fit, in the order of Limit
  std::int64_t warps = 0;         // of those blocks
  double occupancy = 0;           // those warps over the SM's
};

// The SM's amounts over the block's, each in the steps in which the SM gives it out, as cuda_occupancy.h of the CUDA Toolkit counts: registers by warp
// and within one partition, shared memory with what CUDA reserves. `needs.threads` is at least 1. A block that may not be launched at all has a
// residency too: ask find_oversized.
Residency residency(const BlockNeeds& needs, const Gpu& gpu);

// Why no such block can be launched: more threads, registers or shared memory than one block or thread may have; nothing when it can.
std::optional<Rejection> find_oversized(const BlockNeeds& needs, const Gpu& gpu);

// Of shared memory, what each of `blocks_per_sm` blocks may have: all that one block may, or its share of the SM less what CUDA reserves.
std::int64_t shared_bytes_of_a_block(const Gpu& gpu, int blocks_per_sm);

}  // namespace kiln::generators::cuda::resources
