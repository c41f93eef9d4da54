#include "schedules/nest.h"

#include <algorithm>
#include <set>

#include "schedules/structure.h"

namespace kiln::schedules {
namespace {

// A loop this short is worth unrolling whole: colour channels, filter taps.
constexpr std::int64_t kShortLoop = 4;

const std::vector<std::int64_t> kSteps = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};

std::vector<std::int64_t> lane_choices(const Device& device, DType widest, DType own, std::int64_t extent) {
  std::set<std::int64_t, std::greater<>> lanes;
  for (const std::int64_t full : {lanes_of(device, own), 2 * lanes_of(device, widest), lanes_of(device, widest)}) {
    lanes.insert(vector_widths(full, extent)[0]);
  }
  return {lanes.begin(), lanes.end()};
}

std::vector<std::int64_t> with_zero(std::vector<std::int64_t> values) {
  values.insert(values.begin(), 0);
  return values;
}

std::size_t across_dimension(const Nest& nest, const std::string& loop) {
  return static_cast<std::size_t>(std::find(nest.loops.begin(), nest.loops.end(), loop) - nest.loops.begin());
}

void constrain_flat(Space& space, const Nest& nest, std::int64_t most_unrolled) {
  const NestKnobs& k = nest.knobs;
  const std::int64_t extent = nest.extents[0];
  space.require("a task must not be wider than the output", [=](std::int64_t l, std::int64_t v, const std::string& t) {
    return l * v <= extent || (t == "GuardWithIf" && v == 1);
  }, k.lanes, k.vectors, k.tail);
  space.limit("vectors unrolled in a tile", most_unrolled, [](std::int64_t v, std::int64_t u) { return u == 1 ? v : 1; }, k.vectors, k.unroll);
}

void constrain_deep(Space& space, const Nest& nest, std::int64_t most_unrolled) {
  const NestKnobs& k = nest.knobs;
  const std::vector<std::int64_t> extents = nest.extents;
  const std::vector<std::string> loops = nest.loops;
  const auto extent_of_loop = [=](const std::string& a) {
    return extents[static_cast<std::size_t>(std::find(loops.begin(), loops.end(), a) - loops.begin())];
  };
  space.require("a tile must not be wider than the output", [=](std::int64_t l, std::int64_t v) { return l * v <= extents[0]; }, k.lanes, k.vectors);
  space.require("a strip must not be longer than the output",
                [=](std::int64_t r, std::int64_t s, const std::string& a) { return r * s <= extent_of_loop(a); }, k.rows, k.strip, k.across);
  space.require("only a tile of fixed width can be unrolled", [](std::int64_t v, std::int64_t u) { return u == 0 || v > 0; }, k.vectors, k.unroll);
  if (nest.short_loop) {
    const std::string name = loops[*nest.short_loop];
    space.require("a loop inside the tile cannot be the one that is cut into strips",
                  [=](std::int64_t inside, const std::string& a) { return inside == 0 || a != name; }, k.inside, k.across);
  }
  const std::int64_t copies = nest.short_loop ? extents[*nest.short_loop] : 1;
  space.limit("vectors unrolled in a tile", most_unrolled, [=](std::int64_t v, std::int64_t r, std::int64_t u, std::int64_t inside) {
    return (u == 1 ? v * r : 1) * (inside == 1 ? copies : 1);
  }, k.vectors, k.rows, k.unroll, k.inside);
}

void schedule_flat(Chain& chain, const Nest& nest, const Stage& output, const Point& p) {
  const NestKnobs& k = nest.knobs;
  const std::string task = new_loop(output, "task"), inner = new_loop(output, nest.loops[0] + "i");
  chain.add("split", nest.loops[0], task, inner, p[k.lanes] * p[k.vectors], p[k.tail]).add("parallel", task);
  if (p[k.lanes] > 1) chain.add("vectorize", inner, p[k.lanes]);
  if (p[k.unroll] == 1) chain.add("unroll", inner);
}

}  // namespace

Nest declare_nest(Space& space, const NestOptions& options, const Algorithm& algorithm, const Problem& problem, const Device& device,
                  const std::string& output) {
  const std::string& prefix = options.prefix;
  const Stage& stage = algorithm.stage(output);
  Nest nest{output, stage.loops, output_extents(algorithm, problem, output), std::nullopt, {}};
  const std::size_t rank = nest.loops.size();
  DType own = stage.types[0];
  NestKnobs& k = nest.knobs;
  const std::vector<std::int64_t> lanes = lane_choices(device, options.widest, own, nest.extents[0]);
  std::vector<std::int64_t> vectors = at_most(kSteps, nest.extents[0] / lanes.back());
  if (rank == 1) {
    for (const std::int64_t more : {512, 1024, 2048, 4096}) {
      if (more * lanes.back() <= nest.extents[0]) vectors.push_back(more);
    }
  }
  std::int64_t longest = 1;
  std::vector<std::string> across;
  for (std::size_t d = 1; d < rank; ++d) {
    across.push_back(nest.loops[d]);
    longest = std::max(longest, nest.extents[d]);
    if (d >= 2 && nest.extents[d] <= kShortLoop && nest.extents[d] > 1) nest.short_loop = d;
  }
  if (across.empty()) across = {nest.loops[0]};
  k.lanes = space.knob(prefix + "lanes", lanes);
  k.vectors = space.knob(prefix + "vectors", rank == 1 ? vectors : with_zero(vectors));
  k.rows = space.knob(prefix + "rows", at_most({1, 2, 3, 4, 6, 8, 12, 16, 24, 32}, longest));
  k.unroll = space.knob(prefix + "unroll", {0, 1});
  k.inside = space.knob(prefix + "inside", nest.short_loop ? std::vector<std::int64_t>{0, 1} : std::vector<std::int64_t>{0});
  k.across = space.words(prefix + "across", across);
  k.strip = space.knob(prefix + "strip", at_most(kSteps, longest));
  k.tail = space.words(prefix + "tail", {"ShiftInwards", "GuardWithIf"});
  if (rank == 1) {
    constrain_flat(space, nest, options.most_unrolled);
  } else {
    constrain_deep(space, nest, options.most_unrolled);
  }
  return nest;
}

NestLoops loops_of(const Nest& nest, const Stage& output, const Point& p) {
  if (nest.loops.size() == 1) return {new_loop(output, "task"), "", "", 0};
  const std::string& across = p[nest.knobs.across];
  return {new_loop(output, "task"), new_loop(output, across + "o"), p[nest.knobs.vectors] > 0 ? new_loop(output, nest.loops[0] + "o") : "",
          across_dimension(nest, across)};
}

void schedule_nest(Schedule& schedule, const Nest& nest, const Stage& output, const Point& p) {
  const NestKnobs& k = nest.knobs;
  Chain chain(schedule, nest.output);
  if (nest.loops.size() == 1) return schedule_flat(chain, nest, output, p);
  const NestLoops names = loops_of(nest, output, p);
  const std::string& across = nest.loops[names.across];
  const std::string row_in = new_loop(output, across + "i");
  const bool tiled = p[k.vectors] > 0;
  const std::string inner = tiled ? new_loop(output, nest.loops[0] + "i") : nest.loops[0];

  // A strip is a whole number of tiles, so only the outer split can leave a rest.
  std::string strip = names.task;
  std::vector<std::string> outside;
  for (std::size_t d = 1; d < nest.loops.size(); ++d) {
    if (d != names.across && !(p[k.inside] == 1 && d == *nest.short_loop)) outside.push_back(nest.loops[d]);
  }
  if (!outside.empty()) strip = new_loop(output, "strip");
  if (tiled) chain.add("split", nest.loops[0], names.tile, inner, p[k.lanes] * p[k.vectors], p[k.tail]);
  chain.add("split", across, strip, across, p[k.rows] * p[k.strip], p[k.tail]).add("split", across, names.row, row_in, p[k.rows]);
  std::vector<DirectiveArgument> order = {inner};
  if (p[k.inside] == 1) {
    chain.add("bound", nest.loops[*nest.short_loop], 0, nest.extents[*nest.short_loop]);
    order.push_back(nest.loops[*nest.short_loop]);
  }
  order.push_back(row_in);
  if (tiled) order.push_back(names.tile);
  order.push_back(names.row);
  for (const std::string& loop : outside) order.push_back(loop);
  order.push_back(strip);
  schedule.directives.push_back({nest.output, -1, "reorder", order});
  for (std::size_t o = 0; o < outside.size(); ++o) {
    const bool last = o + 1 == outside.size();
    // Fused from the inside out; the first fusion is of the innermost outer loop with the next.
    const std::string next = last ? strip : outside[o + 1];
    const std::string current = o == 0 ? outside[0] : new_loop(output, "outer" + std::to_string(o));
    chain.add("fuse", current, next, last ? names.task : new_loop(output, "outer" + std::to_string(o + 1)));
  }
  chain.add("parallel", names.task);
  if (p[k.lanes] > 1 && tiled) chain.add("vectorize", inner, p[k.lanes]);
  if (p[k.lanes] > 1 && !tiled) chain.add("vectorize", inner, p[k.lanes], p[k.tail]);
  if (p[k.inside] == 1) chain.add("unroll", nest.loops[*nest.short_loop]);
  if (p[k.unroll] == 1) chain.add("unroll", inner).add("unroll", row_in);
}

}  // namespace kiln::schedules
