// mbarriers: phases that end when all arrivals and all expected bytes have come. What the arriving threads knew, the waiting threads learn.
#include <algorithm>

#include "generators/cuda/emulator/machine/addresses.h"
#include "generators/cuda/emulator/machine/fault.h"
#include "generators/cuda/emulator/units/units.h"

#include "generators/cuda/emulator/units/device.h"

namespace kiln::generators::cuda::emulator {
namespace {

constexpr std::uint32_t kMostArrivals = (1u << 20) - 1;  // PTX ISA, "mbarrier": counts and bytes of a phase are 20 bits
constexpr std::int64_t kMostBytes = (1 << 20) - 1;

std::string name_of(const Mbarrier& mbarrier) { return mbarrier_name(*machine().agents[mbarrier.loads].block, mbarrier); }

// Initialised barriers are used by TMA and by other blocks only after fence.mbarrier_init of the thread that initialised them.
void check_init_fence(const Mbarrier& mbarrier, const Thread& thread) {
  const std::vector<std::uint32_t>& fences = machine().threads[mbarrier.init.agent].init_fences;
  const auto fence = std::lower_bound(fences.begin(), fences.end(), mbarrier.init.epoch);
  if (fence == fences.end() || !thread.knows(mbarrier.init.agent, *fence))
    fail("unfenced", "mbarrier %s is used by TMA or by another block without fence.mbarrier_init after its init (line %d)", name_of(mbarrier).c_str(), int{mbarrier.init.line});
}

void settle(Mbarrier& mbarrier) {
  if (mbarrier.pending > 0 || mbarrier.bytes != 0) return;
  ++mbarrier.phase;
  mbarrier.pending = mbarrier.expected;
  mbarrier.gathered.add(mbarrier.loads, mbarrier.phase);
  mbarrier.completed = mbarrier.gathered.clock();
  for (Thread* thread : mbarrier.waiting) learn(*thread, mbarrier.completed);
  wake(mbarrier.waiting);
}

void arrive(Mbarrier& mbarrier, Thread& thread) {
  if (mbarrier.pending == 0)
    fail("arrival count", "one arrival more than the %u that mbarrier %s expects in phase %u", mbarrier.expected, name_of(mbarrier).c_str(), mbarrier.phase);
  Block& home = *machine().agents[mbarrier.loads].block;
  if (&home != thread.block) home.foreign[thread.agent] = as_actor(thread).stamp;
  gather(mbarrier.gathered, thread);
  --mbarrier.pending;
  settle(mbarrier);
}

}  // namespace

Mbarrier& usable_mbarrier(std::uint32_t address, const Thread& thread, bool by_async) {
  Block& block = block_of(address);
  const auto found = block.mbarriers.find(inside_block(address));
  if (found == block.mbarriers.end())
    fail("no mbarrier", "shared offset %d of block %u holds no initialised mbarrier", static_cast<int>(inside_block(address)) - static_cast<int>(kWindow), block.index);
  Mbarrier& mbarrier = found->second;
  if (block.live == 0) fail("exited block", "mbarrier %s of block %u, which has exited", name_of(mbarrier).c_str(), block.index);
  if (!thread.knows(mbarrier.init.agent, mbarrier.init.epoch))
    fail("race", "mbarrier %s is used before its mbarrier.init (line %d) is known here", name_of(mbarrier).c_str(), int{mbarrier.init.line});
  if (by_async || &block != thread.block) check_init_fence(mbarrier, thread);
  return mbarrier;
}

void land(Mbarrier& mbarrier, std::uint32_t phase, std::uint32_t bytes, int line) {
  if (mbarrier.phase != phase)
    fail("transaction", "the TMA load of line %d was issued in phase %u of its mbarrier %s and lands in phase %u: expect_tx was too small", line, phase,
         name_of(mbarrier).c_str(), mbarrier.phase);
  mbarrier.bytes -= bytes;
  settle(mbarrier);
}

}  // namespace kiln::generators::cuda::emulator

namespace kiln_device {
using namespace kiln::generators::cuda::emulator;

void mbar_init(u32 bar, u32 arrivals, int line) {
  Thread& thread = here("mbarrier.init", line);
  const Place place = shared_place(bar, 8, 8);
  if (arrivals == 0 || arrivals > kMostArrivals) fail("arrival count", "mbarrier.init with %u arrivals; 1 to %u are possible", arrivals, kMostArrivals);
  if (thread.block->mbarriers.contains(bar)) fail("barrier overwritten", "mbarrier.init of %s, which is initialised already", place_name(*place.space, place.at).c_str());
  touch_write(*place.space, place.at, 8, as_actor(thread));
  for (std::size_t cell = place.at / 4; cell < place.at / 4 + 2; ++cell) place.space->cells[cell].in_mbarrier = true;
  Mbarrier& mbarrier = thread.block->mbarriers[bar];
  mbarrier.address = bar;
  mbarrier.expected = mbarrier.pending = arrivals;
  mbarrier.init = as_actor(thread).stamp;
  mbarrier.loads = machine().new_agent(AgentName::Kind::loads, thread.block, bar);
}

void fence_mbar_init(int line) {
  Thread& thread = here("fence.mbarrier_init", line);
  thread.init_fences.push_back(thread.epoch++);
}

void mbar_expect_tx(u32 bar, u32 bytes, int line) {
  Thread& thread = here("mbarrier.arrive.expect_tx", line);
  Mbarrier& mbarrier = usable_mbarrier(bar, thread, false);
  mbarrier.bytes += bytes;
  if (mbarrier.bytes > kMostBytes) fail("transaction", "%lld bytes expected in one phase; the limit is 2^20-1", static_cast<long long>(mbarrier.bytes));
  arrive(mbarrier, thread);
}

void mbar_arrive(u32 bar, int line) {
  Thread& thread = here("mbarrier.arrive", line);
  arrive(usable_mbarrier(bar, thread, false), thread);
}

void mbar_arrive_remote(u32 bar, u32 rank, int line) {
  Thread& thread = here("mbarrier.arrive.shared::cluster", line);
  arrive(usable_mbarrier(mapa(bar, rank), thread, false), thread);
}

void mbar_wait(u32 bar, u32 parity, int line) {
  Thread& thread = here("mbarrier.try_wait.parity", line);
  if (parity > 1) fail("parity", "mbarrier.try_wait.parity with parity %u; it is 0 or 1", parity);
  Mbarrier& mbarrier = usable_mbarrier(bar, thread, false);
  if ((mbarrier.phase & 1) == parity)
    wait_in(mbarrier.waiting, {Wait::For::mbarrier, &mbarrier, parity});  // the end of the phase tells it what is known
  else
    learn(thread, mbarrier.completed);
}

}  // namespace kiln_device
