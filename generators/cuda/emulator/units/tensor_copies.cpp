// TMA tiles. A copy is checked when it is issued, with what its issuer knows, and moves its bytes later, when the scheduler pleases: a missing wait
// shows both in the check and in the numbers.
#include <cstring>

#include "generators/cuda/emulator/machine/addresses.h"
#include "generators/cuda/emulator/machine/fault.h"
#include "generators/cuda/emulator/tensor_map.h"
#include "generators/cuda/emulator/units/units.h"

#include "generators/cuda/emulator/units/device.h"

namespace kiln::generators::cuda::emulator {
namespace {

TensorMap2d decoded(const kiln_device::TensorMap* map) {
  EncodedMap encoded;
  std::memcpy(&encoded, map, sizeof encoded);
  return decode(encoded);
}

// Calls f(shared address, byte offset from the map's base) for the elements of the box; the offset is -1 outside the tensor.
template <class F>
void for_box(const TensorMap2d& map, std::uint32_t shared, int x, int y, F f) {
  for (std::uint32_t i = 0; i < map.box_outer; ++i)
    for (std::uint32_t j = 0; j < map.box_inner; ++j) {
      const std::int64_t column = std::int64_t{x} + j, row = std::int64_t{y} + i;
      const bool is_inside = column >= 0 && row >= 0 && static_cast<std::uint64_t>(column) < map.inner && static_cast<std::uint64_t>(row) < map.outer;
      const std::int64_t offset = row * static_cast<std::int64_t>(map.pitch_bytes) + column * map.element_bytes;
      f(swizzled(shared + (i * map.box_inner + j) * map.element_bytes, map.swizzle), is_inside ? offset : -1);
    }
}

// PTX ISA, "Tensor Copy": a tile starts on a whole pattern of its swizzle; without one at a multiple of 128 bytes.
std::uint32_t box_align(const TensorMap2d& map) { return map.swizzle == Swizzle::none ? 128 : 128u << static_cast<int>(map.swizzle); }

// The buffer that a map describes; its whole extent must lie inside.
Place mapped_place(const TensorMap2d& map) {
  const std::size_t extent = (map.outer - 1) * map.pitch_bytes + map.inner * map.element_bytes;
  return global_place(map.base, extent, 16, "a tensor map describes");
}

char* shared_bytes(const Space& shared, std::uint32_t address) { return shared.bytes + inside_block(address) - kWindow; }

struct Tile {
  TensorMap2d map;
  Place global;
  int x, y;
};

// What was unwritten stays unwritten on its way.
void move_in(const Tile& tile, Space& to, std::uint32_t dst) {
  const Space& from = *tile.global.space;
  const std::size_t bytes = tile.map.element_bytes;
  for_box(tile.map, dst, tile.x, tile.y, [&](std::uint32_t address, std::int64_t offset) {
    char* const element = shared_bytes(to, address);
    if (offset < 0) {
      std::memset(element, 0, bytes);
      return;
    }
    const std::size_t at = tile.global.at + static_cast<std::size_t>(offset);
    std::memcpy(element, from.bytes + at, bytes);
    std::memcpy(to.written.data() + (element - to.bytes), from.written.data() + at, bytes);
  });
}

void load_into(unsigned rank, const Tile& tile, Thread& thread, std::uint32_t dst, std::uint32_t bar, int line) {
  const std::uint32_t bytes = tile.map.box_bytes();
  const Place to = shared_place(kiln_device::mapa(dst, rank), bytes, box_align(tile.map));
  Mbarrier& mbarrier = usable_mbarrier(kiln_device::mapa(bar, rank), thread, true);
  const std::uint32_t phase = mbarrier.phase;
  const Stamp stamp(phase + 1, mbarrier.loads, line);
  touch_write(*to.space, to.at, bytes, {&thread.known, thread.agent, stamp, true});
  to.space->block->foreign[mbarrier.loads] = stamp;
  machine().pending.push_back([tile, dst, line, bytes, phase, to, &mbarrier] {
    move_in(tile, *to.space, dst);
    land(mbarrier, phase, bytes, line);
  });
}

void load(const kiln_device::TensorMap* encoded, std::uint32_t dst, std::uint32_t bar, int x, int y, unsigned ranks, int line) {
  Thread& thread = here("cp.async.bulk.tensor load", line);
  const TensorMap2d map = decoded(encoded);
  const Tile tile{map, mapped_place(map), x, y};
  const unsigned cluster = machine().launch.cluster;
  if (ranks >> cluster != 0) fail("out of bounds", "multicast mask 0x%x in a cluster of %u", ranks, cluster);
  require_previous_kernel(*tile.global.space, false, as_actor(thread));
  for (unsigned rank = 0; rank < cluster; ++rank)
    if ((ranks >> rank & 1) != 0) load_into(rank, tile, thread, dst, bar, line);
}

void move_out(const Tile& tile, const Space& from, std::uint32_t src) {
  for_box(tile.map, src, tile.x, tile.y, [&](std::uint32_t address, std::int64_t offset) {
    if (offset < 0) return;
    std::memcpy(tile.global.space->bytes + tile.global.at + static_cast<std::size_t>(offset), shared_bytes(from, address), tile.map.element_bytes);
  });
}

}  // namespace
}  // namespace kiln::generators::cuda::emulator

namespace kiln_device {
using namespace kiln::generators::cuda::emulator;

void tma_load(u32 dst, const TensorMap* map, u32 bar, int x, int y, u64, int line) {
  load(map, dst, bar, x, y, 1u << machine().current->block->rank, line);
}
void tma_load_multicast(u32 dst, const TensorMap* map, u32 bar, int x, int y, u16 ranks, u64, int line) { load(map, dst, bar, x, y, ranks, line); }

void tma_store(const TensorMap* map, u32 src, int x, int y, int line) {
  Thread& thread = here("cp.async.bulk.tensor store", line);
  const TensorMap2d decoded_map = decoded(map);
  const Tile tile{decoded_map, mapped_place(decoded_map), x, y};
  const Place from = shared_place(src, tile.map.box_bytes(), box_align(tile.map));
  const std::uint32_t group = open_copy(thread, Copies::stores);
  const Actor reader{&thread.known, thread.agent, {group + 1, thread.stores.reads, line}, true};
  const Actor writer{&thread.known, thread.agent, {group + 1, thread.stores.writes, line}, true};
  for_box(tile.map, src, x, y, [&](std::uint32_t address, std::int64_t offset) {
    if (offset < 0) return;
    touch_read(*from.space, inside_block(address) - kWindow, tile.map.element_bytes, reader);
    touch_write(*tile.global.space, tile.global.at + static_cast<std::size_t>(offset), tile.map.element_bytes, writer);
  });
  machine().pending.push_back([tile, src, group, from, &thread] {
    move_out(tile, *from.space, src);
    close_copy(thread, Copies::stores, group);
  });
}

}  // namespace kiln_device
