// TMA tiles. A copy is checked when it is issued, with what its issuer knows, and moves its bytes later, when the scheduler pleases: a missing wait
// shows both in the check and in the numbers.
#include <algorithm>
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

// 16 bytes of a box, the unit of swizzling: where they lie in shared memory, and which of them are inside the tensor.
struct Chunk {
  std::uint32_t address;
  std::uint32_t skip, bytes;  // those inside follow `skip` others
  std::size_t offset;         // of the first inside, from the map's base
};
constexpr std::uint32_t kChunkBytes = 16;

template <class F>
void for_chunks(const TensorMap2d& map, std::uint32_t shared, int x, int y, F f) {
  const std::int64_t inner = static_cast<std::int64_t>(map.inner), per_chunk = kChunkBytes / map.element_bytes, box_inner = map.box_inner;
  for (std::uint32_t i = 0; i < map.box_outer; ++i) {
    const std::int64_t row = std::int64_t{y} + i;
    const bool is_row_inside = row >= 0 && row < static_cast<std::int64_t>(map.outer);
    for (std::int64_t j = 0; j < box_inner; j += per_chunk) {
      const std::uint32_t address = shared + static_cast<std::uint32_t>(i * box_inner + j) * map.element_bytes;
      const std::int64_t column = x + j, begin = std::clamp<std::int64_t>(column, 0, inner), end = std::clamp(column + per_chunk, begin, std::max(begin, inner));
      const std::int64_t inside = is_row_inside ? end - begin : 0;
      const std::size_t offset = inside > 0 ? static_cast<std::size_t>(row) * map.pitch_bytes + static_cast<std::size_t>(begin) * map.element_bytes : 0;
      f(Chunk{swizzled(address, map.swizzle), static_cast<std::uint32_t>(begin - column) * map.element_bytes, static_cast<std::uint32_t>(inside) * map.element_bytes, offset});
    }
  }
}

// PTX ISA, "Tensor Copy": a tile starts on a whole pattern of its swizzle; without one at a multiple of 128 bytes.
std::uint32_t box_align(const TensorMap2d& map) { return map.swizzle == Swizzle::none ? 128 : 128u << static_cast<int>(map.swizzle); }

// The buffer that a map describes; its whole extent must lie inside.
Place mapped_place(const TensorMap2d& map) {
  const std::size_t extent = (map.outer - 1) * map.pitch_bytes + map.inner * map.element_bytes;
  return global_place(map.base, extent, 16, "a tensor map describes");
}

struct Tile {
  TensorMap2d map;
  Place global;
  int x, y;
};

// What was unwritten stays unwritten on its way.
void move_in(const Tile& tile, Space& to, std::uint32_t dst) {
  const Space& from = *tile.global.space;
  for_chunks(tile.map, dst, tile.x, tile.y, [&](const Chunk& chunk) {
    const std::size_t there = inside_block(chunk.address) - kWindow;
    std::memset(to.bytes + there, 0, kChunkBytes);
    if (chunk.bytes == 0) return;
    std::memcpy(to.bytes + there + chunk.skip, from.bytes + tile.global.at + chunk.offset, chunk.bytes);
    std::memcpy(to.written.data() + there + chunk.skip, from.written.data() + tile.global.at + chunk.offset, chunk.bytes);
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

void touch_out(const Tile& tile, const Place& from, std::uint32_t src, const Actor& reader, const Actor& writer) {
  for_chunks(tile.map, src, tile.x, tile.y, [&](const Chunk& chunk) {
    if (chunk.bytes == 0) return;
    touch_read(*from.space, inside_block(chunk.address) - kWindow + chunk.skip, chunk.bytes, reader);
    touch_write(*tile.global.space, tile.global.at + chunk.offset, chunk.bytes, writer);
  });
}

void move_out(const Tile& tile, const Space& from, std::uint32_t src) {
  for_chunks(tile.map, src, tile.x, tile.y, [&](const Chunk& chunk) {
    if (chunk.bytes == 0) return;
    std::memcpy(tile.global.space->bytes + tile.global.at + chunk.offset, from.bytes + inside_block(chunk.address) - kWindow + chunk.skip, chunk.bytes);
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
  touch_out(tile, from, src, reader, writer);
  machine().pending.push_back([tile, src, group, from, &thread] {
    move_out(tile, *from.space, src);
    close_copy(thread, Copies::stores, group);
  });
}

}  // namespace kiln_device
