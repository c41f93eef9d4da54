#include "dsl/footprint_parts.h"

#include <algorithm>
#include <utility>

namespace kiln {
namespace {

void collect_loops(const FootprintPart& part, std::vector<const FootprintNode*>& out) {
  for (const FootprintNode& child : part.children) {
    if (child.kind == FootprintNode::Kind::allocation)
      collect_loops(child.parts.front(), out);
    else
      out.push_back(&child);
  }
}

void collect_direct(const FootprintPart& part, BufferBytes& out) {
  for (const auto& [buffer, bytes] : part.direct) out[buffer] = std::max(out[buffer], bytes);
  for (const FootprintNode& child : part.children)
    if (child.kind == FootprintNode::Kind::allocation) collect_direct(child.parts.front(), out);
}

void collect_allocated(const FootprintPart& part, bool through_loops, std::set<int>& out) {
  for (const FootprintNode& child : part.children) {
    const bool is_allocation = child.kind == FootprintNode::Kind::allocation;
    if (is_allocation) out.insert(child.buffer);
    if (is_allocation || through_loops)
      for (const FootprintPart& inner : child.parts) collect_allocated(inner, through_loops, out);
  }
}

// Whether an iteration leaves some of a buffer that the next one uses.
bool is_carried(const FootprintNode& loop, int buffer) {
  std::int64_t apart = 0, trips = 0;
  for (const FootprintPart& part : loop.parts) {
    const auto touched = part.touched.find(buffer);
    if (!part.trips) return true;
    trips += *part.trips;
    apart += touched == part.touched.end() ? 0 : *part.trips * touched->second;
  }
  const auto swept = loop.swept.find(buffer);
  return trips > 1 && swept != loop.swept.end() && swept->second < apart;
}

}  // namespace

std::vector<const FootprintNode*> loops_of(const FootprintPart& part) {
  std::vector<const FootprintNode*> loops;
  collect_loops(part, loops);
  return loops;
}

std::vector<BufferBytes> steps_of(const FootprintPart& part) {
  std::vector<BufferBytes> steps;
  for (const FootprintNode* loop : loops_of(part)) steps.push_back(loop->whole);
  BufferBytes direct;
  collect_direct(part, direct);
  if (!direct.empty()) steps.push_back(std::move(direct));
  return steps;
}

std::vector<BufferBytes> held_by_step(const FootprintPart& part, const FootprintNode& loop) {
  const std::vector<BufferBytes> steps = steps_of(part);
  if (steps.size() < 2) return {part.touched};
  std::map<int, std::pair<std::size_t, std::size_t>> used;  // from the first step to the last
  for (std::size_t step = 0; step < steps.size(); ++step)
    for (const auto& [buffer, bytes] : steps[step]) used.try_emplace(buffer, step, step).first->second.second = step;
  const std::set<int> locals = allocated_at_top(part);
  std::vector<BufferBytes> held(steps.size());
  for (const auto& [buffer, bytes] : part.touched) {
    const auto span = used.find(buffer);
    if (span == used.end()) continue;
    const bool stays = !locals.contains(buffer) && is_carried(loop, buffer);
    for (std::size_t step = stays ? 0 : span->second.first; step <= (stays ? steps.size() - 1 : span->second.second); ++step) held[step][buffer] = bytes;
  }
  return held;
}

std::int64_t most_held(const FootprintPart& part, const FootprintNode& loop) {
  std::int64_t most = 0;
  for (const BufferBytes& step : held_by_step(part, loop)) most = std::max(most, total(step));
  return most;
}

std::set<int> allocated_at_top(const FootprintPart& part) {
  std::set<int> out;
  collect_allocated(part, false, out);
  return out;
}

std::set<int> allocated_inside(const FootprintPart& part) {
  std::set<int> out;
  collect_allocated(part, true, out);
  return out;
}

}  // namespace kiln
