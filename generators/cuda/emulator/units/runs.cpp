// Copies of a run of bytes: bulk loads and stores, and cp.async. Checked when issued, done later, as the tiles are.
#include <cstring>

#include "generators/cuda/emulator/machine/addresses.h"
#include "generators/cuda/emulator/machine/fault.h"
#include "generators/cuda/emulator/units/units.h"

#include "generators/cuda/emulator/units/device.h"

namespace kiln::generators::cuda::emulator {
namespace {

constexpr std::uint32_t kAlign = 16;

void check_size(std::uint32_t bytes) {
  if (bytes == 0 || bytes % kAlign != 0) fail("misaligned", "a bulk copy of %u bytes; the size must be a multiple of %u", bytes, kAlign);
}

char* bytes_at(const Place& place) { return place.space->bytes + place.at; }

}  // namespace
}  // namespace kiln::generators::cuda::emulator

namespace kiln_device {
using namespace kiln::generators::cuda::emulator;

void bulk_load(u32 dst, const void* src, u32 bytes, u32 bar, int line) {
  Thread& thread = here("cp.async.bulk load", line);
  check_size(bytes);
  const Place from = global_place(src, bytes, kAlign, "cp.async.bulk from"), to = shared_place(dst, bytes, kAlign);
  Mbarrier& mbarrier = usable_mbarrier(bar, thread, true);
  touch_read(*from.space, from.at, bytes, {&thread.known, thread.agent, as_actor(thread).stamp, true});
  const u32 phase = mbarrier.phase;
  const Stamp stamp(phase + 1, mbarrier.loads, line);
  touch_write(*to.space, to.at, bytes, {&thread.known, thread.agent, stamp, true});
  to.space->block->foreign[mbarrier.loads] = stamp;
  machine().pending.push_back([from, to, bytes, phase, line, &mbarrier] {
    std::memcpy(bytes_at(to), bytes_at(from), bytes);
    land(mbarrier, phase, bytes, line);
  });
}

void bulk_store(void* dst, u32 src, u32 bytes, int line) {
  Thread& thread = here("cp.async.bulk store", line);
  check_size(bytes);
  const Place to = global_place(dst, bytes, kAlign, "cp.async.bulk to"), from = shared_place(src, bytes, kAlign);
  const u32 group = open_copy(thread, Copies::stores);
  touch_read(*from.space, from.at, bytes, {&thread.known, thread.agent, {group + 1, thread.stores.reads, line}, true});
  touch_write(*to.space, to.at, bytes, {&thread.known, thread.agent, {group + 1, thread.stores.writes, line}, true});
  machine().pending.push_back([from, to, bytes, group, &thread] {
    std::memcpy(bytes_at(to), bytes_at(from), bytes);
    close_copy(thread, Copies::stores, group);
  });
}

void cp_async_16(u32 dst, const void* src, int line) {
  Thread& thread = here("cp.async", line);
  const Place from = global_place(src, 16, kAlign, "cp.async from"), to = shared_place(dst, 16, kAlign);
  touch_read(*from.space, from.at, 16, as_actor(thread));
  const u32 group = open_copy(thread, Copies::asyncs);
  touch_write(*to.space, to.at, 16, {&thread.known, thread.agent, {group + 1, thread.copies.writes, line}, false});
  machine().pending.push_back([from, to, group, &thread] {
    std::memcpy(bytes_at(to), bytes_at(from), 16);
    close_copy(thread, Copies::asyncs, group);
  });
}

}  // namespace kiln_device
