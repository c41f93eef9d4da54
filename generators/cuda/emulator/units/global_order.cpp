// Order through global memory: __threadfence with atomics, flags that are acquired and released, and the end of the previous kernel; and
// fence.proxy.async.
//
// __threadfence is fence.sc.gpu (PTX ISA, "Memory Consistency Model", Fence-SC): what a thread did and knew before its fence is performed. An atomic
// hands on what its thread knows to be performed, by whichever thread's fence; who reads it takes that over at its own next fence. Modelling the
// fence as a release only would report the split-K idiom in which all threads fence, meet at a barrier, and one of them does the atomic.
#include <algorithm>

#include "generators/cuda/emulator/machine/addresses.h"
#include "generators/cuda/emulator/machine/fault.h"
#include "generators/cuda/emulator/units/units.h"

#include "generators/cuda/emulator/units/device.h"

namespace kiln::generators::cuda::emulator {
namespace {

// A plain store before the atomic is checked; a plain access after it is not.
void check_plain_store(const Place& word, const Thread& thread) {
  const Stamp& writer = word.space->cells[word.at / 4].writer;
  if (writer.happened() && !thread.knows(writer.agent, writer.epoch) && !thread.observed.knows(writer.agent, writer.epoch))
    fail("race", "atomic on %s, which was written by %s", place_name(*word.space, word.at).c_str(), describe(writer).c_str());
}

Place global_word(const unsigned* p, const char* what) {
  const Place word = global_place(p, 4, 4, what);
  if (word.space->is_input()) fail("read-only", "%s %s, an input", what, place_name(*word.space, word.at).c_str());
  return word;
}

void check_written(const Place& word, const char* what) {
  if (word.space->written[word.at] == 0) fail("uninitialised", "%s %s, which nothing has written", what, place_name(*word.space, word.at).c_str());
}

// What the thread knows of that is performed.
Clock performed_and_known(const Thread& thread) {
  Epochs epochs = machine().performed;
  for (std::size_t agent = 0; agent < epochs.size(); ++agent) {
    const Agent a = static_cast<Agent>(agent);
    epochs[agent] = std::min(epochs[agent], a == thread.agent ? thread.epoch : thread.known.of(a));
  }
  return Clock(std::move(epochs));
}

unsigned atomic(unsigned* p, unsigned v, int line, unsigned (*apply)(unsigned, unsigned)) {
  Thread& thread = here("atom", line);
  const Place word = global_word(p, "atomic on");
  require_previous_kernel(*word.space, true, as_actor(thread));
  check_written(word, "atomic on");
  check_plain_store(word, thread);
  Clock& handed_on = machine().atomics[word.space->bytes + word.at];
  thread.observed = machine().joins.join(thread.observed, handed_on);
  handed_on = machine().joins.join(handed_on, performed_and_known(thread));
  const unsigned old = *p;
  *p = apply(old, v);
  return old;
}

}  // namespace
}  // namespace kiln::generators::cuda::emulator

namespace kiln_device {
using namespace kiln::generators::cuda::emulator;

void __threadfence(int line) {
  Thread& thread = here("membar", line);
  learn(thread, thread.observed);
  raise(machine().performed, snapshot(thread));
}

unsigned atomicAdd(unsigned* p, unsigned v, int line) {
  return atomic(p, v, line, [](unsigned a, unsigned b) { return a + b; });
}
unsigned atomicMax(unsigned* p, unsigned v, int line) {
  return atomic(p, v, line, [](unsigned a, unsigned b) { return std::max(a, b); });
}

// A loop that polls lets the others run; when nobody does anything but poll, it is reported.
u32 ld_acquire(const u32* p, int line) {
  constexpr unsigned kPolls = 100;  // a thread
  Thread& thread = *machine().current;
  thread.instruction = "ld.acquire";
  thread.line = line;
  const Place word = global_word(p, "ld.acquire of");
  if (++machine().polls > kPolls * machine().threads.size()) fail("livelock", "only polling of %s goes on; it holds %u", place_name(*word.space, word.at).c_str(), *p);
  yield();
  check_written(word, "ld.acquire of");
  learn(thread, machine().atomics[word.space->bytes + word.at]);
  return *p;
}

void st_release(u32* p, u32 v, int line) {
  Thread& thread = here("st.release", line);
  const Place word = global_word(p, "st.release to");
  require_previous_kernel(*word.space, true, as_actor(thread));
  Clock& handed_on = machine().atomics[word.space->bytes + word.at];
  handed_on = machine().joins.join(handed_on, snapshot(thread));
  std::fill_n(word.space->written.begin() + static_cast<std::ptrdiff_t>(word.at), 4, std::uint8_t{1});
  *p = v;
}

void pdl_wait(int line) {
  Thread& thread = here("griddepcontrol.wait", line);
  thread.known = machine().joins.with(thread.known, machine().previous_kernel, 1);
}

void fence_async_proxy(int line) {
  Thread& thread = here("fence.proxy.async", line);
  thread.proxy_fences.push_back(thread.epoch++);
}

}  // namespace kiln_device
