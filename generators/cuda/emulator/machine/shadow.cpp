#include "generators/cuda/emulator/machine/shadow.h"

#include <algorithm>
#include <cstring>

#include "generators/cuda/emulator/machine/fault.h"

namespace kiln::generators::cuda::emulator {
namespace {

// Did the writer make fence.proxy.async after the write, and does the actor know? PTX would also accept a fence by a later thread on the path; Kiln's
// rule for kernels is the writer.
bool is_fenced(const Stamp& write, const Actor& actor) {
  if (machine().agents[write.agent].kind != AgentName::Kind::thread) return true;
  const std::vector<std::uint32_t>& fences = machine().threads[write.agent].proxy_fences;
  const auto fence = std::lower_bound(fences.begin(), fences.end(), write.epoch);
  return fence != fences.end() && (write.agent == actor.self || actor.known->knows(write.agent, *fence));
}

const char* why_unordered(const Stamp& other, bool other_wrote) {
  switch (machine().agents[other.agent].kind) {
    case AgentName::Kind::loads: return "that phase of the mbarrier has not been waited for here";
    case AgentName::Kind::wgmma: return "no wgmma.wait_group that covers it came before the barriers waited for here";
    case AgentName::Kind::stores:
      return other_wrote ? "no cp.async.bulk.wait_group covers it" : "no cp.async.bulk.wait_group.read that covers it reached this thread";
    case AgentName::Kind::copies: return "no cp.async.wait_group that covers it came before the barriers waited for here";
    case AgentName::Kind::thread:
    case AgentName::Kind::previous_kernel: break;
  }
  return "nothing orders the two: no barrier that it arrived at after the access was waited for here";
}

[[noreturn]] void fail_race(const Space& space, std::size_t at, const Actor& actor, bool is_write, const Stamp& other, bool other_wrote) {
  fail("race", "%s %s %s,\n  which was %s by %s;\n  %s", describe(actor.stamp).c_str(), is_write ? "overwrites" : "reads", place_name(space, at).c_str(),
       other_wrote ? "written" : "read", describe(other).c_str(), why_unordered(other, other_wrote));
}

void check_writer(const Space& space, const Cell& cell, std::size_t at, const Stamp& stamp, bool is_write, const Actor& actor) {
  const Stamp& writer = cell.writer;
  if (cell.in_mbarrier)
    fail("barrier overwritten", "%s %s %s, which holds an mbarrier", describe(stamp).c_str(), is_write ? "writes" : "reads", place_name(space, at).c_str());
  if (!writer.happened() || (writer.mask & stamp.mask) == 0) return;
  if (!actor.knows(writer)) fail_race(space, at, actor, is_write, writer, true);
  if (actor.is_async && !cell.written_by_async && !is_fenced(writer, actor))
    fail("unfenced",
         "%s %s %s through the async proxy,\n  which was written by %s;\n  the writer made no fence.proxy.async between the write and the barrier",
         describe(stamp).c_str(), is_write ? "overwrites" : "reads", place_name(space, at).c_str(), describe(writer).c_str());
}

// A reader is forgotten for a later one that knows of it and reads at least its bytes: whoever is ordered after the later is ordered after both.
void add_reader(Cell& cell, const Stamp& stamp, const Actor& actor) {
  const auto replaces = [&](const Stamp& old) {
    return !old.happened() || ((old.mask & ~stamp.mask) == 0 && (old.agent == stamp.agent || actor.knows(old)));
  };
  for (Stamp& reader : cell.reader)
    if (replaces(reader)) {
      reader = stamp;
      return;
    }
  auto& lists = machine().more_readers;
  if (cell.more == 0) {
    lists.emplace_back();
    cell.more = static_cast<std::uint32_t>(lists.size());
  }
  for (Stamp& reader : lists[cell.more - 1])
    if (replaces(reader)) {
      reader = stamp;
      return;
    }
  lists[cell.more - 1].push_back(stamp);
}

void check_readers(const Space& space, Cell& cell, std::size_t at, const Stamp& stamp, const Actor& actor) {
  const auto check = [&](const Stamp& reader) {
    if (reader.happened() && (reader.mask & stamp.mask) != 0 && !actor.knows(reader)) fail_race(space, at, actor, true, reader, false);
  };
  for (const Stamp& reader : cell.reader) check(reader);
  if (cell.more == 0) return;
  for (const Stamp& reader : machine().more_readers[cell.more - 1]) check(reader);
}

// Readers that a write covers are ordered before it; those of other bytes of the cell are kept.
void forget_readers(Cell& cell, const Stamp& stamp) {
  const auto is_covered = [&](const Stamp& reader) { return (reader.mask & ~stamp.mask) == 0; };
  for (Stamp& reader : cell.reader)
    if (is_covered(reader)) reader = {};
  if (cell.more != 0) std::erase_if(machine().more_readers[cell.more - 1], is_covered);
}

void write_cell(Space& space, Cell& cell, std::size_t at, Stamp stamp, const Actor& actor) {
  check_writer(space, cell, at, stamp, true, actor);
  check_readers(space, cell, at, stamp, actor);
  forget_readers(cell, stamp);
  if (cell.writer.epoch == stamp.epoch && cell.writer.agent == stamp.agent) stamp.mask |= cell.writer.mask;
  cell.writer = stamp;
  cell.written_by_async = actor.is_async;
}

// Calls f(cell, its offset, the stamp with the bytes of the cell that the access covers).
template <class F>
void for_cells(Space& space, std::size_t at, std::size_t count, const Stamp& stamp, F f) {
  for (std::size_t cell = at / 4; cell <= (at + count - 1) / 4; ++cell) {
    unsigned mask = 15;
    if (cell * 4 < at) mask &= 15u << (at - cell * 4);
    if (cell * 4 + 4 > at + count) mask &= 15u >> (cell * 4 + 4 - at - count);
    Stamp covered = stamp;
    covered.mask = mask & 15;
    f(space.cells[cell], cell * 4, covered);
  }
}

}  // namespace

void require_previous_kernel(const Space& space, bool is_write, const Actor& actor) {
  if (!machine().launch.is_dependent || space.block != nullptr || !(is_write || space.use == Memory::Use::fresh)) return;
  if (!actor.known->knows(machine().previous_kernel, 1))
    fail("dependent launch", "%s %s %s before griddepcontrol.wait", describe(actor.stamp).c_str(), is_write ? "writes" : "reads", space.name.c_str());
}

void touch_read(Space& space, std::size_t at, std::size_t count, const Actor& actor) {
  require_previous_kernel(space, false, actor);
  for (std::size_t i = at; i < at + count; ++i)
    if (!space.written[i]) fail("uninitialised", "%s reads %s, which nothing has written", describe(actor.stamp).c_str(), place_name(space, i).c_str());
  if (space.is_input()) return;
  for_cells(space, at, count, actor.stamp, [&](Cell& cell, std::size_t offset, const Stamp& stamp) {
    check_writer(space, cell, offset, stamp, false, actor);
    add_reader(cell, stamp, actor);
  });
}

void touch_write(Space& space, std::size_t at, std::size_t count, const Actor& actor) {
  require_previous_kernel(space, true, actor);
  if (space.is_input()) fail("read-only", "%s writes %s, an input", describe(actor.stamp).c_str(), place_name(space, at).c_str());
  for_cells(space, at, count, actor.stamp, [&](Cell& cell, std::size_t offset, const Stamp& stamp) { write_cell(space, cell, offset, stamp, actor); });
  std::memset(space.written.data() + at, 1, count);
}

bool was_written_here(const Space& space, std::size_t at, std::size_t count) {
  if (space.is_input()) return false;
  for (std::size_t cell = at / 4; cell <= (at + count - 1) / 4; ++cell)
    if (space.cells[cell].writer.happened()) return true;
  return false;
}

}  // namespace kiln::generators::cuda::emulator
