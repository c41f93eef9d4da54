// Every CUDA thread is a fiber: its stack is entered once by makecontext, then left and entered by _setjmp and _longjmp, which make no system call.
#undef _FORTIFY_SOURCE  // its longjmp refuses to change stacks
#include <ucontext.h>

#include <algorithm>
#include <cstddef>

#include "generators/cuda/emulator/machine/fault.h"
#include "generators/cuda/emulator/machine/machine.h"
#include "generators/cuda/emulator/units/units.h"

#include "generators/cuda/emulator/device/language.cuh"

kiln_device::Dim3 kiln_device::threadIdx, kiln_device::blockIdx, kiln_device::blockDim, kiln_device::gridDim;

namespace kiln::generators::cuda::emulator {
namespace {

void record(const Fault& fault) {
  machine().report.kind = fault.kind;
  machine().report.text = fault.text;
}

void leave(Thread& thread) {
  here("exit", thread.line);
  if (std::any_of(thread.stores.open.begin(), thread.stores.open.end(), [](int open) { return open > 0; }))
    fail("store in flight", "%s exits before cp.async.bulk.wait_group", describe(thread).c_str());
  thread.has_finished = true;
  --thread.block->live;
  raise(thread.block->known_at_exit, thread.known);
  raise(thread.block->known_at_exit, thread.agent, thread.epoch);
  leave_cluster(thread);
}

// Whatever leaves the kernel ends here: the frames below are makecontext's.
void fiber_body() {
  try {
    machine().entry(machine().arguments);
    leave(*machine().current);
  } catch (const Fault& fault) {
    record(fault);
  }
  _longjmp(machine().scheduler, 1);
}

void enter(Thread& thread) {
  if (thread.has_started) _longjmp(thread.fiber, 1);
  thread.has_started = true;
  ucontext_t fiber, left;
  getcontext(&fiber);
  fiber.uc_stack.ss_sp = thread.stack;
  fiber.uc_stack.ss_size = kStackBytes;
  fiber.uc_link = nullptr;
  makecontext(&fiber, fiber_body, 0);
  swapcontext(&left, &fiber);
}

void resume(Thread& thread) {
  machine().current = &thread;
  ++machine().report.switches;
  kiln_device::threadIdx = {thread.index, 0, 0};
  kiln_device::blockIdx = {thread.block->index, 0, 0};
  if (_setjmp(machine().scheduler) == 0) enter(thread);
  machine().current = nullptr;
}

void suspend() {
  if (_setjmp(machine().current->fiber) == 0) _longjmp(machine().scheduler, 1);
}

// Takes one of the list; the order of the rest does not matter, only that it is the same in each run.
template <class T>
T take(std::vector<T>& from, std::mt19937& random) {
  std::swap(from[random() % from.size()], from.back());
  T taken = std::move(from.back());
  from.pop_back();
  return taken;
}

void perform_pending(Machine& m) {
  const std::function<void()> operation = take(m.pending, m.random);
  ++m.report.async_operations;
  try {
    operation();
  } catch (const Fault& fault) {
    record(fault);
  }
}

}  // namespace

void run_until_stuck(Machine& m) {
  while (m.report.ok()) {
    const bool is_async = !m.pending.empty() && (m.ready.empty() || (m.async_period > 0 && m.random() % m.async_period == 0));
    if (is_async)
      perform_pending(m);
    else if (!m.ready.empty())
      resume(*take(m.ready, m.random));
    else
      return;
  }
}

Thread& here(const char* instruction, int line) {
  Machine& m = machine();
  Thread& thread = *m.current;
  thread.instruction = instruction;
  thread.line = line;
  m.polls = m.plain_accesses = 0;
  if (static_cast<char*>(__builtin_frame_address(0)) - thread.stack < std::ptrdiff_t{kStackBytes / 4})
    fail("stack", "the locals of the kernel need more than the %zu bytes that a fiber has for them", kStackBytes * 3 / 4);
  if (m.yield_period > 0 && m.random() % m.yield_period == 0) yield();
  return thread;
}

void yield() {
  machine().ready.push_back(machine().current);
  suspend();
}

void wait_in(Waiting& waiting, const Wait& wait) {
  Thread& thread = *machine().current;
  thread.wait = wait;
  waiting.push_back(&thread);
  suspend();
  thread.wait = {};
}

void wake(Waiting& waiting) {
  machine().ready.insert(machine().ready.end(), waiting.begin(), waiting.end());
  waiting.clear();
}

}  // namespace kiln::generators::cuda::emulator
