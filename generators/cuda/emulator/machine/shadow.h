// The shadow of emulated memory: who wrote and read each cell of four bytes, and the happens-before check behind every access.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generators/cuda/emulator/machine/clock.h"
#include "generators/cuda/emulator/memory.h"

namespace kiln::generators::cuda::emulator {

struct Block;

inline constexpr int kLines = 4096;  // a stamp keeps 12 bits of the line

// When and by whom. Epoch 0: never. `mask` has a bit for each of the cell's bytes.
struct Stamp {
  std::uint32_t epoch = 0;
  Agent agent = 0;
  std::uint16_t line : 12 = 0, mask : 4 = 0;

  Stamp() = default;
  Stamp(std::uint32_t at_epoch, Agent by, int at_line) : epoch(at_epoch), agent(by), line(at_line & (kLines - 1)) {}
  bool happened() const { return epoch != 0; }
};

// One writer is remembered, and two readers; those beyond are in Machine::more_readers, at `more` - 1.
struct Cell {
  Stamp writer, reader[2];
  std::uint32_t more = 0;
  bool written_by_async = false;  // the last writer used the async proxy
  bool in_mbarrier = false;
};

// One piece of emulated memory: a block's shared memory, or one global buffer.
struct Space {
  std::string name;       // of a global buffer
  char* bytes = nullptr;
  std::size_t size = 0;
  Memory::Use use = Memory::Use::output;
  Block* block = nullptr;  // whose shared memory this is; null: global
  std::vector<Cell> cells;
  std::vector<std::uint8_t> written;  // 1 a byte that something has written

  bool is_input() const { return use == Memory::Use::input || use == Memory::Use::fresh; }
};

// Who makes an access and what it knows: a thread, or an asynchronous unit with the clock of who started it. `self` is the thread whose own
// accesses come before in program order; -1 for a unit that many threads started.
struct Actor {
  const Clock* known;
  int self;
  Stamp stamp;
  bool is_async;

  bool knows(const Stamp& other) const { return other.agent == self || known->knows(other.agent, other.epoch); }
};

// Checks and records an access to bytes [at, at + count), which lie inside the space. Faults: "race", "unfenced", "uninitialised", "read-only",
// "barrier overwritten", "dependent launch".
void touch_read(Space& space, std::size_t at, std::size_t count, const Actor& actor);
void touch_write(Space& space, std::size_t at, std::size_t count, const Actor& actor);

// In a dependent launch nothing may be written, and nothing fresh read, before griddepcontrol.wait.
void require_previous_kernel(const Space& space, bool is_write, const Actor& actor);

// Has this launch written any of the bytes?
bool was_written_here(const Space& space, std::size_t at, std::size_t count);

}  // namespace kiln::generators::cuda::emulator
