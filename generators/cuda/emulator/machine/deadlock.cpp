// The report of a deadlock: who waits for what, in few lines however many threads there are.
#include <algorithm>
#include <map>

#include "generators/cuda/emulator/machine/fault.h"

namespace kiln::generators::cuda::emulator {
namespace {

std::string awaited_mbarrier(const Thread& thread, const Mbarrier& m) {
  return format("mbarrier %s, parity %u: it is in phase %u (parity %u), %u of %u arrivals and %lld bytes still to come", mbarrier_name(*thread.block, m).c_str(),
                thread.wait.value, m.phase, m.phase & 1, m.pending, m.expected, static_cast<long long>(m.bytes));
}

std::string awaited(const Thread& thread) {
  switch (thread.wait.what) {
    case Wait::For::mbarrier: return awaited_mbarrier(thread, *static_cast<const Mbarrier*>(thread.wait.object));
    case Wait::For::named_barrier: {
      const auto& barrier = *static_cast<const NamedBarrier*>(thread.wait.object);
      return format("bar.sync %td: %u of %u threads have arrived", &barrier - thread.block->named, barrier.arrived, barrier.expected);
    }
    case Wait::For::cluster:
      return format("barrier.cluster: %u arrived, %u threads of the cluster still run", thread.block->cluster->arrived, thread.block->cluster->live);
    case Wait::For::wgmma: return format("wgmma group %u of its warpgroup: not all 128 threads have issued or committed it", thread.wait.value);
    case Wait::For::bulk_group: return format("its bulk group %u", thread.wait.value);
    case Wait::For::warp: return format("the other lanes of its warp at %s", static_cast<const Warp*>(thread.wait.object)->instruction);
    case Wait::For::registers: return format("setmaxnreg.inc to %u: %d registers are free in the block", thread.wait.value, thread.block->registers_free);
    case Wait::For::nothing: break;
  }
  return "nothing";
}

// "384 threads (0-127, 159, …)"; `threads` ascend.
std::string counted(const std::vector<const Thread*>& threads) {
  constexpr int kRanges = 4;
  std::string text = format("%zu thread%s (", threads.size(), threads.size() == 1 ? "" : "s");
  int ranges = 0;
  for (std::size_t i = 0; i < threads.size();) {
    std::size_t last = i;
    while (last + 1 < threads.size() && threads[last + 1]->index == threads[last]->index + 1) ++last;
    if (ranges == kRanges) return text + ", ...)";
    text += format(i == last ? "%s%u" : "%s%u-%u", ranges > 0 ? ", " : "", threads[i]->index, threads[last]->index);
    ++ranges;
    i = last + 1;
  }
  return text + ")";
}

}  // namespace

std::string deadlock_text(const Machine& machine) {
  constexpr std::size_t kGroups = 12;
  std::map<std::string, std::vector<const Thread*>> groups;
  for (const Thread& thread : machine.threads)
    if (!thread.has_finished) groups[format("block %u, line %d: waiting for ", thread.block->index, thread.line) + awaited(thread)].push_back(&thread);
  std::string text = "deadlock: every thread that still runs is waiting";
  std::size_t lines = 0;
  for (const auto& [what, threads] : groups) {
    if (++lines > kGroups) return text + format("\n  ... and %zu more groups", groups.size() - kGroups);
    text += "\n  " + counted(threads) + " of " + what;
  }
  return text;
}

}  // namespace kiln::generators::cuda::emulator
