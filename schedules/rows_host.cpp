#include "schedules/rows_host.h"

#include <algorithm>
#include <map>

#include "schedules/stage_graph.h"
#include "schedules/structure.h"

namespace kiln::schedules {
namespace {

struct Reduction {
  PlacedStage placed;
  Stage stage;
  Knob vectors;   // of one step's partial sums; 0: one element at a time
  WordKnob place; // "row": each row's just before its output; "task": all rows of a task first
};

// A pure stage of whole rows that a reduction and the output read, such as the exponentials of softmax.
struct Kept {
  PlacedStage placed;
  Stage stage;
  WordKnob place;  // "row": once a row; "inline": wherever it is read
  Knob unroll;
};

struct Rows {
  Stage output;
  std::vector<Reduction> reductions;  // producers first
  std::vector<Stage> shared;          // pure stages of a row that many elements read: computed once a row
  std::vector<Kept> kept;             // producers first
  Knob lanes, unroll, rows;
  WordKnob tail;
};

// Vectors along a loop that goes over a whole row.
void vectorize_row(Chain& chain, const Stage& stage, std::int64_t lanes, std::int64_t unroll, const std::string& tail) {
  if (lanes * unroll <= 1) return;
  const std::string& x = stage.loops[0];
  const std::string part = new_loop(stage, x + "u"), lane = new_loop(stage, x + "v");
  chain.add("split", x, part, lane, lanes * unroll, tail);
  if (lanes > 1) chain.add("vectorize", lane, lanes);
  if (unroll > 1) chain.add("unroll", lane);
}

void schedule_reduction(Schedule& schedule, const Reduction& reduction, std::int64_t step) {
  for (std::size_t u = 0; u < reduction.stage.updates.size(); ++u) {
    const std::string outer = new_loop(reduction.stage, "ro"), inner = new_loop(reduction.stage, "ri");
    Chain(schedule, reduction.stage.name, static_cast<int>(u))
        .add("split", reduction.stage.updates[u].reduction[0].name, outer, inner, step, "GuardWithIf")
        .add("atomic")
        .add("vectorize", inner);
  }
}

Schedule schedule_of(const Rows& space, const Point& p) {
  Schedule schedule;
  const std::string& y = space.output.loops[1];
  const std::string task = new_loop(space.output, "task"), row = new_loop(space.output, y + "i");
  Chain output(schedule, space.output.name);
  output.add("split", y, task, row, p[space.rows], "GuardWithIf").add("parallel", task);
  vectorize_row(output, space.output, p[space.lanes], p[space.unroll], p[space.tail]);
  for (auto stage = space.shared.rbegin(); stage != space.shared.rend(); ++stage) Chain(schedule, stage->name).add("compute_at", space.output.name, row);
  for (auto reduction = space.reductions.rbegin(); reduction != space.reductions.rend(); ++reduction) {
    Chain(schedule, reduction->stage.name).add("compute_at", space.output.name, p[reduction->place] == "row" ? row : task);
    if (p[reduction->vectors] > 0) schedule_reduction(schedule, *reduction, p[space.lanes] * p[reduction->vectors]);
  }
  for (auto kept = space.kept.rbegin(); kept != space.kept.rend(); ++kept) {
    if (p[kept->place] == "inline") continue;
    Chain chain(schedule, kept->stage.name);
    chain.add("compute_at", space.output.name, row);
    vectorize_row(chain, kept->stage, p[space.lanes], p[kept->unroll], p[space.tail]);
  }
  return schedule;
}

bool runs_over_rows(const Stage& stage) {
  if (stage.loops.size() != 1) return false;
  return std::all_of(stage.updates.begin(), stage.updates.end(), [&](const Update& update) {
    return update.reduction.size() == 1 && update_loops(stage, update).size() == 1 && is_associative(stage, update);
  });
}

// Whether the reduction reads the stage only in its updates, each element of the reduction's own row at the step of its number.
bool reduces_rows_of(const Stage& reduction, const std::string& stage) {
  bool rowwise = runs_over_rows(reduction);
  const auto read = [&](const Expression& root, const Update* update) {
    for_each_node(root, [&](const Expression& node) {
      if (node.op != Op::load || node.name != stage) return;
      rowwise = rowwise && update != nullptr && node.args[0]->op == Op::reduction && node.args[1]->op == Op::loop;
    });
  };
  for (const ExpressionPtr& value : reduction.values) read(*value, nullptr);
  for (const Update& update : reduction.updates) read(*update.values[0], &update);
  return rowwise;
}

// Whether a pure stage is made of whole rows: what reads it are pure stages like it, point by point, and reductions over its rows.
bool is_of_rows(const Algorithm& algorithm, const PlacedStage& placed) {
  if (!placed.is_pure || !placed.host || algorithm.stages[placed.stage].loops.size() != 2 || placed.follows[1] != std::size_t{1}) return false;
  return std::all_of(placed.readers.begin(), placed.readers.end(), [&](const Reader& reader) {
    const Stage& other = algorithm.stages[reader.stage];
    return other.updates.empty() ? reader.is_pointwise : reduces_rows_of(other, algorithm.stages[placed.stage].name);
  });
}

// Only one that the output itself reads is as wide as the output, which a split that shifts inwards relies on.
bool may_be_kept(const PlacedStage& placed) {
  return !placed.is_pointwise && std::any_of(placed.readers.begin(), placed.readers.end(), [&](const Reader& reader) { return reader.stage == *placed.host; });
}

bool feeds(const PlacedStage& producer, const PlacedStage& reader) { return std::binary_search(producer.later.begin(), producer.later.end(), reader.stage); }

bool is_shared(const Algorithm& algorithm, const PlacedStage& placed) { return placed.is_pure && algorithm.stages[placed.stage].loops.size() == 1; }

Reduction declare_reduction(Space& space, const Algorithm& algorithm, const PlacedStage& placed, const std::vector<PlacedStage>& all, std::int64_t lanes,
                            std::int64_t columns) {
  const Stage& stage = algorithm.stages[placed.stage];
  // Partial sums change the rounding: a strict contract forbids them. The widest step is 256 elements.
  const std::int64_t most = algorithm.contract == Contract::strict ? 0 : std::min<std::int64_t>(columns, 256) / vector_widths(lanes, columns)[0];
  std::vector<std::int64_t> vectors = {0};
  for (const std::int64_t v : {1, 2, 4, 8, 16}) {
    if (v <= most && lanes > 1 && columns > 1) vectors.push_back(v);
  }
  const Knob knob = space.knob("vectors." + stage.name, vectors);
  // Shared stages are computed within the loop over rows, and so is what reads them.
  const bool within_row = std::any_of(all.begin(), all.end(), [&](const PlacedStage& other) { return is_shared(algorithm, other) && feeds(other, placed); });
  return {placed, stage, knob, space.words("place." + stage.name, within_row ? std::vector<std::string>{"row"} : std::vector<std::string>{"row", "task"})};
}

Kept declare_kept(Space& space, const PlacedStage& placed, const Stage& stage, const Rows& rows, std::int64_t columns) {
  const Kept kept{placed, stage, space.words("place." + stage.name, {"row", "inline"}), space.knob("unroll." + stage.name, at_most({1, 2, 4}, columns))};
  space.require("an inlined stage has no loop to unroll", [](const std::string& place, std::int64_t u) { return place == "row" || u == 1; }, kept.place, kept.unroll);
  space.require("a step must fit in the row that ShiftInwards moves it in",
                [=](std::int64_t l, std::int64_t u, const std::string& t) { return t != "ShiftInwards" || l * u <= columns; }, rows.lanes, kept.unroll, rows.tail);
  return kept;
}

// What is computed for all rows of a task cannot read what exists for one row at a time.
void require_order(Space& space, const PlacedStage& producer, const WordKnob& place, const Rows& rows) {
  for (const Reduction& reader : rows.reductions) {
    if (!feeds(producer, reader.placed)) continue;
    space.require("what all rows of a task read is not computed row by row",
                  [](const std::string& of_producer, const std::string& of_reader) { return of_producer != "row" || of_reader == "row"; }, place, reader.place);
  }
}

}  // namespace

bool is_row_operator(const Algorithm& algorithm) {
  if (algorithm.outputs.size() != 1) return false;
  const Stage& output = algorithm.stage(algorithm.outputs[0]);
  if (output.loops.size() != 2 || !output.updates.empty()) return false;
  bool reduces = false;
  for (const PlacedStage& placed : placed_stages(algorithm)) {
    // A row's value must belong to the row that reads it, whatever the column.
    const bool of_a_row = runs_over_rows(algorithm.stages[placed.stage]) && placed.host && placed.follows[0] == std::size_t{1};
    if (!of_a_row && !is_of_rows(algorithm, placed)) return false;
    reduces = reduces || !placed.is_pure;
  }
  return reduces;
}

Space rows_host(const Algorithm& algorithm, const Problem& problem, const Device& device) {
  const std::vector<std::int64_t> extents = output_extents(algorithm, problem, algorithm.outputs[0]);
  Space space("rows_host");
  Rows rows;
  rows.output = algorithm.stage(algorithm.outputs[0]);
  const std::int64_t lanes = lanes_of(device, widest_type(algorithm));
  rows.lanes = space.knob("lanes", vector_widths(lanes, extents[0]));
  rows.unroll = space.knob("unroll", at_most({1, 2, 3, 4, 6, 8}, extents[0]));
  rows.tail = space.words("tail", {"ShiftInwards", "GuardWithIf"});
  rows.rows = space.knob("rows", at_most({1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256}, extents[1]));
  const std::int64_t columns = extents[0];
  space.require("a step must fit in the row that ShiftInwards moves it in, and be more than one element for GuardWithIf",
                [=](std::int64_t l, std::int64_t u, const std::string& t) { return t == "ShiftInwards" ? l * u <= columns : l * u > 1; }, rows.lanes, rows.unroll, rows.tail);
  std::map<std::string, KnobValue> seed = {{"lanes", lanes}, {"unroll", 4}, {"rows", std::max<std::int64_t>(1, extents[1] / (4 * device.cores))}};
  const std::vector<PlacedStage> all = placed_stages(algorithm);
  for (const PlacedStage& placed : all) {
    const Stage& stage = algorithm.stages[placed.stage];
    if (is_shared(algorithm, placed)) {
      rows.shared.push_back(stage);
    } else if (!placed.is_pure) {
      rows.reductions.push_back(declare_reduction(space, algorithm, placed, all, lanes, columns));
      seed["vectors." + stage.name] = 8;
    } else if (may_be_kept(placed)) {
      rows.kept.push_back(declare_kept(space, placed, stage, rows, columns));
    }
  }
  for (const Reduction& reduction : rows.reductions) require_order(space, reduction.placed, reduction.place, rows);
  for (const Kept& kept : rows.kept) require_order(space, kept.placed, kept.place, rows);
  space.schedule_as([rows](const Point& p) { return schedule_of(rows, p); });
  space.seed(seed, "a row's passes one after the other, the sum in wide steps");
  seed["unroll"] = 1;
  space.seed(seed, "a row's passes one after the other, the sum in wide steps");
  if (space.seeds().empty()) space.seed({}, "one row a task");
  return space;
}

}  // namespace kiln::schedules
