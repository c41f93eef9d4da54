// bar.sync and bar.arrive: 16 numbered barriers of a block.
#include "generators/cuda/emulator/machine/fault.h"
#include "generators/cuda/emulator/units/units.h"

#include "generators/cuda/emulator/units/device.h"

namespace kiln::generators::cuda::emulator {
namespace {

NamedBarrier& named_barrier(const Thread& thread, int id, int count) {
  if (id < 0 || id > 15) fail("barrier id", "bar.sync %d: there are 16", id);
  NamedBarrier& barrier = thread.block->named[id];
  const unsigned threads = machine().launch.threads;
  if (count % 32 != 0 || count <= 0 || static_cast<unsigned>(count) > threads)
    fail("barrier count", "bar.sync %d, %d: the count must be a multiple of 32 up to %u", id, count, threads);
  if (barrier.arrived > 0 && barrier.expected != static_cast<unsigned>(count))
    fail("barrier count", "bar.sync %d with count %d; the %u threads already there said %u", id, count, barrier.arrived, barrier.expected);
  return barrier;
}

// Returns what all who arrived know.
Clock complete(NamedBarrier& barrier) {
  Clock all = barrier.gathered.clock();
  for (Thread* thread : barrier.waiting) learn(*thread, all);
  barrier.gathered = {};
  barrier.arrived = 0;
  wake(barrier.waiting);
  return all;
}

void arrive(Thread& thread, int id, int count) {
  NamedBarrier& barrier = named_barrier(thread, id, count);
  barrier.expected = static_cast<unsigned>(count);
  gather(barrier.gathered, thread);
  if (++barrier.arrived == barrier.expected) complete(barrier);
}

void arrive_and_wait(Thread& thread, int id, int count) {
  NamedBarrier& barrier = named_barrier(thread, id, count);
  barrier.expected = static_cast<unsigned>(count);
  gather(barrier.gathered, thread);
  if (++barrier.arrived < barrier.expected) return wait_in(barrier.waiting, {Wait::For::named_barrier, &barrier, 0});
  learn(thread, complete(barrier));
}

}  // namespace
}  // namespace kiln::generators::cuda::emulator

namespace kiln_device {
using namespace kiln::generators::cuda::emulator;

void bar_sync(int id, int threads, int line) { arrive_and_wait(here("bar.sync", line), id, threads); }
void bar_arrive(int id, int threads, int line) { arrive(here("bar.arrive", line), id, threads); }
void __syncthreads(int line) { arrive_and_wait(here("__syncthreads", line), 0, static_cast<int>(machine().launch.threads)); }

}  // namespace kiln_device
