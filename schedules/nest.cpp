#include "schedules/nest.h"

#include <algorithm>
#include <set>

#include "schedules/structure.h"

namespace kiln::schedules {
namespace {

// A loop this short is worth a place inside the tile: colour channels, filter taps.
constexpr std::int64_t kShortLoop = 4;
// Extents that the problem does not tell are taken for this in the choice of values.
constexpr std::int64_t kUsualExtent = 1024;

const std::vector<std::int64_t> kVectors = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
const std::vector<std::int64_t> kRows = {1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32};
const std::vector<std::int64_t> kPanels = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
const std::vector<std::int64_t> kStrips = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};
// Some rows a task come first: what a task computes for itself at its edges is then shared by them.
constexpr std::int64_t kFirstStrip = 8;

using Extents = std::vector<std::optional<std::int64_t>>;

struct Shape {
  std::vector<std::string> loops;
  Extents extents;

  std::size_t dimension(const std::string& loop) const { return static_cast<std::size_t>(std::find(loops.begin(), loops.end(), loop) - loops.begin()); }
  const std::optional<std::int64_t>& extent(const std::string& loop) const { return extents[dimension(loop)]; }
  bool is_short(std::size_t d) const { return extents[d] && *extents[d] > 1 && *extents[d] <= kShortLoop; }

  // The third loop of a tile: a short one first, else the one further in.
  std::optional<std::size_t> third(std::size_t vector, std::size_t across) const {
    std::optional<std::size_t> found;
    for (std::size_t d = loops.size(); d-- > 0;) {
      if (d != vector && d != across && (!found || is_short(d) || !is_short(*found))) found = d;
    }
    return loops.size() >= 3 ? found : std::nullopt;
  }
};

Shape shape_of(const Nest& nest) { return {nest.loops, nest.extents}; }

bool divides(std::int64_t factor, const std::optional<std::int64_t>& extent) { return extent && *extent % factor == 0; }

std::vector<std::int64_t> lane_choices(const Device& device, DType widest, DType own, std::int64_t extent) {
  std::set<std::int64_t, std::greater<>> lanes;
  for (const std::int64_t full : {lanes_of(device, own), 2 * lanes_of(device, widest), lanes_of(device, widest)}) lanes.insert(vector_widths(full, extent)[0]);
  return {lanes.begin(), lanes.end()};
}

std::vector<std::int64_t> strip_choices(std::int64_t most, std::int64_t most_at_first) {
  std::vector<std::int64_t> strips = at_most(kStrips, most);
  const auto first = std::upper_bound(strips.begin(), strips.end(), std::min(kFirstStrip, most_at_first)) - 1;
  std::rotate(strips.begin(), first, first + 1);
  return strips;
}

void constrain_tile(Space& space, const NestKnobs& k, const Shape& shape, std::int64_t most_unrolled) {
  space.require("a tile must not be wider than what it tiles", [=](const std::string& x, std::int64_t l, std::int64_t v) {
    const std::int64_t extent = shape.extent(x).value_or(kUsualExtent);
    return l * v <= extent || (v == 1 && l == 1);
  }, k.vector, k.lanes, k.vectors);
  space.require("RoundUp needs a tile whose width divides what it tiles, and ShiftInwards one that is no wider",
                [=](const std::string& x, std::int64_t l, std::int64_t v, const std::string& t) {
                  if (t == "GuardWithIf") return true;
                  return t == "RoundUp" ? divides(l * v, shape.extent(x)) : shape.extent(x) && l * v <= *shape.extent(x);
                }, k.vector, k.lanes, k.vectors, k.tail);
  if (shape.loops.size() < 2) {
    space.limit("vectors unrolled in a tile", most_unrolled, [](std::int64_t v, std::int64_t u) { return u == 1 ? v : 1; }, k.vectors, k.unroll);
    return;
  }
  space.require("a tile's second loop is not the one its vectors run along", [](const std::string& x, const std::string& y) { return x != y; }, k.vector, k.across);
  space.require("a tile must not be higher than what it tiles", [=](const std::string& y, std::int64_t r) { return r <= shape.extent(y).value_or(kUsualExtent); },
                k.across, k.rows);
  space.require("a tile's depth must divide what it tiles", [=](const std::string& x, const std::string& y, std::int64_t d) {
    if (d == 0 || x == y) return d == 0;
    const auto third = shape.third(shape.dimension(x), shape.dimension(y));
    return third && divides(d, shape.extents[*third]);
  }, k.vector, k.across, k.deep);
  space.limit("vectors unrolled in a tile", most_unrolled, [](std::int64_t v, std::int64_t r, std::int64_t u, std::int64_t d) {
    return (u == 1 ? v * r : 1) * std::max<std::int64_t>(d, 1);
  }, k.vectors, k.rows, k.unroll, k.deep);
}

// A strip or a block must not reach beyond a whole one.
void constrain_blocks(Space& space, const NestKnobs& k, const Shape& shape, bool may_walk_columns) {
  const auto tiles = [](const std::optional<std::int64_t>& extent, std::int64_t size) { return ceil_div(extent.value_or(kUsualExtent), size); };
  space.require("a strip must not be longer than what it is cut from",
                [=](const std::string& x, std::int64_t l, std::int64_t v, const std::string& y, std::int64_t r, std::int64_t s) {
                  const bool is_flat = shape.loops.size() < 2;
                  const std::int64_t along = tiles(shape.extent(x), l * v), down = is_flat ? along : tiles(shape.extent(y), r);
                  return s == 1 || s <= down || (may_walk_columns && s <= along);
                }, k.vector, k.lanes, k.vectors, k.across, k.rows, k.strip);
  if (shape.loops.size() < 2) return;
  space.require("a block must be smaller than the whole",
                [=](const std::string& x, std::int64_t l, std::int64_t v, const std::string& y, std::int64_t r, std::int64_t b) {
                  return b == 0 || b < tiles(shape.extent(x), l * v) || (may_walk_columns && b < tiles(shape.extent(y), r));
                }, k.vector, k.lanes, k.vectors, k.across, k.rows, k.panel);
}

std::string named(const Nest& nest, const std::string& base) { return new_name(base, nest.taken); }

// One loop's split into tiles.
struct Cut {
  std::string outer, inner;  // inner is empty when a tile is one iteration
  std::int64_t factor = 1;
  std::string tail;
};

// Tiles that belong to different tasks must not overlap: two threads would store to one element, perhaps other bits.
std::string tail_of(std::int64_t factor, const std::optional<std::int64_t>& extent, const std::string& wish, bool is_shared_out) {
  if (wish == "GuardWithIf") return wish;
  if (wish == "RoundUp" || is_shared_out) return divides(factor, extent) ? "RoundUp" : "GuardWithIf";
  return extent && factor <= *extent ? "ShiftInwards" : "GuardWithIf";
}

struct Loops {
  std::size_t vector = 0;
  std::optional<std::size_t> across, third;  // third only when it is in the tile
  Cut along, down, deep;
  std::string task, strip, panel;            // panel is empty when blocks are whole
  std::vector<std::string> outside;          // loops that no tile cuts
};

Loops loops_of(const Nest& nest, Walk walk, const Point& p) {
  const NestKnobs& k = nest.knobs;
  const Shape shape = shape_of(nest);
  Loops loops;
  loops.vector = shape.dimension(p[k.vector]);
  const bool is_flat = !nest.is_deep();
  const bool has_panel = !is_flat && p[k.panel] > 0, columns = !is_flat && walk == Walk::columns;
  const std::string& x = p[k.vector];
  const std::int64_t width = p[k.lanes] * p[k.vectors];
  loops.along = {named(nest, x + "o"), named(nest, x + "i"), width, tail_of(width, shape.extent(x), p[k.tail], is_flat || columns || has_panel)};
  if (!is_flat) {
    const std::string& y = p[k.across];
    loops.across = shape.dimension(y);
    const bool is_whole = p[k.rows] == 1;
    loops.down = {is_whole ? y : named(nest, y + "o"), is_whole ? "" : named(nest, y + "i"), p[k.rows],
                  tail_of(p[k.rows], shape.extent(y), p[k.tail], !columns || has_panel)};
    if (p[k.deep] > 0) {
      loops.third = shape.third(loops.vector, *loops.across);
      const std::string& z = nest.loops[*loops.third];
      loops.deep = {named(nest, z + "o"), named(nest, z + "i"), p[k.deep], "RoundUp"};
    }
    if (has_panel) loops.panel = named(nest, "panel");
  }
  for (std::size_t d = 0; d < nest.loops.size(); ++d) {
    if (d != loops.vector && loops.across != d && loops.third != d) loops.outside.push_back(nest.loops[d]);
  }
  loops.task = named(nest, "task");
  const bool is_fused = !loops.outside.empty() || loops.third || has_panel;
  loops.strip = is_fused ? named(nest, "strip") : loops.task;
  return loops;
}

// Loops from the inside out, each fused with the next; the last fusion is the task.
void fuse_all(Chain& chain, const Nest& nest, const std::vector<std::string>& loops, const std::string& task) {
  std::string current = loops[0];
  for (std::size_t o = 1; o < loops.size(); ++o) {
    const std::string fused = o + 1 == loops.size() ? task : named(nest, "outer" + std::to_string(o));
    chain.add("fuse", current, loops[o], fused);
    current = fused;
  }
}

}  // namespace

std::size_t vector_loop(const Extents& extents, std::int64_t lanes) {
  const auto is_wide = [&](const std::optional<std::int64_t>& extent) { return !extent || *extent >= lanes; };
  const auto found = std::find_if(extents.begin(), extents.end(), is_wide);
  return found == extents.end() ? 0 : static_cast<std::size_t>(found - extents.begin());
}

Nest declare_nest(Space& space, const NestOptions& options, const Stage& stage, const Extents& extents, const Device& device) {
  const std::string& suffix = options.suffix;
  const Shape shape{stage.loops, extents};
  Nest nest{stage.name, stage.loops, extents, stage.loops, {}};
  const std::size_t first = vector_loop(extents, lanes_of(device, options.widest));
  std::vector<std::string> vectors = {stage.loops[first]};
  if (first > 0) vectors.push_back(stage.loops[0]);
  const std::int64_t width = shape.extent(vectors[0]).value_or(kUsualExtent);
  std::vector<std::int64_t> lanes = lane_choices(device, options.widest, stage.types[0], width);
  if (vectors.size() > 1) {
    const std::int64_t narrow = vector_widths(lanes.back(), *extents[0])[0];
    if (narrow > 1 && narrow < lanes.back()) lanes.push_back(narrow);
  }
  std::int64_t longest = 1;
  for (const auto& extent : extents) longest = std::max(longest, extent.value_or(kUsualExtent));
  std::vector<std::string> across(stage.loops.begin() + (stage.loops.size() > 1 ? 1 : 0), stage.loops.end());
  if (vectors.size() > 1) across.push_back(stage.loops[0]);
  if (across.size() > 1 && across[0] == vectors[0]) std::rotate(across.begin(), across.begin() + 1, across.end());
  NestKnobs& k = nest.knobs;
  k.vector = space.words("vector" + suffix, vectors);
  k.lanes = space.knob("lanes" + suffix, lanes);
  k.vectors = space.knob("vectors" + suffix, at_most(kVectors, std::max<std::int64_t>(1, width / lanes.back())));
  k.tail = space.words("tail" + suffix, {"GuardWithIf", "ShiftInwards", "RoundUp"});
  const bool is_deep = nest.is_deep();
  const auto only_deep = [&](std::vector<std::int64_t> values, std::int64_t otherwise) { return is_deep ? values : std::vector<std::int64_t>{otherwise}; };
  k.across = space.words("across" + suffix, across);
  k.rows = space.knob("rows" + suffix, only_deep(at_most(kRows, longest), 1));
  k.deep = space.knob("deep" + suffix, nest.loops.size() >= 3 ? std::vector<std::int64_t>{0, 2, 3, 4} : std::vector<std::int64_t>{0});
  k.unroll = space.knob("unroll" + suffix, {0, 1});
  std::vector<std::int64_t> panels = {0};
  for (const std::int64_t panel : kPanels) {
    if (is_deep && panel < longest) panels.push_back(panel);
  }
  k.panel = space.knob("panel" + suffix, panels);
  const std::int64_t most_at_first = is_deep ? shape.extent(across[0]).value_or(kUsualExtent) : ceil_div(width, lanes[0]);
  k.strip = space.knob("strip" + suffix, strip_choices(is_deep ? longest : ceil_div(width, lanes.back()), most_at_first));
  constrain_tile(space, k, shape, options.most_unrolled);
  constrain_blocks(space, k, shape, options.may_walk_columns);
  return nest;
}

std::string loop_at(const Nest& nest, Walk walk, NestLevel level, const Point& p) {
  const Loops loops = loops_of(nest, walk, p);
  if (level == NestLevel::task) return loops.task;
  if (!nest.is_deep()) return level == NestLevel::tile ? loops.along.outer : "";
  return (level == NestLevel::tile) == (walk == Walk::rows) ? loops.along.outer : loops.down.outer;
}

Tile tile_of(const Nest& nest, Walk walk, const Point& p) {
  const Loops loops = loops_of(nest, walk, p);
  Tile tile;
  tile.vector = loops.vector;
  tile.across = loops.across;
  tile.third = loops.third;
  tile.lanes = p[nest.knobs.lanes];
  tile.is_full = loops.along.tail != "GuardWithIf";
  tile.is_fixed = tile.is_full && (loops.down.inner.empty() || loops.down.tail != "GuardWithIf");
  tile.is_unrolled = p[nest.knobs.unroll] == 1;
  tile.vectors = p[nest.knobs.vectors] * p[nest.knobs.rows] * std::max<std::int64_t>(p[nest.knobs.deep], 1);
  return tile;
}

void schedule_nest(Schedule& schedule, const Nest& nest, Walk walk, const Point& p) {
  const NestKnobs& k = nest.knobs;
  const Loops loops = loops_of(nest, walk, p);
  Chain chain(schedule, nest.stage);
  chain.add("split", nest.loops[loops.vector], loops.along.outer, loops.along.inner, loops.along.factor, loops.along.tail);
  std::vector<std::string> order = {loops.along.inner};
  std::string first = loops.along.outer, second;  // the loops over tiles, in the order of the walk
  if (nest.is_deep()) {
    if (loops.third) {
      chain.add("split", nest.loops[*loops.third], loops.deep.outer, loops.deep.inner, loops.deep.factor, loops.deep.tail);
      order.push_back(loops.deep.inner);
    }
    if (!loops.down.inner.empty()) {
      chain.add("split", nest.loops[*loops.across], loops.down.outer, loops.down.inner, loops.down.factor, loops.down.tail);
      order.push_back(loops.down.inner);
    }
    second = loops.down.outer;
    if (walk == Walk::columns) std::swap(first, second);
  }
  const std::string& last = second.empty() ? first : second;
  chain.add("split", last, loops.strip, last, p[k.strip], "GuardWithIf");
  if (!loops.panel.empty()) chain.add("split", first, loops.panel, first, p[k.panel], "GuardWithIf");
  order.push_back(first);
  if (!second.empty()) order.push_back(second);
  std::vector<std::string> shared = loops.outside;
  if (!loops.panel.empty()) shared.insert(shared.begin(), loops.panel);
  if (loops.third) shared.push_back(loops.deep.outer);
  shared.push_back(loops.strip);
  order.insert(order.end(), shared.begin(), shared.end());
  chain.add("reorder", order);
  fuse_all(chain, nest, shared, loops.task);
  chain.add("parallel", loops.task);
  if (p[k.lanes] > 1) chain.add("vectorize", loops.along.inner, p[k.lanes]);
  if (loops.third) chain.add("unroll", loops.deep.inner);
  if (p[k.unroll] == 1) {
    if (p[k.vectors] > 1) chain.add("unroll", loops.along.inner);
    if (!loops.down.inner.empty()) chain.add("unroll", loops.down.inner);
  }
}

}  // namespace kiln::schedules
