// wgmma: issued when the 128th thread of the warpgroup issues it, checked then with what all of them know, executed later and in order.
#include <algorithm>

#include "generators/cuda/emulator/machine/fault.h"
#include "generators/cuda/emulator/units/wgmma_operands.h"

#include "generators/cuda/emulator/units/device.h"

namespace kiln::generators::cuda::emulator {
namespace {

Clock known_to_all(const Wgmma& wgmma) {
  Epochs least = wgmma.known[0].epochs();
  for (unsigned i = 1; i < 128; ++i) {
    const Clock& clock = wgmma.known[i];
    if (clock == wgmma.known[i - 1]) continue;  // most of them hold the same snapshot
    for (std::size_t agent = 0; agent < least.size(); ++agent) least[agent] = std::min(least[agent], clock.of(static_cast<Agent>(agent)));
  }
  return Clock(std::move(least));
}

void check_operands(Block& block, const Warpgroup& warpgroup, const Wgmma& wgmma) {
  const Clock known = known_to_all(wgmma);
  const WgmmaCall& call = wgmma.call;
  const Actor actor{&known, -1, {call.group, warpgroup.agent, call.line}, true};
  touch_operand(block.shared, read_descriptor(call.a, call.ta != 0, "A"), kWgmmaRows, "A", actor);
  touch_operand(block.shared, read_descriptor(call.b, call.tb != 0, "B"), static_cast<std::uint32_t>(call.n), "B", actor);
}

// Completes the groups whose wgmmas are done and which all threads have committed; queues the next wgmma.
void advance(Block& block, Warpgroup& warpgroup) {
  const auto is_next_done = [&] {
    if (warpgroup.groups_done + 1 >= warpgroup.groups.size()) return false;
    const Warpgroup::Group& next = warpgroup.groups[warpgroup.groups_done + 1];
    return next.commits == 128 && warpgroup.first >= next.end;
  };
  while (is_next_done()) ++warpgroup.groups_done;
  wake(warpgroup.waiting);
  if (warpgroup.issued == warpgroup.first || warpgroup.is_queued) return;
  warpgroup.is_queued = true;
  machine().pending.push_back([&block, &warpgroup] {
    execute(block.shared, warpgroup.wgmmas.front());
    ++machine().report.wgmmas;
    warpgroup.wgmmas.pop_front();
    ++warpgroup.first;
    warpgroup.is_queued = false;
    advance(block, warpgroup);
  });
}

// The wgmma at the thread's place in program order; the first thread that comes to it makes it.
Wgmma& wgmma_for(Thread& thread, const WgmmaCall& call) {
  Warpgroup& warpgroup = thread.warpgroup();
  const std::uint64_t index = thread.wgmmas_issued++ - warpgroup.first;
  if (index == warpgroup.wgmmas.size()) warpgroup.wgmmas.emplace_back().call = call;
  Wgmma& wgmma = warpgroup.wgmmas[index];
  const WgmmaCall& others = wgmma.call;
  if (!others.agrees(call))
    fail("divergence", "the threads of warpgroup %u issue different wgmmas: here line %d, descriptors %llx %llx, scale-d %d; others line %d, %llx %llx, %d",
         thread.index / 128, call.line, static_cast<unsigned long long>(call.a), static_cast<unsigned long long>(call.b), call.scale_d, others.line,
         static_cast<unsigned long long>(others.a), static_cast<unsigned long long>(others.b), others.scale_d);
  return wgmma;
}

void check_whole_warpgroup(const Thread& thread) {
  if (thread.index / 128 * 128 + 128 > machine().launch.threads)
    fail("divergence", "wgmma in warpgroup %u, which has only %u threads", thread.index / 128, machine().launch.threads % 128);
}

}  // namespace
}  // namespace kiln::generators::cuda::emulator

namespace kiln_device {
using namespace kiln::generators::cuda::emulator;

void wgmma_fence(int line) { here("wgmma.fence", line).is_wgmma_fenced = true; }

void issue_wgmma_(Element_ element, int n, int ta, int tb, float* d, u64 a, u64 b, int scale_d, int line) {
  Thread& thread = here("wgmma.mma_async", line);
  check_whole_warpgroup(thread);
  if (!thread.is_wgmma_fenced) fail("wgmma.fence", "wgmma without wgmma.fence since the last wait_group");
  const u32 group = thread.wgmma_groups + 1;
  auto& wgmma = wgmma_for(thread, {static_cast<int>(element), n, ta, tb, scale_d != 0 ? 1 : 0, a, b, group, line});
  wgmma.accumulators[thread.index % 128] = d;
  wgmma.known[thread.index % 128] = thread.known;
  thread.in_flight.push_back({reinterpret_cast<const char*>(d), reinterpret_cast<const char*>(d + n / 2), group, line});
  if (++wgmma.arrived < 128) return;
  check_operands(*thread.block, thread.warpgroup(), wgmma);
  ++thread.warpgroup().issued;
  advance(*thread.block, thread.warpgroup());
}

void wgmma_commit(int line) {
  Thread& thread = here("wgmma.commit_group", line);
  check_whole_warpgroup(thread);
  Warpgroup& warpgroup = thread.warpgroup();
  if (++thread.wgmma_groups == warpgroup.groups.size()) warpgroup.groups.emplace_back();
  Warpgroup::Group& group = warpgroup.groups[thread.wgmma_groups];
  group.end = thread.wgmmas_issued;
  if (++group.commits == 128) advance(*thread.block, warpgroup);
}

void wgmma_wait_(int groups, int line) {
  Thread& thread = here("wgmma.wait_group", line);
  Warpgroup& warpgroup = thread.warpgroup();
  const u32 open = static_cast<u32>(groups), complete = thread.wgmma_groups > open ? thread.wgmma_groups - open : 0;
  while (warpgroup.groups_done < complete) wait_in(warpgroup.waiting, {Wait::For::wgmma, &warpgroup, warpgroup.groups_done + 1});
  thread.known = machine().joins.with(thread.known, warpgroup.agent, complete);
  std::erase_if(thread.in_flight, [&](const Flight& flight) { return flight.group <= complete; });
  thread.is_wgmma_fenced = false;
}

}  // namespace kiln_device
