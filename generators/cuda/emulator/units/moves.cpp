// Shared memory by address, and global memory through load_stream and store_stream.
#include <cstring>

#include "generators/cuda/emulator/machine/addresses.h"
#include "generators/cuda/emulator/machine/fault.h"
#include "generators/cuda/emulator/units/units.h"

#include "generators/cuda/emulator/units/device.h"

namespace kiln::generators::cuda::emulator {
namespace {

void move(const Place& place, void* registers, std::size_t bytes, bool store, const Thread& thread) {
  char* const there = place.space->bytes + place.at;
  if (store) {
    touch_write(*place.space, place.at, bytes, as_actor(thread));
    std::memcpy(there, registers, bytes);
  } else {
    touch_read(*place.space, place.at, bytes, as_actor(thread));
    std::memcpy(registers, there, bytes);
  }
}

// The widest access of sm_90 is 16 bytes.
std::size_t access_align(int bytes) { return bytes < 16 ? static_cast<std::size_t>(bytes) : 16; }

}  // namespace
}  // namespace kiln::generators::cuda::emulator

extern "C" char smem_raw[] { return reinterpret_cast<char(*)[]>(kiln::generators::cuda::emulator::machine().current->block->shared.bytes); }

namespace kiln_device {
using namespace kiln::generators::cuda::emulator;

u32 smem_u32(const void* p) {
  const Space& shared = machine().current->block->shared;
  const std::ptrdiff_t at = static_cast<const char*>(p) - shared.bytes;
  if (at < 0 || static_cast<std::size_t>(at) > shared.size) fail("out of bounds", "smem_u32 of an address outside the block's shared memory");
  return static_cast<u32>(at) + kWindow;
}

void move_shared_(u32 address, void* registers, int bytes, bool store, int line) {
  Thread& thread = here(store ? "st.shared" : "ld.shared", line);
  if (address != inside_block(address)) fail("out of bounds", "an address from mapa; ld_cluster and st_cluster reach other blocks");
  move(shared_place(address, static_cast<std::size_t>(bytes), static_cast<u32>(bytes)), registers, static_cast<std::size_t>(bytes), store, thread);
}

void move_cluster_(u32 address, float* value, bool store, int line) {
  Thread& thread = here(store ? "st.shared::cluster" : "ld.shared::cluster", line);
  const Place place = shared_place(address, 4, 4);
  move(place, value, 4, store, thread);
  if (place.space->block != thread.block) place.space->block->foreign[thread.agent] = as_actor(thread).stamp;
}

void load_words_(u32* w, const void* p, int bytes, int line) {
  Thread& thread = here("ld.global.nc", line);
  const Place place = global_place(p, static_cast<std::size_t>(bytes), access_align(bytes), "load_stream of");
  if (was_written_here(*place.space, place.at, static_cast<std::size_t>(bytes)))
    fail("non-coherent", "load_stream of %s, which this kernel writes", place_name(*place.space, place.at).c_str());
  move(place, w, static_cast<std::size_t>(bytes), false, thread);
}

void store_words_(void* p, const u32* w, int bytes, int line) {
  Thread& thread = here("st.global", line);
  const Place place = global_place(p, static_cast<std::size_t>(bytes), access_align(bytes), "store_stream to");
  move(place, const_cast<u32*>(w), static_cast<std::size_t>(bytes), true, thread);
}

// Reads nothing; of an address that is no argument's there would be nothing to read.
void prefetch_(const void* p, int line) {
  here("prefetch.global", line);
  global_place(p, 1, 1, "prefetch_l1 of");
}

}  // namespace kiln_device
