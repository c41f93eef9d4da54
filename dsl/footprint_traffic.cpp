// traffic() of footprint.h: which buffers an ideally managed memory keeps, loop by loop, from the call inwards.
#include <algorithm>
#include <set>

#include "dsl/footprint.h"
#include "dsl/footprint_parts.h"

namespace kiln {
namespace {

// What crosses during one execution of something, and what it needs in the memory meanwhile for that to be true.
struct Crossing {
  BufferBytes bytes;
  std::vector<BufferBytes> needs;  // one a step of each inner loop that was judged for itself
};

std::int64_t at(const BufferBytes& bytes, int buffer) {
  const auto found = bytes.find(buffer);
  return found == bytes.end() ? 0 : found->second;
}

std::int64_t total_without(const BufferBytes& bytes, const std::set<int>& kept) {
  std::int64_t sum = 0;
  for (const auto& [buffer, count] : bytes)
    if (!kept.contains(buffer)) sum += count;
  return sum;
}

std::int64_t most_needed(const std::vector<BufferBytes>& needs, const std::set<int>& kept) {
  std::int64_t most = 0;
  for (const BufferBytes& need : needs) most = std::max(most, total_without(need, kept));
  return most;
}

bool runs_in_parallel(const FootprintNode& node) {
  return node.kind == FootprintNode::Kind::parallel_loop || std::any_of(node.parts.begin(), node.parts.end(), [](const FootprintPart& part) {
           return std::any_of(part.children.begin(), part.children.end(), runs_in_parallel);
         });
}

class Keeper {
 public:
  Keeper(const FootprintTree& tree, const Memory& memory) : tree_(tree), memory_(memory) {}

  std::optional<BufferBytes> call() {
    FootprintNode call;  // as a loop that runs once
    call.whole = call.swept = tree_.root.touched;
    call.parts = {tree_.root};
    auto crossing = loop(call, memory_.bytes);
    if (!crossing) return std::nullopt;
    return std::move(crossing->bytes);
  }

 private:
  // One part of a loop that does not keep everything: the sum over what is inside.
  struct Streamed {
    const FootprintPart* part = nullptr;
    BufferBytes bytes;
    std::vector<BufferBytes> needs;
    std::set<int> apart;  // cannot be kept: a parallel loop inside touches them
  };

  std::int64_t at_once(const FootprintNode& node) const {
    if (node.kind != FootprintNode::Kind::parallel_loop || memory_.owner != Memory::Owner::chip) return 1;
    std::int64_t trips = 0;
    for (const FootprintPart& part : node.parts) trips += part.trips.value_or(memory_.cores);
    return std::clamp<std::int64_t>(trips, 1, memory_.cores);
  }

  bool belongs_to_task(const FootprintNode& node) const {
    return node.kind == FootprintNode::Kind::parallel_loop && memory_.owner == Memory::Owner::task;
  }

  bool is_split_up(const FootprintPart& part) const {
    return memory_.owner != Memory::Owner::chip && std::any_of(part.children.begin(), part.children.end(), runs_in_parallel);
  }

  std::optional<Crossing> loop(const FootprintNode& node, std::int64_t room) {
    const std::int64_t sharing = at_once(node);
    bool fits = true;
    for (const FootprintPart& part : node.parts)
      fits = fits && !is_split_up(part) && (most_held(part, node) * sharing <= room || (sharing > 1 && total(node.whole) <= room));
    if (fits) return times(sharing, node, kept_whole(node));
    // Iterations that share the room have their part of it each, and nothing of each other's.
    const bool starts_empty = sharing > 1 || belongs_to_task(node);
    std::vector<Streamed> streams;
    for (const FootprintPart& part : node.parts) {
      auto streamed = stream(part, room / sharing);
      if (!streamed || !part.trips) return std::nullopt;
      streams.push_back(std::move(*streamed));
    }
    return times(sharing, node, joined(node, streams, room / sharing, starts_empty));
  }

  // As many iterations need their bytes at once, though no more than there are.
  static std::optional<Crossing> times(std::int64_t iterations, const FootprintNode& node, std::optional<Crossing> crossing) {
    if (iterations == 1 || !crossing) return crossing;
    for (BufferBytes& need : crossing->needs)
      for (auto& [buffer, bytes] : need) bytes = std::max(bytes, std::min(bytes * iterations, at(node.whole, buffer)));
    return crossing;
  }

  // What crosses of a buffer that is kept through each iteration and, unless each starts empty, for the next.
  static std::int64_t kept(const FootprintNode& node, int buffer, bool starts_empty) {
    if (!starts_empty) return at(node.swept, buffer);
    std::int64_t sum = 0;
    for (const FootprintPart& part : node.parts) sum += part.trips.value_or(0) * at(part.touched, buffer);
    return sum;
  }

  std::optional<Crossing> kept_whole(const FootprintNode& node) const {
    Crossing crossing;
    std::set<int> locals;
    const bool starts_empty = belongs_to_task(node);
    for (const FootprintPart& part : node.parts) {
      if (starts_empty && !part.trips) return std::nullopt;
      locals.merge(allocated_inside(part));
      for (BufferBytes& step : held_by_step(part, node)) crossing.needs.push_back(std::move(step));
    }
    for (const auto& [buffer, bytes] : node.whole)
      if (!locals.contains(buffer)) crossing.bytes[buffer] = kept(node, buffer, starts_empty);
    return crossing;
  }

  std::optional<Streamed> stream(const FootprintPart& part, std::int64_t room) {
    Streamed streamed;
    streamed.part = &part;
    for (const FootprintNode* inner : loops_of(part)) {
      auto crossing = loop(*inner, room);
      if (!crossing) return std::nullopt;
      for (const auto& [buffer, bytes] : crossing->bytes) streamed.bytes[buffer] += bytes;
      for (BufferBytes& need : crossing->needs) streamed.needs.push_back(std::move(need));
      if (memory_.owner == Memory::Owner::chip || !runs_in_parallel(*inner)) continue;
      for (const auto& [buffer, bytes] : inner->whole) streamed.apart.insert(buffer);
    }
    const std::vector<BufferBytes> steps = steps_of(part);
    if (steps.size() > loops_of(part).size()) {  // what is outside inner loops
      for (const auto& [buffer, bytes] : steps.back()) streamed.bytes[buffer] += bytes;
      streamed.needs.push_back(steps.back());
    }
    return streamed;
  }

  // The buffers worth keeping from the beginning of an iteration to its end, most saved a byte first.
  static std::set<int> choose(const FootprintNode& node, const std::vector<Streamed>& streams, std::int64_t room, bool starts_empty) {
    struct Offer {
      int buffer = 0;
      std::int64_t bytes = 0;
      double saved = 0;
    };
    std::vector<Offer> offers;
    for (const auto& [buffer, bytes] : node.whole) {
      const auto crossing_anyway = static_cast<double>(kept(node, buffer, starts_empty));
      Offer offer{buffer, 0, -crossing_anyway};
      bool is_possible = true;
      for (const Streamed& streamed : streams) {
        is_possible = is_possible && !streamed.apart.contains(buffer);
        offer.bytes = std::max(offer.bytes, at(streamed.part->touched, buffer));
        offer.saved += static_cast<double>(*streamed.part->trips) * static_cast<double>(at(streamed.bytes, buffer));
      }
      if (allocated_at_top(*streams.front().part).contains(buffer)) offer.saved += crossing_anyway;  // it never crosses
      if (is_possible && offer.saved > 0) offers.push_back(offer);
    }
    std::stable_sort(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) {
      return a.saved * static_cast<double>(b.bytes) > b.saved * static_cast<double>(a.bytes);
    });
    std::set<int> chosen;
    std::int64_t used = 0;
    for (const Offer& offer : offers) {
      std::set<int> with = chosen;
      with.insert(offer.buffer);
      const bool fits = std::all_of(streams.begin(), streams.end(), [&](const Streamed& streamed) {
        return used + offer.bytes + most_needed(streamed.needs, with) <= room;
      });
      if (!fits) continue;
      chosen = std::move(with);
      used += offer.bytes;
    }
    return chosen;
  }

  static Crossing joined(const FootprintNode& node, const std::vector<Streamed>& streams, std::int64_t room, bool starts_empty) {
    const std::set<int> chosen = choose(node, streams, room, starts_empty);
    Crossing crossing;
    for (const Streamed& streamed : streams) {
      const std::set<int> locals = allocated_at_top(*streamed.part);
      for (const auto& [buffer, bytes] : streamed.bytes)
        if (!chosen.contains(buffer)) crossing.bytes[buffer] += *streamed.part->trips * bytes;
      for (BufferBytes need : streamed.needs) {
        for (const int buffer : chosen) need[buffer] = at(streamed.part->touched, buffer);
        crossing.needs.push_back(std::move(need));
      }
      for (const int buffer : chosen)
        if (!locals.contains(buffer)) crossing.bytes[buffer] = kept(node, buffer, starts_empty);
    }
    return crossing;
  }

  const FootprintTree& tree_;
  Memory memory_;
};

}  // namespace

std::optional<BufferBytes> traffic(const FootprintTree& tree, const Memory& memory) { return Keeper(tree, memory).call(); }

}  // namespace kiln
