// barrier.cluster, arrive and wait apart, and the addresses of a cluster.
#include "generators/cuda/emulator/machine/fault.h"
#include "generators/cuda/emulator/units/units.h"

#include "generators/cuda/emulator/units/device.h"

namespace kiln::generators::cuda::emulator {
namespace {

// Complete once all threads of the cluster that still run have arrived.
void settle(Cluster& cluster) {
  if (cluster.arrived == 0 || cluster.arrived < cluster.live) return;
  cluster.completed = cluster.gathered.clock();
  cluster.gathered = {};
  cluster.arrived = 0;
  ++cluster.phase;
  wake(cluster.waiting);
}

void arrive(Thread& thread) {
  Cluster& cluster = *thread.block->cluster;
  if (thread.has_arrived_at_cluster) fail("arrival count", "barrier.cluster.arrive twice without a barrier.cluster.wait between");
  gather(cluster.gathered, thread);
  thread.has_arrived_at_cluster = true;
  thread.cluster_phase = cluster.phase;
  ++cluster.arrived;
  settle(cluster);
}

void wait(Thread& thread) {
  Cluster& cluster = *thread.block->cluster;
  if (!thread.has_arrived_at_cluster) fail("arrival count", "barrier.cluster.wait without a barrier.cluster.arrive before it");
  if (cluster.phase == thread.cluster_phase) wait_in(cluster.waiting, {Wait::For::cluster, &cluster, 0});
  thread.has_arrived_at_cluster = false;
  learn(thread, cluster.completed);  // still of that phase: the next one needs this thread
}

}  // namespace

void leave_cluster(Thread& thread) {
  Cluster& cluster = *thread.block->cluster;
  --cluster.live;
  if (thread.has_arrived_at_cluster && thread.cluster_phase == cluster.phase) --cluster.arrived;
  settle(cluster);
}

}  // namespace kiln::generators::cuda::emulator

namespace kiln_device {
using namespace kiln::generators::cuda::emulator;

void cluster_arrive(int line) { arrive(here("barrier.cluster.arrive", line)); }
void cluster_wait(int line) { wait(here("barrier.cluster.wait", line)); }
void cluster_sync(int line) {
  Thread& thread = here("barrier.cluster", line);
  arrive(thread);
  wait(thread);
}

u32 cluster_rank() { return machine().current->block->rank; }
u32 mapa(u32 address, u32 rank) { return (address & 0xFFFFFF) | (rank + 1) << 24; }

}  // namespace kiln_device
