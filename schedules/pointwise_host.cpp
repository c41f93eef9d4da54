#include "schedules/pointwise_host.h"

#include <algorithm>

#include "schedules/structure.h"

namespace kiln::schedules {
namespace {

struct Shape {
  std::string output;
  std::vector<std::string> loops;
  std::int64_t columns = 1, rows = 1;  // extents of the innermost and of the outermost loop
};

struct Knobs {
  Knob lanes, unroll, rows, blocks;
  WordKnob tail;
};

// Loops, innermost first: vectors of a block of columns, the block's part, the loops between, rows of a task, task.
Schedule schedule_of(const Shape& shape, const Stage& output, const Knobs& k, const Point& p) {
  Schedule schedule;
  Chain chain(schedule, shape.output);
  const std::string& x = shape.loops[0];
  const std::string block = new_loop(output, x + "o"), inner = new_loop(output, x + "i"), task = new_loop(output, "task");
  const bool flat = shape.loops.size() == 1;
  const std::int64_t width = ceil_div(shape.columns, p[k.blocks]);
  std::string along = x;
  if (p[k.blocks] > 1) {
    chain.add("split", x, block, inner, width, "GuardWithIf");
    along = inner;
  }
  if (flat) {
    if (p[k.blocks] > 1) chain.add("parallel", block);
  } else {
    const std::string& y = shape.loops.back();
    const std::string row = new_loop(output, y + "i"), strip = p[k.blocks] > 1 ? new_loop(output, "strip") : task;
    chain.add("split", y, strip, row, p[k.rows], "GuardWithIf");
    std::vector<std::string> order = {along};
    order.insert(order.end(), shape.loops.begin() + 1, shape.loops.end() - 1);
    order.push_back(row);
    if (p[k.blocks] > 1) order.push_back(block);
    order.push_back(strip);
    chain.add("reorder", order);
    if (p[k.blocks] > 1) chain.add("fuse", block, strip, task);
    chain.add("parallel", task);
  }
  const std::int64_t step = p[k.lanes] * p[k.unroll];
  if (step > 1) {
    const std::string part = new_loop(output, x + "u"), lane = new_loop(output, x + "v");
    chain.add("split", along, part, lane, step, p[k.tail]);
    if (p[k.lanes] > 1) chain.add("vectorize", lane, p[k.lanes]);
    if (p[k.unroll] > 1) chain.add("unroll", lane);
  }
  return schedule;
}

}  // namespace

bool is_pointwise(const Algorithm& algorithm) {
  if (algorithm.outputs.size() != 1 || algorithm.stage(algorithm.outputs[0]).loops.empty()) return false;
  for (const Stage& stage : algorithm.stages) {
    if (is_wrapper(algorithm, stage)) continue;
    if (!stage.updates.empty()) return false;
    for (const ExpressionPtr& value : stage.values) {
      bool pointwise = true;
      for_each_node(*value, [&](const Expression& node) { pointwise = pointwise && (node.op != Op::load || is_pointwise_load(node, stage)); });
      if (!pointwise) return false;
    }
  }
  return true;
}

Space pointwise_host(const Algorithm& algorithm, const Problem& problem, const Device& device) {
  const Stage& output = algorithm.stage(algorithm.outputs[0]);
  const std::vector<std::int64_t> extents = output_extents(algorithm, problem, output.name);
  const bool flat = extents.size() == 1;
  const Shape shape{output.name, output.loops, extents[0], flat ? 1 : extents.back()};
  Space space("pointwise_host");
  Knobs k;
  const std::int64_t lanes = lanes_of(device, widest_type(algorithm));
  k.lanes = space.knob("lanes", vector_widths(lanes, shape.columns));
  k.unroll = space.knob("unroll", at_most({1, 2, 3, 4, 6, 8}, shape.columns));
  k.tail = space.words("tail", {"ShiftInwards", "GuardWithIf"});
  k.blocks = space.knob("blocks", at_most({1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64}, shape.columns));
  k.rows = space.knob("rows", at_most({1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024}, shape.rows));
  const std::int64_t columns = shape.columns;
  space.require("a step must fit in the block that ShiftInwards moves it in, and be more than one element for GuardWithIf", [=](std::int64_t l, std::int64_t u, const std::string& t, std::int64_t b) {
    if (t != "ShiftInwards") return l * u > 1;
    return (b == 1 ? l * u <= columns : ceil_div(columns, b) % (l * u) == 0 && columns % ceil_div(columns, b) == 0);
  }, k.lanes, k.unroll, k.tail, k.blocks);
  space.require("blocks must differ in their width", [=](std::int64_t b) { return ceil_div(columns, ceil_div(columns, b)) == b; }, k.blocks);
  space.schedule_as([=](const Point& p) { return schedule_of(shape, output, k, p); });
  // A few tasks for each core: enough to even out, few enough that handing them out costs nothing.
  for (const std::int64_t tasks : {1, 4}) {
    const std::int64_t blocks = shape.rows >= device.cores * tasks ? 1 : device.cores * tasks;
    const std::int64_t rows = std::max<std::int64_t>(1, shape.rows / (device.cores * tasks));
    for (const char* tail : {"ShiftInwards", "GuardWithIf"}) {
      if (space.seed({{"lanes", lanes}, {"unroll", 2}, {"blocks", blocks}, {"rows", rows}, {"tail", std::string(tail)}}, "one strip of rows a task")) break;
    }
  }
  if (space.seeds().empty()) space.seed({}, "one row a task");
  return space;
}

}  // namespace kiln::schedules
