#include "generators/cuda/emulator/machine/addresses.h"

#include <cstring>

#include "generators/cuda/emulator/machine/fault.h"

namespace kiln::generators::cuda::emulator {

Block& block_of(std::uint32_t address) {
  Block& own = *machine().current->block;
  const std::uint32_t rank = address >> 24;  // mapa adds 1: 0 is the own block
  if (rank == 0) return own;
  if (rank > machine().launch.cluster) fail("out of bounds", "mapa to rank %u of a cluster of %u", rank - 1, machine().launch.cluster);
  return machine().blocks[own.index - own.rank + rank - 1];
}

Place shared_place(std::uint32_t address, std::size_t bytes, std::uint32_t align) {
  Block& block = block_of(address);
  const std::uint32_t inside = inside_block(address);
  const int offset = static_cast<int>(inside) - static_cast<int>(kWindow);
  if (offset < 0 || static_cast<std::size_t>(offset) + bytes > block.shared.size)
    fail("out of bounds", "%zu bytes at shared offset %d; the block has %zu bytes", bytes, offset, block.shared.size);
  if (inside % align != 0)
    fail("misaligned", "shared address %s is not a multiple of %u", place_name(block.shared, static_cast<std::size_t>(offset)).c_str(), align);
  if (block.live == 0) fail("exited block", "shared memory of block %u, which has exited", block.index);
  return {&block.shared, static_cast<std::size_t>(offset)};
}

Place global_place(const void* p, std::size_t bytes, std::size_t align, const char* what) {
  Region& region = machine().memory->region();
  const char* const c = static_cast<const char*>(p);
  if (!region.holds_global(c)) fail("out of bounds", "%s an address that is in no global buffer", what);
  Space* before = nullptr;
  for (Space& space : region.buffers)
    if (space.bytes <= c) before = &space;
  const std::size_t at = before == nullptr ? 0 : static_cast<std::size_t>(c - before->bytes);
  if (before == nullptr || at + bytes > before->size)
    fail("out of bounds", "%s %zu bytes of global memory at %s+%zu, which has %zu bytes", what, bytes, before == nullptr ? "the heap" : before->name.c_str(), at,
         before == nullptr ? 0 : before->size);
  if (at % align != 0) fail("misaligned", "%s %s, which is not a multiple of %zu", what, place_name(*before, at).c_str(), align);
  return {before, at};
}

void poison_shared(Block& block) {
  std::memset(block.shared.bytes, 0xFF, block.shared.size);
  block.shared.cells.assign((block.shared.size + 3) / 4, {});
  block.shared.written.assign(block.shared.size, 0);
}

}  // namespace kiln::generators::cuda::emulator
