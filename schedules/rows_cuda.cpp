#include "schedules/rows_cuda.h"

#include <algorithm>
#include <map>
#include <optional>

#include "schedules/cuda_knobs.h"
#include "schedules/pointwise_host.h"
#include "schedules/rows_host.h"
#include "schedules/stage_graph.h"
#include "schedules/structure.h"

namespace kiln::schedules {
namespace {

constexpr std::int64_t kMostAccesses = 8;     // vectors of a row a thread: 16 take nearly all registers
constexpr std::int64_t kClusterRows = 8;      // clusters pay for so few rows, of so many bytes: with more rows every kernel was slower (an H200)
constexpr std::int64_t kClusterBytes = 24576;

struct Knobs {
  Knob threads, rows, vector, blocks, cluster;
  WordKnob length;  // "free", or "fixed": a constant of the text
  MemoryKnobs memory;
};

// The algorithm without its outputs of one value a row, and those.
struct Divided {
  Algorithm rows;
  std::vector<Stage> values;
};

// Nothing when an output is neither, or when there is not one of two loops.
std::optional<Divided> divided(const Algorithm& algorithm) {
  Divided result{algorithm, {}};
  result.rows.outputs.clear();
  std::size_t output = 0;
  std::vector<Argument> arguments;
  for (const Argument& argument : algorithm.arguments) {
    if (argument.is_output && algorithm.stage(algorithm.outputs[output++]).loops.size() == 1) continue;
    arguments.push_back(argument);
  }
  if (output != algorithm.outputs.size()) return std::nullopt;  // Tuples: more arguments than stages
  for (const std::string& name : algorithm.outputs) {
    const Stage& stage = algorithm.stage(name);
    if (stage.loops.size() == 2) {
      result.rows.outputs.push_back(name);
    } else if (stage.loops.size() == 1 && stage.updates.empty()) {
      result.values.push_back(stage);
    } else {
      return std::nullopt;
    }
  }
  if (result.rows.outputs.size() != 1) return std::nullopt;
  result.rows.arguments = std::move(arguments);
  std::erase_if(result.rows.stages, [&](const Stage& stage) {
    return std::any_of(result.values.begin(), result.values.end(), [&](const Stage& value) { return value.name == stage.name; });
  });
  return result;
}

struct Place {
  PlacedStage placed;
  Stage stage;
  WordKnob where;  // "row", "inline" or "root"
};

void add_rows(Chain& chain, const std::string& row_loop, const Knobs& k, const Point& p) {
  chain.add("rows", p[k.rows], p[k.threads]).add("vector", p[k.vector]);
  if (p[k.cluster] > 1) chain.add("cluster", p[k.cluster]);
  if (p[k.blocks] > 1) chain.add("blocks_per_sm", p[k.blocks]);
  if (p[k.length] == "fixed") chain.add("fix", row_loop);
  add_memory(chain, k.memory, p);
}

// The words for where a stage may be computed: sums once a row or in a kernel of their own, other values also wherever they are read.
std::vector<std::string> words_for(const Stage& stage) {
  if (!stage.updates.empty()) return {"row", "root"};
  return stage.loops.size() == 1 ? std::vector<std::string>{"row", "inline"} : std::vector<std::string>{"inline", "row"};
}

Schedule schedule_of(const Stage& output, const std::vector<Stage>& values, const std::vector<Place>& places, const Knobs& k, const Point& p) {
  Schedule schedule;
  Chain chain(schedule, output.name);
  add_rows(chain, output.loops[0], k, p);
  const auto first = std::find_if(places.begin(), places.end(), [&](const Place& place) { return p[place.where] == "root"; });
  for (const Stage& value : values) Chain(schedule, value.name).add("compute_with", output.name, output.loops[1]);
  for (std::size_t i = places.size(); i-- > 0;) {
    const std::string where = p[places[i].where];
    Chain stage(schedule, places[i].stage.name);
    if (where == "row") stage.add("compute_at", output.name, output.loops[1]);
    if (where != "root") continue;
    // Its rows are the same: fewer knobs of its own, and the two kernels read the same lines.
    stage.add("compute_root").add("rows", p[k.rows], p[k.threads]).add("vector", p[k.vector]);
    if (p[k.cluster] > 1) stage.add("cluster", p[k.cluster]);
    add_memory(stage, k.memory, p, &places[i] == &*first);
  }
  return schedule;
}

}  // namespace

bool is_row_kernel(const Algorithm& algorithm) {
  const auto parts = divided(algorithm);
  if (!parts) return false;
  const Stage& output = parts->rows.stage(parts->rows.outputs[0]);
  for (const Stage& value : parts->values)
    if (value.loops[0] != output.loops[1]) return false;  // they share a loop by its name
  return is_pointwise(parts->rows) || is_row_operator(parts->rows);
}

Space rows_cuda(const Algorithm& whole, const Problem& problem, const Device& gpu) {
  const auto [algorithm, values] = *divided(whole);
  const Stage output = algorithm.stage(algorithm.outputs[0]);
  const std::vector<std::int64_t> extents = output_extents(algorithm, problem, output.name);
  const std::int64_t columns = extents[0], rows = extents[1], widest = access_elements(algorithm);
  const bool may_share = rows <= kClusterRows && columns * 16 / widest >= kClusterBytes && cluster_sizes(gpu, {4, 8}).size() == 2;
  Space space("rows_cuda");
  std::vector<std::int64_t> vectors;
  for (std::int64_t v = widest; v >= 1; v /= 2)
    if (columns % v == 0 && (vectors.empty() || vectors.size() < 2)) vectors.push_back(v);
  const Knobs k{space.knob("threads", {32, 64, 96, 128, 192, 256, 384, 512, 768, 1024}), space.knob("rows", {1, 2, 4}), space.knob("vector", vectors),
                space.knob("blocks", {1, 2, 3, 4, 6, 8}), space.knob("cluster", may_share ? std::vector<std::int64_t>{1, 4, 8} : std::vector<std::int64_t>{1}),
                space.words("length", {"free", "fixed"}), declare_memory_knobs(space, gpu)};
  std::vector<Place> places;
  for (const PlacedStage& placed : placed_stages(algorithm)) {
    const Stage& stage = algorithm.stages[placed.stage];
    if (stage.updates.empty() && stage.loops.size() > 1 && placed.readers.size() < 2) continue;  // read once: there is nothing to keep it for
    places.push_back({placed, stage, space.words("place." + knob_suffix(stage.name), words_for(stage))});
  }
  for (const Place& producer : places) {
    for (const Place& reader : places) {
      if (!std::binary_search(producer.placed.later.begin(), producer.placed.later.end(), reader.placed.stage)) continue;
      space.require("what a kernel of its own reads is not in the registers of another",
                    [](const std::string& of_producer, const std::string& of_reader) { return of_producer != "row" || of_reader != "root"; }, producer.where, reader.where);
    }
  }
  space.limit("threads of a block", kMostThreadsOfBlock, [](std::int64_t t, std::int64_t r) { return t * r; }, k.threads, k.rows);
  space.limit("threads of a multiprocessor", 2048, [](std::int64_t t, std::int64_t r, std::int64_t b) { return t * r * b; }, k.threads, k.rows, k.blocks);
  space.limit("vectors of a row that a thread keeps", kMostAccesses, [=](std::int64_t t, std::int64_t v, std::int64_t c) { return ceil_div(columns, t * v * c); }, k.threads,
              k.vector, k.cluster);
  space.require("every warp of a row has elements of it", [=](std::int64_t t, std::int64_t v, std::int64_t c) { return (t - 32) * v * c < columns; }, k.threads, k.vector,
                k.cluster);
  space.require("a cluster shares one row", [](std::int64_t r, std::int64_t c) { return c == 1 || r == 1; }, k.rows, k.cluster);
  space.schedule_as([output, values = values, places, k](const Point& p) { return schedule_of(output, values, places, k, p); });
  // Two to four vectors a thread and at most eight warps a row; long rows take more threads. Two blocks at once, so that loads and stores overlap.
  for (const std::int64_t accesses : {2, 4, 1}) {
    const std::int64_t threads = std::clamp<std::int64_t>(ceil_div(columns, accesses * vectors.front()), 32, 1024);
    for (const char* length : {"free", "fixed"})
      space.seed({{"threads", threads}, {"length", std::string(length)}, {"blocks", threads <= 768 ? 2 : 1}}, "a few vectors a thread, two blocks at once");
    // What the sums and the output both read, computed once and kept: the registers are there while two blocks fit.
    std::map<std::string, KnobValue> kept{{"threads", threads}, {"length", std::string("fixed")}, {"blocks", threads <= 768 ? 2 : 1}};
    const std::size_t others = kept.size();
    for (const Place& place : places)
      if (place.stage.updates.empty() && place.stage.loops.size() > 1) kept["place." + knob_suffix(place.stage.name)] = std::string("row");
    if (kept.size() > others) space.seed(kept, "values that are read twice kept in registers");
    if (!has_dependent_launches(gpu)) continue;
    kept["blocks"] = 1;
    kept["launch"] = std::string("dependent");
    space.seed(kept, "launched while the kernel before it ends");
  }
  // The chain as a kernel a step, of as many threads as the first seed has: each sum in one of its own, and the rows after them, each launched while the one
  // before it ends.
  std::map<std::string, KnobValue> steps{{"threads", std::clamp<std::int64_t>(ceil_div(columns, 2 * vectors.front()), 32, 1024)},
                                         {"launch", std::string(has_dependent_launches(gpu) ? "dependent" : "plain")}};
  for (const Place& place : places)
    if (!place.stage.updates.empty()) steps["place." + knob_suffix(place.stage.name)] = std::string("root");
  if (steps.size() > 2) space.seed(steps, "a kernel for each sum, and one for the rows");
  if (may_share) {
    space.seed({{"threads", 384}, {"cluster", 4}}, "few long rows, each shared by a cluster");
    space.seed({{"threads", 256}, {"vector", vectors.back()}, {"cluster", 8}, {"launch", std::string("dependent")}}, "more blocks a row, launched while the kernel before it ends");
  }
  if (space.seeds().empty()) space.seed({}, "a warp a row");
  return space;
}

}  // namespace kiln::schedules
