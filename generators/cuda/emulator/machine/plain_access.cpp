// Plain loads and stores of a kernel. Its text is compiled with -fsanitize=thread, so the compiler reports each one; it is linked with these hooks
// instead of the sanitizer's. The hooks get an address: a range check tells stacks, shared memory and global buffers apart.
#include <cstring>

#include "generators/cuda/emulator/machine/addresses.h"
#include "generators/cuda/emulator/machine/fault.h"

namespace kiln::generators::cuda::emulator {
namespace {

constexpr unsigned kMostPlainAccesses = 10'000'000;  // a second of emulation; no kernel small enough for it needs so many

void check_accumulators(const Thread& thread, const char* p) {
  for (const Flight& flight : thread.in_flight)
    if (p >= flight.begin && p < flight.end)
      fail("accumulator", "%s touches an accumulator of the wgmma at line %d before wgmma.wait_group", describe(thread).c_str(), flight.line);
}

void touch(Space& space, std::size_t at, std::size_t bytes, bool is_write, const Thread& thread) {
  if (is_write)
    touch_write(space, at, bytes, as_actor(thread));
  else
    touch_read(space, at, bytes, as_actor(thread));
}

void touch_own_shared(std::size_t offset, std::size_t bytes, bool is_write, const Thread& thread) {
  const std::size_t block = offset / kArena, at = offset % kArena;
  if (block != thread.block->index || at + bytes > thread.block->shared.size)
    fail("out of bounds", "%zu bytes at shared offset %zu of block %zu; block %u has %zu bytes", bytes, at, block, thread.block->index, thread.block->shared.size);
  touch(thread.block->shared, at, bytes, is_write, thread);
}

// `align` is what the hardware demands of an access of this size; 1 where the compiler itself knows of none.
void plain_access(const void* p, std::size_t bytes, bool is_write, std::size_t align) {
  if (!is_running() || bytes == 0) return;
  Thread& thread = *machine().current;
  const char* const c = static_cast<const char*>(p);
  if (c >= thread.stack && c < thread.stack + kStackBytes) return check_accumulators(thread, c);
  const Region& region = machine().memory->region();
  if (!region.holds_shared(c) && !region.holds_global(c)) return;  // a constant of the host's
  thread.instruction = is_write ? "a plain store after it" : "a plain load after it";
  if (++machine().plain_accesses > kMostPlainAccesses)
    fail("livelock", "%u plain accesses without a wrapper between; a loop on a plain load never lets another thread run", kMostPlainAccesses);
  if (reinterpret_cast<std::uintptr_t>(c) % align != 0)
    fail("misaligned", "a plain %s of %zu bytes at an address that is not a multiple of it", is_write ? "store" : "load", bytes);
  if (region.holds_shared(c)) return touch_own_shared(static_cast<std::size_t>(c - region.base), bytes, is_write, thread);
  const Place place = global_place(c, bytes, 1, is_write ? "a plain store to" : "a plain load of");
  touch(*place.space, place.at, bytes, is_write, thread);
}

}  // namespace
}  // namespace kiln::generators::cuda::emulator

using kiln::generators::cuda::emulator::plain_access;

#define KILN_HOOKS(bytes)                                                                             \
  void __tsan_read##bytes(void* p) { plain_access(p, bytes, false, bytes); }                          \
  void __tsan_write##bytes(void* p) { plain_access(p, bytes, true, bytes); }                          \
  void __tsan_unaligned_read##bytes(void* p) { plain_access(p, bytes, false, 1); }                    \
  void __tsan_unaligned_write##bytes(void* p) { plain_access(p, bytes, true, 1); }                    \
  void __tsan_volatile_read##bytes(void* p) { plain_access(p, bytes, false, bytes); }                 \
  void __tsan_volatile_write##bytes(void* p) { plain_access(p, bytes, true, bytes); }

extern "C" {
KILN_HOOKS(1)
KILN_HOOKS(2)
KILN_HOOKS(4)
KILN_HOOKS(8)
KILN_HOOKS(16)
void __tsan_read_range(void* p, std::size_t bytes) { plain_access(p, bytes, false, 1); }
void __tsan_write_range(void* p, std::size_t bytes) { plain_access(p, bytes, true, 1); }
void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) {
  plain_access(from, bytes, false, 1);
  plain_access(to, bytes, true, 1);
  return std::memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, std::size_t bytes) {
  plain_access(from, bytes, false, 1);
  plain_access(to, bytes, true, 1);
  return std::memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, std::size_t bytes) {
  plain_access(to, bytes, true, 1);
  return std::memset(to, value, bytes);
}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
}
