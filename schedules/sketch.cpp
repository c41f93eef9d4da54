#include "schedules/sketch.h"

#include <algorithm>
#include <map>
#include <optional>

#include "dsl/error.h"
#include "schedules/census.h"
#include "schedules/fusion.h"
#include "schedules/sketch_stage.h"
#include "schedules/structure.h"

namespace kiln::schedules {
namespace {

// Combinations of places told apart while counting; a pipeline whose stages are read too crosswise for it has knobs for fewer of them.
constexpr std::size_t kMostCombinations = 400'000;
// Vectors unrolled in a tile. Register tiles of sums use some 30; around the many reads of a stencil 30 copies compile for longer than
// they could ever save.
constexpr std::int64_t kMostUnrolled = 32, kMostUnrolledStencils = 8;
// A stage that one reader names more often than this is read by a stencil.
constexpr std::int64_t kStencilReads = 3;

struct Sketch {
  Algorithm algorithm;
  std::vector<std::vector<std::optional<std::int64_t>>> extents;  // by stage
  std::shared_ptr<const Fusion> fusion;
  std::map<std::size_t, Nest> nests;            // hosts: outputs without updates, and stages that may be at root
  std::map<std::size_t, StageKnobs> knobs;
  std::map<std::size_t, WordKnob> layouts;      // copies of inputs: how they lie in memory
  std::map<std::size_t, std::int64_t> lengths;  // of reductions that may be done in parts
  std::int64_t root_lanes = 1;                  // of stages at root without knobs of their own

  const Stage& stage(std::size_t s) const { return algorithm.stages[s]; }
  bool is_output(std::size_t s) const { return algorithm.is_output(stage(s).name); }
};

std::int64_t most_unrolled(const Sketch& sketch) {
  for (const std::size_t s : sketch.fusion->placed()) {
    for (const Reader& reader : sketch.fusion->readers(s)) {
      if (reader.loads > kStencilReads) return kMostUnrolledStencils;
    }
  }
  return kMostUnrolled;
}

// The output that sums up behind this stage, its wrapper, while that is at root all the same: it then stores its sums itself.
std::optional<std::size_t> summed(const Sketch& sketch, std::size_t s) {
  const auto output = stored_output(sketch.algorithm, sketch.stage(s).name);
  if (!output) return std::nullopt;
  return static_cast<std::size_t>(sketch.algorithm.find_stage(*output) - sketch.algorithm.stages.data());
}

bool is_left_out(const Sketch& sketch, std::size_t s, const Point& p) {
  const auto output = summed(sketch, s);
  return output && sketch.fusion->place(*output, p) == "root";
}

bool has_wrapper(const Sketch& sketch, const Stage& stage) { return sketch.algorithm.is_output(stage.name + ".in()"); }

std::vector<std::string> offered(const Space& space, WordKnob knob, const std::vector<std::string>& wanted) {
  std::vector<std::string> found;
  for (const KnobValue& value : space.knobs()[knob.index].values) {
    if (std::count(wanted.begin(), wanted.end(), std::get<std::string>(value)) > 0) found.push_back(std::get<std::string>(value));
  }
  return found;
}

// Declares what is of use at one of these places; always, for an output or a stage that has no other.
template <typename Declare>
void declare_at(Space& space, const Sketch& sketch, std::size_t s, const std::vector<std::string>& places, const Declare& declare) {
  const auto knob = sketch.fusion->places().find(s);
  if (knob == sketch.fusion->places().end()) {
    declare();
    return;
  }
  const std::vector<std::string> words = offered(space, knob->second, places);
  if (!words.empty()) space.only_when(knob->second, words, declare);
}

// The dimension of an input that its reader's vectors run along, when the input has another innermost.
std::optional<std::size_t> crosswise_dimension(const Sketch& sketch, std::size_t s) {
  for (const Reader& reader : sketch.fusion->readers(s)) {
    const Following& following = *sketch.fusion->following(s, reader.stage);
    for (std::size_t d = 1; d < following.along.size(); ++d) {
      if (following.along[d] == std::size_t{0}) return d;
    }
  }
  return std::nullopt;
}

void declare_stage(Space& space, Sketch& sketch, std::size_t s, const Problem& problem, const Device& device, DType widest) {
  const Stage& stage = sketch.stage(s);
  const bool has_knob = sketch.fusion->places().contains(s), is_output = sketch.is_output(s);
  StageKnobs& knobs = sketch.knobs[s];
  if (!stage.updates.empty()) {
    declare_reductions(space, knobs, stage, sketch.algorithm.contract);
    declare_at(space, sketch, s, {"root"}, [&] {
      declare_update_tiles(space, knobs, stage, sketch.extents[s], device, most_unrolled(sketch));
      declare_parts(space, knobs, sketch.algorithm, stage, problem);
      if (knobs.parts) sketch.lengths[s] = *reduction_length(sketch.algorithm, stage, problem);
    });
  } else if (sketch.fusion->is_host(s) && (has_knob || is_output)) {
    const bool is_only = is_output && sketch.algorithm.outputs.size() == 1;
    const NestOptions options{is_only ? "" : knob_suffix(stage.name), widest, most_unrolled(sketch), sketch.fusion->may_walk_columns(s)};
    const auto declare = [&] { sketch.nests.emplace(s, declare_nest(space, options, stage, sketch.extents[s], device)); };
    if (const auto output = summed(sketch, s)) {
      if (sketch.fusion->places().contains(*output)) declare_at(space, sketch, *output, {"tile", "row", "task"}, declare);
    } else {
      declare_at(space, sketch, s, {"root", "columns"}, declare);
    }
  }
  if (!has_knob) return;
  if (is_wrapper(sketch.algorithm, stage)) {
    if (crosswise_dimension(sketch, s))
      declare_at(space, sketch, s, {"row", "task", "root"}, [&] { sketch.layouts.insert_or_assign(s, space.words("layout." + stage.name, {"declared", "vector"})); });
    return;
  }
  declare_at(space, sketch, s, {"tile", "row", "slide", "scroll"}, [&] { knobs.memory = space.words("memory." + stage.name, {"Auto", "Stack", "Heap"}); });
}

void schedule_in_nest(Schedule& schedule, const Sketch& sketch, std::size_t s, const Stage& stage, const PlaceRule& rule, const Point& p) {
  const auto site = sketch.fusion->site(s, p);
  KILN_CHECK(site.has_value(), "stage " + stage.name + " has a place in no nest");
  const Nest& nest = sketch.nests.at(site->host);
  Chain chain(schedule, stage.name);
  if (rule.slides()) chain.add("store_at", nest.stage, loop_at(nest, site->walk, rule.stored, p));
  chain.add("compute_at", nest.stage, loop_at(nest, site->walk, rule.computed, p));
  const StageKnobs& knobs = sketch.knobs.at(s);
  if (knobs.memory && p[*knobs.memory] != "Auto") chain.add("store_in", p[*knobs.memory]);
  const InNest place{*sketch.fusion->following(s, site->host), tile_of(nest, site->walk, p), rule.computed, rule.slides()};
  schedule_definitions(schedule, stage, style_in_nest(knobs, stage, place, p), false);
}

void schedule_at_root(Schedule& schedule, const Sketch& sketch, std::size_t s, const Stage& stage, const Point& p) {
  if (!sketch.is_output(s) && !has_wrapper(sketch, stage)) Chain(schedule, stage.name).add("compute_root");
  if (const auto nest = sketch.nests.find(s); nest != sketch.nests.end()) return schedule_nest(schedule, nest->second, sketch.fusion->walk(s, p), p);
  const StageKnobs& knobs = sketch.knobs.at(s);
  if (knobs.parts && p[*knobs.parts] > 1)
    return schedule_in_parts(schedule, sketch.algorithm, stage, sketch.lengths.at(s), p[*knobs.parts], p[*knobs.lanes]);
  LoopStyle style;
  style.lanes = sketch.root_lanes;
  if (!stage.updates.empty()) style = style_at_root(knobs, stage, sketch.extents[s], p);
  // An output's vectors may be moved inwards: they were chosen to fit.
  if (sketch.is_output(s) && !stage.loops.empty() && sketch.extents[s][0] && style.lanes <= *sketch.extents[s][0]) style.tail = "ShiftInwards";
  schedule_definitions(schedule, stage, style, true);
}

void schedule_stage(Schedule& schedule, const Sketch& sketch, std::size_t s, const Point& p) {
  Stage stage = sketch.stage(s);
  stage.name = reference(sketch.algorithm, stage.name);
  const std::string place = sketch.is_output(s) ? "root" : sketch.fusion->place(s, p);
  if (place == "inline" || is_left_out(sketch, s, p)) return;
  if (const PlaceRule* rule = find_place_rule(place)) {
    schedule_in_nest(schedule, sketch, s, stage, *rule, p);
  } else {
    schedule_at_root(schedule, sketch, s, stage, p);
  }
  const auto layout = sketch.layouts.find(s);
  if (layout == sketch.layouts.end() || p[layout->second] == "declared") return;
  std::vector<std::string> order = stage.loops;
  const auto first = order.begin() + static_cast<std::ptrdiff_t>(*crosswise_dimension(sketch, s));
  std::rotate(order.begin(), first, first + 1);
  Chain(schedule, stage.name).add("reorder_storage", order);
}

Schedule schedule_sketch(const Sketch& sketch, const Point& p) {
  Schedule schedule;
  // Readers before what they read: a loop must exist before a stage is placed at it.
  const std::vector<std::size_t>& placed = sketch.fusion->placed();
  for (std::size_t s = sketch.algorithm.stages.size(); s-- > 0;) {
    if (sketch.is_output(s) || std::count(placed.begin(), placed.end(), s) > 0) schedule_stage(schedule, sketch, s, p);
  }
  return schedule;
}

using Wish = std::map<std::string, KnobValue>;

// A tile of sums that a register file holds: 4 vectors x 6 rows of 32 registers, 2 x 6 of 16. For other stages single vectors of a row; of a stage
// with one loop, enough for a task.
void wish_nest(Wish& wish, const Sketch& sketch, std::size_t s, const Space& space, const Device& device, bool tiled) {
  const Nest& nest = sketch.nests.at(s);
  const auto name = [&](std::size_t knob) { return space.knobs()[knob].name; };
  const auto& extents = nest.extents;
  const std::int64_t width = extents[0].value_or(sketch.root_lanes), lanes = vector_widths(sketch.root_lanes, width)[0];
  const std::int64_t wanted = !nest.is_deep() ? 16 : !tiled ? 1 : device.vector_registers >= 32 ? 4 : 2;
  const std::int64_t vectors = std::min(wanted, std::max<std::int64_t>(1, width / lanes));
  wish[name(nest.knobs.lanes.index)] = lanes;
  wish[name(nest.knobs.vectors.index)] = vectors;
  wish[name(nest.knobs.tail.index)] = std::string(extents[0] && width % (lanes * vectors) == 0 ? "RoundUp" : extents[0] && nest.is_deep() ? "ShiftInwards" : "GuardWithIf");
  if (!nest.is_deep()) return;
  const std::int64_t height = extents[1].value_or(1), rows = tiled ? std::min<std::int64_t>(6, height) : 1;
  wish[name(nest.knobs.rows.index)] = rows;
  // Some tasks for each core, so that none waits long for the last one.
  wish[name(nest.knobs.strip.index)] = std::max<std::int64_t>(1, height / (4 * device.cores) / rows);
  wish[name(nest.knobs.unroll.index)] = std::int64_t{tiled ? 1 : 0};
}

// Where a stage is computed in the seed named `way`. Sums at the tile with what they read once a task; or stages that a stencil reads kept by the
// strip, the others inlined (the form that won on a chain of blurs over a picture); or everything at root.
std::string seeded_place(const Sketch& sketch, std::size_t s, const std::string& way) {
  const bool is_pure = sketch.stage(s).updates.empty();
  if (is_wrapper(sketch.algorithm, sketch.stage(s))) return "inline";
  if (way == "root") return "root";
  if (way == "tile") return is_pure ? "task" : "tile";
  const auto& readers = sketch.fusion->readers(s);
  const bool is_reused = std::any_of(readers.begin(), readers.end(), [](const Reader& reader) { return reader.loads > kStencilReads; });
  if (is_pure && !is_reused) return "inline";
  return way == "slide" && !is_pure ? "row" : way;
}

void add_seeds(Space& space, const Sketch& sketch, const Device& device) {
  for (const std::string way : {"tile", "slide", "task", "root"}) {
    Wish wish;
    for (const auto& [s, nest] : sketch.nests) {
      wish_nest(wish, sketch, s, space, device, way == "tile");
      const auto& deep = space.knobs()[nest.knobs.deep.index];
      const bool is_short = nest.loops.size() == 3 && nest.extents[2] && *nest.extents[2] > 1 && *nest.extents[2] <= 4;
      if (is_short && way != "root") wish[deep.name] = *nest.extents[2];
    }
    // Sums whose place depends on data have no loop to share out but the reduction itself: in parts, each with a table of its own.
    for (const auto& [s, knobs] : sketch.knobs)
      if (knobs.parts && update_loops(sketch.stage(s), sketch.stage(s).updates[0]).empty()) wish[space.knobs()[knobs.parts->index].name] = std::int64_t{4} * device.cores;
    for (const auto& [s, knob] : sketch.fusion->places()) {
      const std::string place = seeded_place(sketch, s, way);
      if (!offered(space, knob, {place}).empty()) wish["place." + sketch.stage(s).name] = place;
    }
    // A wish whose tiles do not fit is dropped; at the first values everything at root is a point of every space.
    if (!space.seed(wish, "sketch: " + way) && way == "root") {
      Wish plain;
      for (const auto& [s, knob] : sketch.fusion->places()) plain["place." + sketch.stage(s).name] = std::string("root");
      space.seed(plain, "every stage at root");
    }
  }
}

Space draw(const Algorithm& original, const Problem& problem, const Device& device, const std::string& name, std::size_t most_places) {
  Space space(name);
  auto sketch = std::make_shared<Sketch>();
  sketch->algorithm = with_stored_outputs(original);
  const Algorithm& algorithm = sketch->algorithm;
  sketch->algorithm.pipeline.clear();  // large, and of no use here
  sketch->algorithm.own_pipeline.clear();
  sketch->extents = stage_extents(algorithm, problem);
  const DType widest = widest_type(algorithm);
  sketch->root_lanes = lanes_of(device, widest);
  FusionOptions options{most_places, {}, device.l3_bytes > 0 ? device.l3_bytes : INT64_MAX, {}};
  for (std::size_t s = 0; s < algorithm.stages.size(); ++s) {
    const Stage& stage = algorithm.stages[s];
    options.row_bytes.push_back(stage.loops.empty() ? 0 : sketch->extents[s][0].value_or(1) * stage.types[0].bytes());
    options.vector_loops.push_back(vector_loop(sketch->extents[s], sketch->root_lanes));
  }
  sketch->fusion = Fusion::declare(space, algorithm, options);
  const std::vector<std::size_t>& placed = sketch->fusion->placed();
  for (std::size_t s = algorithm.stages.size(); s-- > 0;) {
    if (sketch->is_output(s) || std::count(placed.begin(), placed.end(), s) > 0) declare_stage(space, *sketch, s, problem, device, widest);
  }
  space.schedule_as([sketch](const Point& p) { return schedule_sketch(*sketch, p); });
  add_seeds(space, *sketch, device);
  return space;
}

bool is_countable(const Space& space) {
  try {
    Census(space, kMostCombinations);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

}  // namespace

Space sketch(const Algorithm& algorithm, const Problem& problem, const Device& device, const std::string& name) {
  require_cpu(device, "the space `" + name + "`");
  std::size_t most_places = algorithm.stages.size();
  Space space = draw(algorithm, problem, device, name, most_places);
  while (most_places > 0 && !is_countable(space)) {
    most_places = most_places * 3 / 4;
    space = draw(algorithm, problem, device, name, most_places);
  }
  return space;
}

}  // namespace kiln::schedules
