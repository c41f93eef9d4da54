// The groups of a thread's asynchronous copies: bulk stores, which read shared memory and write global memory, and cp.async, which writes shared memory.
#include "generators/cuda/emulator/machine/fault.h"
#include "generators/cuda/emulator/units/units.h"

#include "generators/cuda/emulator/units/device.h"

namespace kiln::generators::cuda::emulator {
namespace {

void commit(CopyGroups& groups) {
  ++groups.committed;
  groups.open.push_back(0);
}

// Returns how many groups are known to be complete then.
std::uint32_t wait_until_open(CopyGroups& groups, int most_open) {
  if (groups.open.back() > 0) fail("uncommitted", "a bulk operation was issued and not committed before the wait");
  const std::uint32_t most = static_cast<std::uint32_t>(most_open);
  const std::uint32_t complete = groups.committed > most ? groups.committed - most : 0;
  for (std::uint32_t group = 0; group < complete; ++group)
    while (groups.open[group] > 0) wait_in(groups.waiting, {Wait::For::bulk_group, &groups, group + 1});
  return complete;
}

void learn_epoch(Thread& thread, Agent agent, std::uint32_t epoch) {
  if (epoch > 0) thread.known = machine().joins.with(thread.known, agent, epoch);
}

}  // namespace

// Agents are made when they are first needed: most threads copy nothing.
CopyGroups& groups_of(Thread& thread, Copies which) {
  CopyGroups& groups = which == Copies::stores ? thread.stores : thread.copies;
  if (groups.reads == 0) {
    const auto kind = which == Copies::stores ? AgentName::Kind::stores : AgentName::Kind::copies;
    groups.reads = machine().new_agent(kind, thread.block, thread.index);
    groups.writes = machine().new_agent(kind, thread.block, thread.index);
  }
  return groups;
}

std::uint32_t open_copy(Thread& thread, Copies which) {
  CopyGroups& groups = groups_of(thread, which);
  ++groups.open[groups.committed];
  return groups.committed;
}

void close_copy(Thread& thread, Copies which, std::uint32_t group) {
  CopyGroups& groups = groups_of(thread, which);
  if (--groups.open[group] == 0) wake(groups.waiting);
}

}  // namespace kiln::generators::cuda::emulator

namespace kiln_device {
using namespace kiln::generators::cuda::emulator;

void bulk_commit(int line) { commit(groups_of(here("cp.async.bulk.commit_group", line), Copies::stores)); }

void bulk_wait_(int groups, bool read_only, int line) {
  Thread& thread = here("cp.async.bulk.wait_group", line);
  CopyGroups& stores = groups_of(thread, Copies::stores);
  const std::uint32_t complete = wait_until_open(stores, groups);
  learn_epoch(thread, stores.reads, complete);
  if (!read_only) learn_epoch(thread, stores.writes, complete);
}

void cp_async_commit(int line) { commit(groups_of(here("cp.async.commit_group", line), Copies::asyncs)); }

void cp_async_wait_(int groups, int line) {
  Thread& thread = here("cp.async.wait_group", line);
  CopyGroups& copies = groups_of(thread, Copies::asyncs);
  learn_epoch(thread, copies.writes, wait_until_open(copies, groups));
}

}  // namespace kiln_device
