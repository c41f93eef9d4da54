// The state of one emulated launch: threads as fibers, barriers, asynchronous units, shadow memory. One OS thread, no locks.
#pragma once

#include <setjmp.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "generators/cuda/emulator/launch.h"
#include "generators/cuda/emulator/machine/clock.h"
#include "generators/cuda/emulator/machine/shadow.h"

namespace kiln::generators::cuda::emulator {

inline constexpr std::uint32_t kWindow = 1024;       // first dynamic shared address: the hardware keeps the first 1 KiB of a block
inline constexpr std::size_t kArena = 256 << 10;     // address space of one block's shared memory
inline constexpr std::size_t kStackBytes = 64 << 10;  // of a fiber

struct Thread;
using Waiting = std::vector<Thread*>;

struct Mbarrier {
  std::uint32_t address = 0, expected = 0, pending = 0, phase = 0;
  std::int64_t bytes = 0;  // transactions still to come in this phase
  Gathered gathered;       // cumulative over the phases
  Clock completed;         // what the last phase's end tells
  Agent loads = 0;         // of the TMA loads that complete here; its epoch is the phase + 1
  Stamp init;
  Waiting waiting;
};

// bar.sync and bar.arrive.
struct NamedBarrier {
  unsigned expected = 0, arrived = 0;
  Gathered gathered;
  Waiting waiting;
};

// What the threads of a warpgroup must agree on when they issue a wgmma: everything but the line.
struct WgmmaCall {
  int element;          // as a kiln_device::Element_
  int n, ta, tb, scale_d;
  std::uint64_t a, b;   // descriptors
  std::uint32_t group;  // from 1
  int line;

  bool agrees(const WgmmaCall& o) const {
    return element == o.element && n == o.n && ta == o.ta && tb == o.tb && scale_d == o.scale_d && a == o.a && b == o.b && group == o.group;
  }
};

// A wgmma in program order of its warpgroup; issued when all 128 threads have come to it.
struct Wgmma {
  WgmmaCall call;
  unsigned arrived = 0;
  float* accumulators[128] = {};
  Clock known[128];
};

struct Warpgroup {
  struct Group {
    unsigned commits = 0;   // threads that have committed it
    std::uint64_t end = 0;  // index of the first wgmma after it
  };
  std::deque<Wgmma> wgmmas;
  std::uint64_t first = 0, issued = 0;  // index of wgmmas.front(); how many were ever issued by all threads
  std::vector<Group> groups{1};         // numbered from 1
  std::uint32_t groups_done = 0;
  Agent agent = 0;
  Waiting waiting;
  bool is_queued = false;  // the front wgmma is among the pending operations
};

// Registers of a warp, and its collective instruction in progress.
struct Warp {
  int registers = 0;
  const char* instruction = nullptr;
  int line = 0;
  unsigned arrived = 0;
  std::uint64_t values[32][6] = {};
  Waiting waiting;
};

struct Cluster {
  unsigned live = 0;  // threads that still run
  unsigned arrived = 0;
  std::uint32_t phase = 0;
  Gathered gathered;
  Clock completed;
  Waiting waiting;
};

struct Block {
  unsigned index = 0, rank = 0;  // in the grid, in the cluster
  Cluster* cluster = nullptr;
  Space shared;
  std::map<std::uint32_t, Mbarrier> mbarriers;  // by window address
  NamedBarrier named[16];
  std::vector<Warpgroup> warpgroups;
  std::vector<Warp> warps;
  int registers_free = 0;
  Waiting waiting_for_registers;
  unsigned live = 0;
  std::map<Agent, Stamp> foreign;  // the last access by each agent from outside: some thread must know of it before the block ends
  Epochs known_at_exit;
};

struct Wait {
  enum class For { nothing, mbarrier, named_barrier, cluster, wgmma, bulk_group, warp, registers };
  For what = For::nothing;
  void* object = nullptr;
  std::uint32_t value = 0;
};

// The groups of asynchronous copies that one thread issued: its bulk stores, or its cp.asyncs.
struct CopyGroups {
  Agent reads = 0, writes = 0;  // epochs are group numbers from 1
  std::vector<int> open{0};     // open[g]: operations of group g + 1 in flight; the last group is not committed yet
  std::uint32_t committed = 0;
  Waiting waiting;
};

// Accumulators that a wgmma of this thread may still write.
struct Flight {
  const char *begin, *end;
  std::uint32_t group;
  int line;
};

struct Thread {
  unsigned index = 0;
  Block* block = nullptr;
  Agent agent = 0;
  std::uint32_t epoch = 1;
  Clock known;                                     // of others
  Clock observed;                                  // through atomics; known from the next __threadfence on
  std::vector<std::uint32_t> proxy_fences, init_fences;  // own epochs at fence.proxy.async, fence.mbarrier_init; ascending

  int line = 0;
  const char* instruction = "start";
  Wait wait;

  std::uint64_t wgmmas_issued = 0;
  std::uint32_t wgmma_groups = 0;
  bool is_wgmma_fenced = false;
  std::vector<Flight> in_flight;
  CopyGroups stores, copies;  // bulk stores; cp.async
  bool has_arrived_at_cluster = false;
  std::uint32_t cluster_phase = 0;  // of that arrival

  char* stack = nullptr;
  jmp_buf fiber;
  bool has_started = false, has_finished = false;

  bool knows(Agent other, std::uint32_t at) const { return other == agent ? epoch >= at : known.knows(other, at); }
  unsigned lane() const { return index % 32; }
  Warp& warp() const { return block->warps[index / 32]; }
  Warpgroup& warpgroup() const { return block->warpgroups[index / 128]; }
};

struct AgentName {
  enum class Kind { thread, loads, wgmma, stores, copies, previous_kernel };
  Kind kind;
  Block* block;
  unsigned index;  // of the thread or warpgroup; the address of the mbarrier
};

struct Machine {
  Launch launch;
  Memory* memory = nullptr;
  Report report;
  Entry entry = nullptr;
  void** arguments = nullptr;

  std::mt19937 random;
  unsigned async_period = 0;  // one step in so many is an asynchronous operation; 0: only when no thread can run
  unsigned yield_period = 0;  // one instruction in so many lets others run; 0: never
  std::deque<Cluster> clusters;
  std::deque<Block> blocks;
  std::deque<Thread> threads;  // the first agents, in order
  std::vector<AgentName> agents;
  Agent previous_kernel = 0;  // its epoch 1 is its end

  std::vector<std::vector<Stamp>> more_readers;
  std::map<const char*, Clock> atomics;  // what each atomic word hands on
  Epochs performed;                      // up to which epoch of each agent a __threadfence has made everything visible
  Joins joins;
  unsigned polls = 0;           // ld.acquire since anything else happened
  unsigned plain_accesses = 0;  // since a thread last came to a wrapper

  Waiting ready;
  std::vector<std::function<void()>> pending;  // asynchronous operations
  Thread* current = nullptr;
  jmp_buf scheduler;

  Agent new_agent(AgentName::Kind kind, Block* block, unsigned index);
};

// The launch in progress; there is one at a time in a process, because kernels reach it through free functions.
Machine& machine();
bool is_running();  // a thread of a kernel, not the scheduler

// ---- scheduler.cpp
// Runs fibers and asynchronous operations, chosen by the seed, until nothing can go on or something failed.
void run_until_stuck(Machine& machine);
// The thread that runs, arriving at an instruction; lets others run first when the seed says so.
Thread& here(const char* instruction, int line);
void yield();
void wait_in(Waiting& waiting, const Wait& wait);  // until woken
void wake(Waiting& waiting);

// ---- knowledge
void learn(Thread& thread, const Clock& clock);
// A release: what the thread knows and did, and a new epoch for what it does next.
Clock snapshot(Thread& thread);
void gather(Gathered& gathered, Thread& thread);
Actor as_actor(const Thread& thread);

}  // namespace kiln::generators::cuda::emulator
