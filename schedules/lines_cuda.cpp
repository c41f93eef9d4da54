#include "schedules/lines_cuda.h"

#include <algorithm>

#include "schedules/cuda_knobs.h"
#include "schedules/pointwise_host.h"
#include "schedules/structure.h"

namespace kiln::schedules {
namespace {

struct Knobs {
  Knob threads, accesses;
  MemoryKnobs memory;
  std::vector<std::pair<std::string, WordKnob>> places;  // of the stages between: "inline", or "root", a kernel of its own
};

// Loops, innermost first: elements of an access, threads, accesses in flight, blocks.
void add_line(Schedule& schedule, const Stage& stage, std::int64_t vector, const Knobs& k, const Point& p, bool is_first = false) {
  Chain chain(schedule, stage.name);
  const std::string line = new_loop(stage, "i"), block = new_loop(stage, "b"), access = new_loop(stage, "a"), thread = new_loop(stage, "t"), lane = new_loop(stage, "v");
  std::string all = stage.loops.front();
  for (std::size_t d = 1; d < stage.loops.size(); ++d) {
    chain.add("fuse", all, stage.loops[d], line);
    all = line;
  }
  const std::int64_t span = vector * p[k.threads], accesses = p[k.accesses];
  const std::string rest = line;
  chain.add("split", all, block, rest, span * accesses, "GuardWithIf");
  if (accesses > 1) chain.add("split", rest, access, rest, span);
  if (vector > 1) {
    chain.add("split", rest, thread, lane, vector);
    chain.add("gpu_blocks", block).add("gpu_threads", thread).add("vectorize", lane);
  } else {
    chain.add("gpu_blocks", block).add("gpu_threads", rest);
  }
  if (accesses > 1) chain.add("unroll", access);
  add_memory(chain, k.memory, p, is_first);
}

}  // namespace

bool is_line_operator(const Algorithm& algorithm) {
  if (!is_pointwise(algorithm)) return false;
  const std::size_t rank = algorithm.stage(algorithm.outputs[0]).loops.size();
  const bool same_rank = std::all_of(algorithm.arguments.begin(), algorithm.arguments.end(),
                                     [&](const Argument& argument) { return argument.is_scalar || static_cast<std::size_t>(argument.rank) == rank; });
  return same_rank && std::all_of(algorithm.stages.begin(), algorithm.stages.end(), [&](const Stage& stage) { return stage.loops.size() == rank; });
}

Space lines_cuda(const Algorithm& algorithm, const Problem&, const Device& gpu) {
  Space space("lines_cuda");
  const Stage output = algorithm.stage(algorithm.outputs[0]);
  Knobs k{space.knob("threads", {128, 256, 512, 1024}), space.knob("accesses", {1, 2, 4}), declare_memory_knobs(space, gpu), {}};
  std::vector<Stage> between;
  for (const Stage& stage : algorithm.stages) {
    if (is_wrapper(algorithm, stage) || stage.name == output.name) continue;
    between.push_back(stage);
    k.places.emplace_back(stage.name, space.words("place." + knob_suffix(stage.name), {"inline", "root"}));
  }
  const std::int64_t vector = access_elements(algorithm);
  space.schedule_as([=](const Point& p) {
    Schedule schedule;
    add_line(schedule, output, vector, k, p);
    const auto first = std::find_if(k.places.begin(), k.places.end(), [&](const auto& place) { return p[place.second] == "root"; });
    for (std::size_t i = between.size(); i-- > 0;) {
      if (p[k.places[i].second] == "inline") continue;
      Chain(schedule, between[i].name).add("compute_root");
      add_line(schedule, between[i], vector, k, p, &k.places[i] == &*first);
    }
    return schedule;
  });
  for (const std::int64_t threads : {256, 128, 512})
    for (const char* loads : {"plain", "no_l1"}) space.seed({{"threads", threads}, {"loads", std::string(loads)}}, "one access a thread: latency is hidden by blocks");
  if (!has_dependent_launches(gpu)) return space;
  for (const std::int64_t threads : {256, 512})
    space.seed({{"threads", threads}, {"loads", std::string("no_l1")}, {"stores", std::string("evict_first")}, {"launch", std::string("dependent")}},
               "launched while the kernel before it ends");
  return space;
}

}  // namespace kiln::schedules
