// The registers of a block in which warpgroups have roles: one copies, up to three compute, and setmaxnreg moves registers from the first to the others.
#pragma once

#include <cstdint>
#include <optional>

#include "dsl/device.h"
#include "generators/cuda/resources/tile.h"
#include "generators/rejection.h"

namespace kiln::generators::cuda::resources {

inline constexpr int kWarpgroupThreads = 128;  // PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions": four warps

struct Roles {
  int consumers = 2;         // warpgroups beside the one that copies
  bool is_pingpong = false;  // each consumer has a tile of its own, in turn; else they share one
  int producer_registers = 40, consumer_registers = 232;  // of a thread, after setmaxnreg
  int blocks_per_sm = 1;
};

int threads_of(const Roles& roles);

// What ptxas may give every thread at most, before setmaxnreg: all that is there, shared evenly, in whole steps. What it reports as "Used".
int entry_registers(int threads, const Gpu& gpu, int blocks_per_sm = 1);

// The most that each consumer may ask for beside such a producer; 0 when even the least is too much.
int most_consumer_registers(const Roles& roles, const Gpu& gpu);

// Why setmaxnreg cannot deal the registers out so; nothing when it can. ptxas accepts sums beyond what the block has, and the kernel then waits forever
// for registers that never come (PTX ISA, "setmaxnreg": it blocks until enough are there).
std::optional<Rejection> find_illegal_roles(const Roles& roles, const Gpu& gpu);

// f32 sums of one consumer's thread.
std::int64_t accumulators(const Tile& tile, const Roles& roles);

// As many of a consumer's registers as can be sums and temporaries of wgmma without spills; the rest go to addresses and the loop.
int most_accumulators(int consumer_registers);

// Why the sums of this tile do not fit into a consumer's registers: ptxas then spills or serializes the wgmmas (C7511, C7512), which it only remarks on.
// `temporaries`: further registers that wgmma writes, as in sums that are promoted. Nothing when they fit.
std::optional<Rejection> find_overfull(const Tile& tile, const Roles& roles, int temporaries = 0);

// Why one wgmma of this width cannot be compiled: no multiple of 8 from 8 to 256, or its sums do not fit into the registers of the entry, whatever
// setmaxnreg gives later (ptxas's fatal C7602).
std::optional<Rejection> find_illegal_wgmma(int n, const Roles& roles, const Gpu& gpu);

}  // namespace kiln::generators::cuda::resources
