#include "schedules/rows_host.h"

#include <algorithm>
#include <map>

#include "schedules/stage_graph.h"
#include "schedules/structure.h"

namespace kiln::schedules {
namespace {

struct Reduction {
  Stage stage;
  Knob vectors;   // of one step's partial sums; 0: one element at a time
  WordKnob place; // "row": each row's just before its output; "task": all rows of a task first
};

struct Rows {
  Stage output;
  std::vector<Reduction> reductions;  // producers first
  std::vector<Stage> shared;          // pure stages of a row that many elements read: computed once a row
  Knob lanes, unroll, rows;
  WordKnob tail;
};

Schedule schedule_of(const Rows& space, const Point& p) {
  Schedule schedule;
  const std::string &x = space.output.loops[0], &y = space.output.loops[1];
  const std::string task = new_loop(space.output, "task"), row = new_loop(space.output, y + "i");
  const std::string part = new_loop(space.output, x + "u"), lane = new_loop(space.output, x + "v");
  Chain output(schedule, space.output.name);
  output.add("split", y, task, row, p[space.rows], "GuardWithIf").add("parallel", task);
  const std::int64_t step = p[space.lanes] * p[space.unroll];
  if (step > 1) output.add("split", x, part, lane, step, p[space.tail]);
  if (p[space.lanes] > 1) output.add("vectorize", lane, p[space.lanes]);
  if (p[space.unroll] > 1) output.add("unroll", lane);
  for (auto stage = space.shared.rbegin(); stage != space.shared.rend(); ++stage) Chain(schedule, stage->name).add("compute_at", space.output.name, row);
  for (auto reduction = space.reductions.rbegin(); reduction != space.reductions.rend(); ++reduction) {
    Chain(schedule, reduction->stage.name).add("compute_at", space.output.name, p[reduction->place] == "row" ? row : task);
    if (p[reduction->vectors] == 0) continue;
    for (std::size_t u = 0; u < reduction->stage.updates.size(); ++u) {
      const std::string outer = new_loop(reduction->stage, "ro"), inner = new_loop(reduction->stage, "ri");
      Chain(schedule, reduction->stage.name, static_cast<int>(u))
          .add("split", reduction->stage.updates[u].reduction[0].name, outer, inner, p[space.lanes] * p[reduction->vectors], "GuardWithIf")
          .add("atomic")
          .add("vectorize", inner);
    }
  }
  return schedule;
}

bool runs_over_rows(const Stage& stage) {
  if (stage.loops.size() != 1) return false;
  return std::all_of(stage.updates.begin(), stage.updates.end(), [&](const Update& update) {
    return update.reduction.size() == 1 && update_loops(stage, update).size() == 1 && is_associative(stage, update);
  });
}

}  // namespace

bool is_row_operator(const Algorithm& algorithm) {
  if (algorithm.outputs.size() != 1) return false;
  const Stage& output = algorithm.stage(algorithm.outputs[0]);
  if (output.loops.size() != 2 || !output.updates.empty()) return false;
  bool reduces = false;
  for (const PlacedStage& placed : placed_stages(algorithm)) {
    const Stage& stage = algorithm.stages[placed.stage];
    // A row's value must belong to the row that reads it, whatever the column.
    const bool of_a_row = runs_over_rows(stage) && placed.host && placed.follows[0] == std::size_t{1};
    const bool inlined = placed.is_pure && placed.is_pointwise && stage.loops.size() == 2;
    if (!of_a_row && !inlined) return false;
    reduces = reduces || !placed.is_pure;
  }
  return reduces;
}

Space rows_host(const Algorithm& algorithm, const Problem& problem, const Device& device) {
  const std::vector<std::int64_t> extents = output_extents(algorithm, problem, algorithm.outputs[0]);
  Space space("rows_host");
  Rows rows;
  rows.output = algorithm.stage(algorithm.outputs[0]);
  const std::int64_t lanes = lanes_of(device, rows.output.types[0]);
  rows.lanes = space.knob("lanes", vector_widths(lanes, extents[0]));
  rows.unroll = space.knob("unroll", at_most({1, 2, 3, 4, 6, 8}, extents[0]));
  rows.tail = space.words("tail", {"ShiftInwards", "GuardWithIf"});
  rows.rows = space.knob("rows", at_most({1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256}, extents[1]));
  const std::int64_t columns = extents[0];
  space.require("a step must fit in the row that ShiftInwards moves it in, and be more than one element for GuardWithIf",
                [=](std::int64_t l, std::int64_t u, const std::string& t) { return t == "ShiftInwards" ? l * u <= columns : l * u > 1; }, rows.lanes, rows.unroll, rows.tail);
  std::map<std::string, KnobValue> seed = {{"lanes", lanes}, {"unroll", 4}, {"rows", std::max<std::int64_t>(1, extents[1] / (4 * device.cores))}};
  for (const PlacedStage& placed : placed_stages(algorithm)) {
    const Stage& stage = algorithm.stages[placed.stage];
    if (placed.is_pure && stage.loops.size() == 1) rows.shared.push_back(stage);
    if (placed.is_pure) continue;
    // Partial sums change the rounding: a strict contract forbids them. The widest step is 256 elements.
    const std::int64_t most = algorithm.contract == Contract::strict ? 0 : std::min<std::int64_t>(columns, 256) / vector_widths(lanes, columns)[0];
    std::vector<std::int64_t> vectors = {0};
    for (const std::int64_t v : {1, 2, 4, 8, 16}) {
      if (v <= most && lanes > 1 && columns > 1) vectors.push_back(v);
    }
    const Knob knob = space.knob("vectors." + stage.name, vectors);
    rows.reductions.push_back({stage, knob, space.words("place." + stage.name, {"row", "task"})});
    seed["vectors." + stage.name] = 8;
  }
  space.schedule_as([rows](const Point& p) { return schedule_of(rows, p); });
  space.seed(seed, "a row's passes one after the other, the sum in wide steps");
  seed["unroll"] = 1;
  space.seed(seed, "a row's passes one after the other, the sum in wide steps");
  if (space.seeds().empty()) space.seed({}, "one row a task");
  return space;
}

}  // namespace kiln::schedules
