#include "schedules/turned_cuda.h"

#include <algorithm>

#include "schedules/cuda_knobs.h"
#include "schedules/structure.h"

namespace kiln::schedules {
namespace {

bool is_turned_load(const Expression& load, const Stage& consumer) {
  return load.args.size() == 2 && load.args[0]->op == Op::loop && load.args[0]->name == consumer.loops[1] && load.args[1]->op == Op::loop &&
         load.args[1]->name == consumer.loops[0];
}

}  // namespace

bool is_turned_operator(const Algorithm& algorithm) {
  if (algorithm.outputs.size() != 1 || algorithm.stage(algorithm.outputs[0]).loops.size() != 2) return false;
  bool turns = false;
  for (const Stage& stage : algorithm.stages) {
    if (is_wrapper(algorithm, stage)) continue;
    if (!stage.updates.empty() || stage.loops.size() != 2) return false;
    for (const ExpressionPtr& value : stage.values) {
      bool is_served = true;
      for_each_node(*value, [&](const Expression& node) {
        if (node.op != Op::load) return;
        const bool is_turned = is_turned_load(node, stage);
        turns = turns || is_turned;
        is_served = is_served && (is_turned || is_pointwise_load(node, stage));
      });
      if (!is_served) return false;
    }
  }
  return turns;
}

Space turned_cuda(const Algorithm& algorithm, const Problem& problem, const Device& gpu) {
  const Stage output = algorithm.stage(algorithm.outputs[0]);
  const std::vector<std::int64_t> extents = output_extents(algorithm, problem, output.name);
  const std::int64_t side = access_elements(algorithm), bytes = 16 / side;
  Space space("turned_cuda");
  const std::vector<std::int64_t> sides = {64, 128, 256};
  const Knob across = space.knob("across", sides), down = space.knob("down", sides);
  const WordKnob order = space.words("order", {"across", "down"});
  const MemoryKnobs memory = declare_memory_knobs(space, gpu);
  space.require("rows of both matrices start at 16 bytes", [=](std::int64_t) { return extents[0] % side == 0 && extents[1] % side == 0; }, across);
  space.limit("threads of a block", kMostThreadsOfBlock, [=](std::int64_t a, std::int64_t d) { return a / side * (d / side); }, across, down);
  space.require("whole warps of threads", [=](std::int64_t a, std::int64_t d) { return a / side * (d / side) % 32 == 0; }, across, down);
  space.require("two tiles in the shared memory of a multiprocessor", [=](std::int64_t a, std::int64_t d) { return a * d * bytes <= 98304; }, across, down);
  space.schedule_as([=](const Point& p) {
    Schedule schedule;
    Chain chain(schedule, output.name);
    const std::string &x = output.loops[0], &y = output.loops[1];
    const auto name = [&](const std::string& loop, const char* part) { return new_loop(output, loop + part); };
    const std::string xo = name(x, "o"), yo = name(y, "o"), xi = name(x, "i"), yi = name(y, "i"), xt = name(x, "t"), yt = name(y, "t"), xv = name(x, "v"), yv = name(y, "v");
    chain.add("tile", x, y, xo, yo, xi, yi, p[across], p[down], "GuardWithIf").add("tile", xi, yi, xt, yt, xv, yv, side, side);
    if (p[order] == "down") {
      chain.add("reorder", yo, xo).add("gpu_blocks", yo, xo);
    } else {
      chain.add("gpu_blocks", xo, yo);
    }
    chain.add("gpu_threads", xt, yt).add("vectorize", xv).add("unroll", yv);
    add_memory(chain, memory, p);
    return schedule;
  });
  for (const char* first : {"across", "down"})
    for (const std::int64_t wide : {64, 128}) space.seed({{"across", wide}, {"down", 64}, {"order", std::string(first)}}, "whole lines on both sides");
  if (space.seeds().empty()) space.seed({{"across", 128}, {"down", 128}}, "whole lines on both sides");
  return space;
}

}  // namespace kiln::schedules
