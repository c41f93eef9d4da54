// Where emulated memory lies: one reserved range holds the shared memory of all blocks and then the global buffers. An address outside it is the
// host's (a fiber's stack, constants).
#pragma once

#include <cstdint>
#include <deque>

#include "generators/cuda/emulator/machine/machine.h"

namespace kiln::generators::cuda::emulator {

struct Region {
  static constexpr std::size_t kShared = kMostBlocks * kArena, kHeap = std::size_t{1} << 30, kGuard = 4096;

  char* base = nullptr;
  std::size_t used = 0;      // of the heap
  std::deque<Space> buffers;  // by address

  bool holds_shared(const char* p) const { return p >= base && p < base + kShared; }
  bool holds_global(const char* p) const { return p >= base + kShared && p < base + kShared + kHeap; }
};

// A place in a space.
struct Place {
  Space* space;
  std::size_t at;
};

// A shared::cta or, made by mapa, shared::cluster address. Faults: "misaligned", "out of bounds", "exited block".
Place shared_place(std::uint32_t address, std::size_t bytes, std::uint32_t align);
// The block that an address names, and the address inside it. The fault: "out of bounds", for a rank outside the cluster.
Block& block_of(std::uint32_t address);
inline std::uint32_t inside_block(std::uint32_t address) { return address & 0xFFFFFF; }

// An address in a global buffer. `what` names the access. Faults: "misaligned", "out of bounds", also for an address of the host's.
Place global_place(const void* p, std::size_t bytes, std::size_t align, const char* what);

void poison_shared(Block& block);  // at the start of a launch

}  // namespace kiln::generators::cuda::emulator
