#include "schedules/sketch_stage.h"

#include <algorithm>

#include "dsl/loop_nest.h"
#include "schedules/stage_graph.h"
#include "schedules/structure.h"

namespace kiln::schedules {
namespace {

// Taps unrolled together: 3x3 and 5x5 filters. And vectors in a body with taps and steps unrolled: more compile for longer than they gain.
constexpr std::int64_t kMostUnrolledTaps = 32, kMostInBody = 128;

// The dimension that an update's vectors run along: the innermost that it runs over.
std::optional<std::size_t> vector_dimension(const Stage& stage) {
  std::optional<std::size_t> least;
  for (const Update& update : stage.updates) {
    const std::vector<std::string> loops = update_loops(stage, update);
    if (loops.empty()) continue;
    const auto d = static_cast<std::size_t>(std::find(stage.loops.begin(), stage.loops.end(), loops[0]) - stage.loops.begin());
    if (!least || d < *least) least = d;
  }
  return least;
}

std::int64_t taps_in(const Stage& stage) {
  std::int64_t most = 1;
  for (const Update& update : stage.updates) {
    std::int64_t taps = 1;
    for (const ReductionVariable& variable : update.reduction) taps *= taps_of(variable).value_or(1);
    most = std::max(most, taps);
  }
  return most;
}

// A reduction loop worth unrolling in steps: the innermost, when it is longer than a filter.
bool has_long_reduction(const Stage& stage) {
  return std::any_of(stage.updates.begin(), stage.updates.end(), [](const Update& update) { return !update.reduction.empty() && !taps_of(update.reduction[0]); });
}

// `vectors`: of the tile that is unrolled inside the reduction.
void apply_reductions(LoopStyle& style, const StageKnobs& knobs, const Stage& stage, std::int64_t vectors, const Point& p) {
  if (!knobs.along) return;
  style.loop_inside = p[*knobs.along] == "loop";
  style.reduce_vectors = p[*knobs.sums];
  style.steps = p[*knobs.steps];
  style.unrolls_taps = p[*knobs.taps] == 1 && taps_in(stage) * style.steps * vectors <= kMostInBody;
}

}  // namespace

void declare_reductions(Space& space, StageKnobs& knobs, const Stage& stage, Contract contract) {
  bool regroups = false;
  for (const Update& update : stage.updates) {
    const bool exact = contract == Contract::strict && stage.types[0].is_float();
    regroups = regroups || (!update.reduction.empty() && is_associative(stage, update) && !exact);
  }
  std::vector<std::string> ways;
  if (vector_dimension(stage)) ways.push_back("loop");
  ways.push_back("reduction");
  const std::int64_t taps = taps_in(stage);
  const auto values = [](bool offered, std::vector<std::int64_t> all) { return offered ? all : std::vector<std::int64_t>{all[0]}; };
  knobs.along = space.words("along" + knob_suffix(stage.name), ways);
  knobs.sums = space.knob("sums" + knob_suffix(stage.name), values(regroups, {0, 1, 2, 4, 8}));
  knobs.steps = space.knob("steps" + knob_suffix(stage.name), values(has_long_reduction(stage), {1, 2, 4}));
  knobs.taps = space.knob("taps" + knob_suffix(stage.name), values(taps > 1 && taps <= kMostUnrolledTaps, {0, 1}));
  space.require("partial sums belong to a stage that runs along its reduction, unrolled steps of it to one that does not",
                [](const std::string& along, std::int64_t sums, std::int64_t steps, std::int64_t unrolled) {
                  return along == "reduction" ? steps == 1 && unrolled == 0 : sums == 0;
                }, *knobs.along, *knobs.sums, *knobs.steps, *knobs.taps);
}

void declare_update_tiles(Space& space, StageKnobs& knobs, const Stage& stage, const std::vector<std::optional<std::int64_t>>& extents, const Device& device,
                          std::int64_t most_unrolled) {
  const std::int64_t lanes = lanes_of(device, stage.types[0]);
  const std::size_t d = vector_dimension(stage).value_or(0);
  const std::int64_t width = d < extents.size() ? extents[d].value_or(lanes) : lanes;
  const bool is_tiled = vector_dimension(stage).has_value();
  const bool has_rows = std::any_of(stage.updates.begin(), stage.updates.end(), [&](const Update& update) { return update_loops(stage, update).size() >= 2; });
  const std::int64_t height = has_rows ? extents[d + 1 < extents.size() ? d + 1 : 0].value_or(lanes) : 1;
  knobs.lanes = space.knob("lanes" + knob_suffix(stage.name), vector_widths(lanes, is_tiled ? width : lanes));
  const std::int64_t most_vectors = is_tiled ? width / std::min(width, lanes) : 1;
  knobs.vectors = space.knob("vectors" + knob_suffix(stage.name), at_most({1, 2, 3, 4, 6, 8, 16, 32}, most_vectors));
  knobs.rows = space.knob("rows" + knob_suffix(stage.name), at_most({1, 2, 3, 4, 5, 6, 8}, height));
  space.limit("vectors unrolled in a tile of an update", most_unrolled, [](std::int64_t v, std::int64_t r) { return v * r; }, *knobs.vectors, *knobs.rows);
}

std::optional<std::int64_t> reduction_length(const Algorithm& algorithm, const Stage& stage, const Problem& problem) {
  if (stage.updates.empty() || stage.updates[0].reduction.empty()) return std::nullopt;
  return evaluate(*stage.updates[0].reduction.back().extent, algorithm, problem);
}

void declare_parts(Space& space, StageKnobs& knobs, const Algorithm& algorithm, const Stage& stage, const Problem& problem) {
  const bool exact = algorithm.contract == Contract::strict && stage.types[0].is_float();
  const auto length = reduction_length(algorithm, stage, problem);
  if (stage.updates.size() != 1 || exact || !length || *length < 2 || stage.types.size() != 1 || !is_associative(stage, stage.updates[0])) return;
  knobs.parts = space.knob("parts" + knob_suffix(stage.name), at_most({1, 2, 4, 8, 16, 32}, *length));
}

void schedule_in_parts(Schedule& schedule, const Algorithm& algorithm, const Stage& stage, std::int64_t length, std::int64_t parts, std::int64_t lanes) {
  const Update& update = stage.updates[0];
  const std::string part = new_loop(stage, "part"), within = new_loop(stage, "within"), sum = new_loop(stage, "sum");
  const std::string sums = factored_name(stage.name, [&](const std::string& name) {
    return algorithm.find_stage(name) ||
           std::any_of(schedule.directives.begin(), schedule.directives.end(), [&](const Directive& directive) { return directive.stage == name; });
  });
  const std::vector<std::string> loops = update_loops(stage, update);
  const bool runs_along = !loops.empty() && loops[0] == stage.loops[0] && lanes > 1;
  if (!stage.loops.empty() && lanes > 1) Chain(schedule, stage.name).add("vectorize", stage.loops[0], lanes, "GuardWithIf");
  Chain combined(schedule, stage.name, 0);
  combined.add("split", update.reduction.back().name, part, within, ceil_div(length, parts), "GuardWithIf").add("rfactor", part, sum);
  if (runs_along) combined.add("reorder", std::vector<std::string>{stage.loops[0], part}).add("vectorize", stage.loops[0], lanes, "GuardWithIf");
  Chain(schedule, sums).add("compute_root");
  Chain partial(schedule, sums, 0);
  std::vector<std::string> order = loops;  // the parts outermost
  order.push_back(sum);
  if (!loops.empty()) partial.add("reorder", order);
  if (runs_along) partial.add("vectorize", stage.loops[0], lanes, "GuardWithIf");
  partial.add("parallel", sum);
}

LoopStyle style_at_root(const StageKnobs& knobs, const Stage& stage, const std::vector<std::optional<std::int64_t>>& extents, const Point& p) {
  LoopStyle style;
  UpdateTile tile{p[*knobs.vectors], p[*knobs.rows], true};
  apply_reductions(style, knobs, stage, tile.vectors * tile.rows, p);
  style.any_loop = true;
  style.lanes = p[*knobs.lanes];
  for (const Update& update : stage.updates) {
    std::int64_t factor = style.lanes * tile.vectors;
    for (const std::string& loop : update_loops(stage, update)) {
      const auto& extent = extents[static_cast<std::size_t>(std::find(stage.loops.begin(), stage.loops.end(), loop) - stage.loops.begin())];
      tile.is_exact = tile.is_exact && extent && *extent % factor == 0;
      factor = factor == tile.rows ? 1 : tile.rows;
    }
  }
  style.tile = tile;
  return style;
}

LoopStyle style_in_nest(const StageKnobs& knobs, const Stage& stage, const InNest& place, const Point& p) {
  LoopStyle style;
  apply_reductions(style, knobs, stage, place.tile.is_unrolled ? place.tile.vectors : 1, p);
  style.any_loop = true;
  if (stage.loops.empty()) {
    style.lanes = place.tile.lanes;  // of partial sums
    return style;
  }
  const auto& along = place.following.along;
  const auto follower = std::find(along.begin(), along.end(), std::optional(place.tile.vector));
  if (follower != along.end()) {
    style.vector = static_cast<std::size_t>(follower - along.begin());
    style.lanes = place.tile.lanes;
    const bool is_wide = place.tile.is_full && !(place.slides && place.level == NestLevel::tile) && !stage.name.ends_with(".in()");
    style.tail = is_wide ? "ShiftInwards" : "GuardWithIf";
  } else if (!along[0] || place.level == NestLevel::task || style.reduce_vectors > 0) {
    style.lanes = place.tile.lanes;
  }
  // In a tile of fixed size the region of a stage read point by point is the tile; unrolled, its sums can stay in registers.
  if (place.level != NestLevel::tile || place.slides || !place.following.is_pointwise || !place.tile.is_fixed || !place.tile.is_unrolled) return style;
  for (std::size_t d = 0; d < stage.loops.size(); ++d) {
    if (along[d] && (along[d] == place.tile.vector || along[d] == place.tile.across || along[d] == place.tile.third)) style.unrolled.push_back(stage.loops[d]);
  }
  return style;
}

}  // namespace kiln::schedules
