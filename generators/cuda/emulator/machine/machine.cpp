// Sets a launch up, runs it, and looks at what is left when nothing can go on.
#include "generators/cuda/emulator/machine/machine.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <stdexcept>

#include "generators/cuda/emulator/machine/addresses.h"
#include "generators/cuda/emulator/machine/fault.h"

#include "generators/cuda/emulator/device/language.cuh"

namespace kiln::generators::cuda::emulator {
namespace {

Machine* running = nullptr;

// Makes a machine the one that the prelude's functions reach.
class Running {
 public:
  explicit Running(Machine& machine) {
    if (running != nullptr) throw std::logic_error("a launch is already being emulated in this process");
    running = &machine;
  }
  ~Running() { running = nullptr; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
};

// Only the pages that fibers touch take memory.
class Stacks {
 public:
  explicit Stacks(std::size_t count) : bytes_(count * kStackBytes) {
    void* const mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<char*>(mapped);
  }
  ~Stacks() { munmap(base_, bytes_); }
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  char* stack(std::size_t index) const { return base_ + index * kStackBytes; }

 private:
  char* base_;
  std::size_t bytes_;
};

void check(const Launch& launch) {
  auto require = [](bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(std::string("launch: ") + what);
  };
  require(launch.grid > 0 && launch.cluster > 0 && launch.grid % launch.cluster == 0, "the grid must be a whole number of clusters");
  require(launch.grid <= kMostBlocks, "at most 64 blocks can be emulated");
  require(launch.threads > 0 && launch.threads % 32 == 0 && launch.threads <= 1024, "a block has whole warps, at most 1024 threads");
  require(launch.grid * launch.threads <= kMostThreads, "at most 16384 threads can be emulated");
  require(launch.shared_bytes <= kMostSharedBytes, "a block may use 232448 bytes of shared memory");
}

// Registers of a thread at the start of a kernel whose blocks fill the 65,536 of an SM (CUDA programming guide, compute capability 9.0).
int registers_at_start(const Launch& launch) {
  return static_cast<int>(std::min(255u, 65536 / std::max(1u, launch.blocks_per_sm) / launch.threads) / 8 * 8);
}

void add_block(Machine& m, unsigned index, const Stacks& stacks) {
  const Launch& launch = m.launch;
  Block& block = m.blocks.emplace_back();
  block.index = index;
  block.rank = index % launch.cluster;
  block.cluster = &m.clusters[index / launch.cluster];
  block.live = launch.threads;
  block.cluster->live += launch.threads;
  block.shared.block = &block;
  block.shared.size = launch.shared_bytes;
  block.shared.bytes = m.memory->region().base + index * kArena;
  poison_shared(block);
  block.warpgroups.resize((launch.threads + 127) / 128);
  block.warps.resize(launch.threads / 32);
  for (Warp& warp : block.warps) warp.registers = registers_at_start(launch);
  for (unsigned i = 0; i < launch.threads; ++i) {
    Thread& thread = m.threads.emplace_back();
    thread.index = i;
    thread.block = &block;
    thread.agent = m.new_agent(AgentName::Kind::thread, &block, i);
    thread.stack = stacks.stack(m.threads.size() - 1);
    m.ready.push_back(&thread);
  }
}

void set_up(Machine& m, const Stacks& stacks) {
  static constexpr unsigned kAsyncPeriods[] = {64, 0, 1, 8}, kYieldPeriods[] = {0, 8, 0, 32};
  m.random.seed(m.launch.seed);
  m.async_period = kAsyncPeriods[m.launch.seed % 4];
  m.yield_period = kYieldPeriods[m.launch.seed / 4 % 4];
  kiln_device::gridDim = {m.launch.grid, 1, 1};
  kiln_device::blockDim = {m.launch.threads, 1, 1};
  for (Space& space : m.memory->region().buffers)  // what earlier launches did is done
    if (!space.is_input()) space.cells.assign((space.size + 3) / 4, {});
  m.clusters.resize(m.launch.grid / m.launch.cluster);
  for (unsigned b = 0; b < m.launch.grid; ++b) add_block(m, b, stacks);
  for (Block& block : m.blocks)
    for (unsigned w = 0; w < block.warpgroups.size(); ++w) block.warpgroups[w].agent = m.new_agent(AgentName::Kind::wgmma, &block, w);
  m.previous_kernel = m.new_agent(AgentName::Kind::previous_kernel, nullptr, 0);
}

// A block may end when its threads do: whoever reaches its shared memory from outside must be waited for by one of them.
void check_exits(Machine& m) {
  for (const Block& block : m.blocks)
    for (const auto& [agent, stamp] : block.foreign) {
      if (agent < block.known_at_exit.size() && block.known_at_exit[agent] >= stamp.epoch) continue;
      m.report.kind = "exited block";
      m.report.text = format("exited block: block %u may end before %s reaches its shared memory; no thread of it waits for that", block.index, describe(stamp).c_str());
      return;
    }
}

}  // namespace

Machine& machine() { return *running; }
bool is_running() { return running != nullptr && running->current != nullptr; }

Agent Machine::new_agent(AgentName::Kind kind, Block* block, unsigned index) {
  if (agents.size() > 0xFFFF) fail("not emulated", "more than 65536 threads, mbarriers and asynchronous units; use a smaller grid");
  agents.push_back({kind, block, index});
  return static_cast<Agent>(agents.size() - 1);
}

Report run(const Launch& launch, Memory& memory, Entry entry, void** arguments) {
  check(launch);
  Machine m;
  const Running here(m);
  m.launch = launch;
  m.memory = &memory;
  m.entry = entry;
  m.arguments = arguments;
  const Stacks stacks(std::size_t{launch.grid} * launch.threads);
  set_up(m, stacks);
  run_until_stuck(m);
  if (!m.report.ok()) return m.report;
  if (std::all_of(m.threads.begin(), m.threads.end(), [](const Thread& thread) { return thread.has_finished; })) {
    check_exits(m);
  } else {
    m.report.kind = "deadlock";
    m.report.text = deadlock_text(m);
  }
  return m.report;
}

void learn(Thread& thread, const Clock& clock) { thread.known = machine().joins.join(thread.known, clock); }
Clock snapshot(Thread& thread) { return machine().joins.with(thread.known, thread.agent, thread.epoch++); }
void gather(Gathered& gathered, Thread& thread) { gathered.add(thread.known, thread.agent, thread.epoch++); }
Actor as_actor(const Thread& thread) { return {&thread.known, thread.agent, {thread.epoch, thread.agent, thread.line}, false}; }

}  // namespace kiln::generators::cuda::emulator
