#include "schedules/sketch.h"

#include <algorithm>
#include <map>
#include <optional>

#include "dsl/error.h"
#include "schedules/nest.h"
#include "schedules/placement.h"
#include "schedules/stage_graph.h"
#include "schedules/structure.h"

namespace kiln::schedules {
namespace {

// The places of all stages are tied to each other, so their combinations are told apart one by one. Beyond this many only the stages nearest
// to the outputs are placed by knobs: the others are inlined when read once, else at root.
constexpr std::size_t kMostCombinations = 50'000;
// An inlined stage is computed once for every path that leads to it; more than this many and its code outgrows its use.
constexpr std::int64_t kMostCopies = 12;
// Vectors unrolled in a tile. Register tiles of sums use some 30; around the many reads of a stencil 30 copies compile for longer than
// they could ever save.
constexpr std::int64_t kMostUnrolled = 32, kMostUnrolledStencils = 8;
// A stage that one reader names more often than this is read by a stencil.
constexpr std::int64_t kStencilReads = 3;

// How deep in the output's nest a stage is computed. Inlined stages are as deep as their readers.
int depth(const std::string& place) {
  if (place == "root") return 0;
  if (place == "task") return 1;
  if (place == "row" || place == "slide") return 2;
  return 3;  // tile
}

struct Sketch {
  Algorithm algorithm;
  std::vector<PlacedStage> placed;
  std::map<std::size_t, Nest> nests;                   // by stage: outputs without updates and with at least one loop
  std::map<std::size_t, Knob> update_lanes;            // outputs with updates
  std::map<std::size_t, WordKnob> places;              // stages with more than one place
  std::map<std::size_t, std::string> fixed_places;
  std::map<std::size_t, WordKnob> along;               // stages and outputs with reductions: "reduction", "loop"
  std::map<std::size_t, Knob> reduce_vectors;
  std::int64_t root_lanes = 1;                         // of stages at root

  const Stage& stage(std::size_t s) const { return algorithm.stages[s]; }
  std::string place(std::size_t s, const Point& p) const {
    const auto knob = places.find(s);
    return knob == places.end() ? fixed_places.at(s) : p[knob->second];
  }
};

DType widest_type(const Algorithm& algorithm) {
  DType widest = algorithm.stages.empty() ? kFloat32 : algorithm.stages[0].types[0];
  for (const Stage& stage : algorithm.stages) {
    for (const DType type : stage.types) {
      if (type.bits > widest.bits) widest = type;
    }
  }
  return widest;
}

std::int64_t most_unrolled(const Sketch& sketch) {
  for (const PlacedStage& placed : sketch.placed) {
    for (const Reader& reader : placed.readers) {
      if (reader.loads > kStencilReads) return kMostUnrolledStencils;
    }
  }
  return kMostUnrolled;
}

std::vector<std::string> places_of(const Sketch& sketch, const PlacedStage& stage) {
  std::vector<std::string> places;
  if (stage.is_pure) places.push_back("inline");
  const bool trivial = stage.is_pure && stage.is_pointwise && stage.readers.size() == 1 && stage.readers[0].loads == 1;
  if (!trivial && stage.host && !sketch.stage(stage.stage).loops.empty()) {
    const std::size_t rank = sketch.stage(*stage.host).loops.size();
    if (rank >= 2) {
      places.insert(places.end(), {"tile", "row"});
      if (stage.is_pure) places.push_back("slide");
    }
    places.push_back("task");
  }
  places.push_back("root");
  return places;
}

// The rules of placing, over the stage's own place and those of everything between it and its output.
void constrain_place(Space& space, const Sketch& sketch, const PlacedStage& placed) {
  std::vector<std::size_t> stages = {placed.stage};
  for (const std::size_t later : placed.later) stages.push_back(later);
  std::vector<WordKnob> knobs;
  std::map<std::size_t, std::size_t> position;  // stage -> place in `words`
  std::map<std::size_t, std::string> fixed;
  for (const std::size_t s : stages) {
    if (const auto knob = sketch.places.find(s); knob != sketch.places.end()) {
      position[s] = knobs.size();
      knobs.push_back(knob->second);
    } else {
      fixed[s] = sketch.fixed_places.at(s);
    }
  }
  std::map<std::size_t, PlacedStage> facts;
  for (const PlacedStage& other : sketch.placed) facts[other.stage] = other;
  const auto place = [=](std::size_t s, const std::vector<std::string>& words) {
    const auto at = position.find(s);
    return at == position.end() ? fixed.at(s) : words[at->second];
  };
  // The least depth among the places where the stage's value is used; an output without entry in `facts` is deeper than any.
  const auto used_at = [=](const auto& self, std::size_t s, const std::vector<std::string>& words) -> int {
    int least = 4;
    for (const Reader& reader : facts.at(s).readers) {
      if (!facts.contains(reader.stage)) continue;
      const std::string where = place(reader.stage, words);
      least = std::min(least, where == "inline" ? self(self, reader.stage, words) : depth(where));
    }
    return least;
  };
  const std::size_t own = placed.stage;
  space.require_words("a stage must be computed no deeper than those that read it", knobs, [=](const std::vector<std::string>& words) {
    const std::string where = place(own, words);
    return where == "inline" || depth(where) <= used_at(used_at, own, words);
  });
  if (!placed.is_pure) return;
  const auto copies = [=](const auto& self, std::size_t s, const std::vector<std::string>& words) -> std::int64_t {
    std::int64_t sum = 0;
    for (const Reader& reader : facts.at(s).readers) {
      const bool inlined = facts.contains(reader.stage) && place(reader.stage, words) == "inline";
      sum += reader.loads * (inlined ? self(self, reader.stage, words) : 1);
    }
    return std::min<std::int64_t>(sum, kMostCopies + 1);
  };
  space.require_words("an inlined stage must not be written out more than " + std::to_string(kMostCopies) + " times", knobs,
                      [=](const std::vector<std::string>& words) { return place(own, words) != "inline" || copies(copies, own, words) <= kMostCopies; });
}

void declare_reductions(Space& space, Sketch& sketch, std::size_t s) {
  const Stage& stage = sketch.stage(s);
  bool regroups = false, runs_along = false;
  for (const Update& update : stage.updates) {
    const bool exact = sketch.algorithm.contract == Contract::strict && stage.types[0].is_float();
    regroups = regroups || (!update.reduction.empty() && is_associative(stage, update) && !exact);
    const std::vector<std::string> loops = update_loops(stage, update);
    runs_along = runs_along || (!loops.empty() && loops[0] == stage.loops[0]);
  }
  std::vector<std::string> ways;
  if (runs_along) ways.push_back("loop");
  ways.push_back("reduction");
  sketch.along.insert_or_assign(s, space.words("along." + stage.name, ways));
  sketch.reduce_vectors.insert_or_assign(s, space.knob("vectors." + stage.name, regroups ? std::vector<std::int64_t>{0, 1, 2, 4, 8} : std::vector<std::int64_t>{0}));
  space.require("partial sums belong to a stage that runs along its reduction",
                [](const std::string& along, std::int64_t vectors) { return along == "reduction" || vectors == 0; }, sketch.along.at(s),
                sketch.reduce_vectors.at(s));
}

void declare_outputs(Space& space, Sketch& sketch, const Problem& problem, const Device& device, DType widest) {
  for (const std::string& output : sketch.algorithm.outputs) {
    const auto s = static_cast<std::size_t>(&sketch.algorithm.stage(output) - sketch.algorithm.stages.data());
    const Stage& stage = sketch.stage(s);
    const std::string prefix = sketch.algorithm.outputs.size() > 1 ? output + "." : "";
    if (stage.loops.empty()) {
      if (!stage.updates.empty()) declare_reductions(space, sketch, s);
      continue;
    }
    if (stage.updates.empty()) {
      sketch.nests.emplace(s, declare_nest(space, {prefix, widest, most_unrolled(sketch)}, sketch.algorithm, problem, device, output));
    } else {
      const std::int64_t extent = output_extents(sketch.algorithm, problem, output)[0];
      sketch.update_lanes.insert_or_assign(s, space.knob(prefix + "lanes", vector_widths(lanes_of(device, stage.types[0]), extent)));
      declare_reductions(space, sketch, s);
    }
  }
}

void declare_places(Space& space, Sketch& sketch) {
  std::size_t combinations = 1;
  for (std::size_t i = sketch.placed.size(); i-- > 0;) {  // nearest to the outputs first
    const PlacedStage& placed = sketch.placed[i];
    std::vector<std::string> places = places_of(sketch, placed);
    if (combinations * places.size() > kMostCombinations) {
      const bool read_once = placed.readers.size() == 1 && placed.readers[0].loads == 1;
      places = {placed.is_pure && read_once ? "inline" : "root"};
    }
    combinations *= places.size();
    const std::string& name = sketch.stage(placed.stage).name;
    if (places.size() == 1) {
      sketch.fixed_places[placed.stage] = places[0];
    } else {
      sketch.places.insert_or_assign(placed.stage, space.words("place." + name, places));
    }
    if (!placed.is_pure) declare_reductions(space, sketch, placed.stage);
    if (places.size() > 1) constrain_place(space, sketch, placed);
    if (!placed.host || !sketch.nests.contains(*placed.host) || places.size() == 1) continue;
    const Nest& nest = sketch.nests.at(*placed.host);
    if (nest.loops.size() < 2) continue;
    space.require("a stage can be computed at a tile only when the output's innermost loop is tiled",
                  [](std::int64_t vectors, const std::string& place) { return place != "tile" || vectors > 0; }, nest.knobs.vectors,
                  sketch.places.at(placed.stage));
  }
}

LoopStyle style_in_nest(const Sketch& sketch, const PlacedStage& placed, const Nest& nest, const std::string& place, const Point& p) {
  const Stage& stage = sketch.stage(placed.stage);
  const NestLoops loops = loops_of(nest, sketch.stage(*placed.host), p);
  LoopStyle style;
  const bool is_known = !placed.follows.empty() && placed.follows[0].has_value();
  const bool along_innermost = is_known && placed.follows[0].value() == 0;
  // Along the output's innermost loop a region is a vector wide at least; along another one it is as narrow as the tile's rows.
  style.lanes = !is_known || along_innermost || place == "task" ? p[nest.knobs.lanes] : 1;
  style.tail = along_innermost ? p[nest.knobs.tail] : "GuardWithIf";
  // In a tile of fixed size the region of a stage read point by point is the tile; unrolled, its sums can stay in registers.
  const bool fixed = place == "tile" && p[nest.knobs.unroll] == 1 && placed.is_pointwise && p[nest.knobs.tail] == "ShiftInwards";
  if (fixed && !stage.loops.empty()) {
    style.unrolled.push_back(stage.loops[0]);
    if (loops.across < stage.loops.size()) style.unrolled.push_back(stage.loops[loops.across]);
  }
  return style;
}

void apply_along(LoopStyle& style, const Sketch& sketch, std::size_t s, const Point& p) {
  const auto along = sketch.along.find(s);
  if (along == sketch.along.end()) return;
  style.loop_inside = p[along->second] == "loop";
  style.reduce_vectors = p[sketch.reduce_vectors.at(s)];
}

void schedule_placed(Schedule& schedule, const Sketch& sketch, const PlacedStage& placed, const Point& p) {
  const std::string place = sketch.place(placed.stage, p);
  if (place == "inline") return;
  const Stage& stage = sketch.stage(placed.stage);
  Chain chain(schedule, stage.name);
  LoopStyle style;
  if (place == "root") {
    chain.add("compute_root");
    style.lanes = sketch.root_lanes;
    style.tail = "GuardWithIf";
  } else {
    const Nest& nest = sketch.nests.at(*placed.host);
    const NestLoops loops = loops_of(nest, sketch.stage(*placed.host), p);
    const std::string& loop = place == "task" ? loops.task : place == "tile" ? loops.tile : loops.row;
    if (place == "slide") chain.add("store_at", nest.output, loops.task);
    chain.add("compute_at", nest.output, loop);
    style = style_in_nest(sketch, placed, nest, place, p);
  }
  apply_along(style, sketch, placed.stage, p);
  schedule_definitions(schedule, stage, style, place == "root");
}

Schedule schedule_sketch(const Sketch& sketch, const Point& p) {
  Schedule schedule;
  for (std::size_t s = 0; s < sketch.algorithm.stages.size(); ++s) {
    const Stage& stage = sketch.stage(s);
    if (!sketch.algorithm.is_output(stage.name)) continue;
    if (const auto nest = sketch.nests.find(s); nest != sketch.nests.end()) {
      schedule_nest(schedule, nest->second, stage, p);
      continue;
    }
    LoopStyle style;
    if (const auto lanes = sketch.update_lanes.find(s); lanes != sketch.update_lanes.end()) style.lanes = p[lanes->second];
    if (stage.loops.empty()) style.lanes = sketch.root_lanes;
    style.tail = "ShiftInwards";
    apply_along(style, sketch, s, p);
    schedule_definitions(schedule, stage, style, true);
  }
  // Readers before what they read: a loop must exist before a stage is placed at it.
  for (std::size_t i = sketch.placed.size(); i-- > 0;) schedule_placed(schedule, sketch, sketch.placed[i], p);
  return schedule;
}

// A tile of sums that a register file holds: 4 vectors x 6 rows of 32 registers, 2 x 6 of 16. For other stages whole rows, one at a time.
void wish_nest(std::map<std::string, KnobValue>& wish, const Sketch& sketch, const Nest& nest, const Device& device, bool tiled) {
  const std::string prefix = sketch.algorithm.outputs.size() > 1 ? nest.output + "." : "";
  if (nest.loops.size() == 1) {
    wish[prefix + "vectors"] = 64;
    return;
  }
  const std::int64_t lanes = vector_widths(sketch.root_lanes, nest.extents[0])[0];
  const std::int64_t vectors = std::min<std::int64_t>(device.vector_registers >= 32 ? 4 : 2, nest.extents[0] / lanes);
  const std::int64_t rows = tiled ? std::min<std::int64_t>(6, nest.extents[1]) : 1;
  wish[prefix + "lanes"] = lanes;
  wish[prefix + "vectors"] = tiled ? vectors : 0;
  wish[prefix + "rows"] = rows;
  // Some tasks for each core, so that none waits long for the last one.
  wish[prefix + "strip"] = std::max<std::int64_t>(1, nest.extents[1] / (4 * device.cores) / rows);
  wish[prefix + "unroll"] = tiled ? 1 : 0;
}

// Where a stage is computed in the seed named `way`. Sums at the tile with what they read once a task; or stages that a stencil reads kept by the
// strip, the others inlined (the form that won on a chain of blurs over a picture); or everything at root.
std::string seeded_place(const PlacedStage& placed, const std::string& way) {
  if (way == "root") return "root";
  if (way == "tile") return placed.is_pure ? "task" : "tile";
  const bool is_reused = std::any_of(placed.readers.begin(), placed.readers.end(), [](const Reader& reader) { return reader.loads > kStencilReads; });
  if (placed.is_pure && !is_reused) return "inline";
  return way == "slide" && !placed.is_pure ? "row" : way;
}

void add_seeds(Space& space, const Sketch& sketch, const Device& device) {
  for (const std::string way : {"tile", "slide", "task", "root"}) {
    std::map<std::string, KnobValue> wish;
    for (const auto& [s, nest] : sketch.nests) {
      wish_nest(wish, sketch, nest, device, way == "tile");
      if (nest.short_loop && way != "root") wish[(sketch.algorithm.outputs.size() > 1 ? nest.output + "." : "") + "inside"] = 1;
    }
    for (const PlacedStage& placed : sketch.placed) {
      const auto knob = sketch.places.find(placed.stage);
      if (knob == sketch.places.end()) continue;
      const KnobValue place = seeded_place(placed, way);
      const std::vector<KnobValue>& places = space.knobs()[knob->second.index].values;
      if (std::count(places.begin(), places.end(), place) > 0) wish["place." + sketch.stage(placed.stage).name] = place;
    }
    space.seed(wish, "sketch: " + way);
  }
  if (!space.seeds().empty()) return;
  std::map<std::string, KnobValue> wish;
  for (const auto& [s, knob] : sketch.places) wish["place." + sketch.stage(s).name] = std::string("root");
  space.seed(wish, "every stage at root");
}

}  // namespace

Space sketch(const Algorithm& algorithm, const Problem& problem, const Device& device, const std::string& name) {
  Space space(name);
  Sketch sketch;
  sketch.algorithm = algorithm;
  sketch.placed = placed_stages(algorithm);
  const DType widest = widest_type(algorithm);
  sketch.root_lanes = lanes_of(device, widest);
  declare_outputs(space, sketch, problem, device, widest);
  declare_places(space, sketch);
  space.schedule_as([sketch](const Point& p) { return schedule_sketch(sketch, p); });
  add_seeds(space, sketch, device);
  return space;
}

}  // namespace kiln::schedules
