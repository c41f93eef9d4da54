#include "dsl/footprint_read.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "dsl/footprint_places.h"
#include "dsl/legality.h"

namespace kiln {
namespace {

// The boxes of one buffer: their hull, or their sum when that is less.
struct Reach {
  Box hull;
  std::int64_t elements = 0;

  void add(const Box& box) {
    if (volume(box) == 0) return;
    hull = elements == 0 ? box : kiln::hull(hull, box);
    if (std::find(boxes_.begin(), boxes_.end(), box) == boxes_.end()) boxes_.push_back(box);
    std::int64_t sum = 0;
    for (const Box& known : boxes_) sum += volume(known);
    elements = std::min(volume(hull), sum);
  }

  // Elements that lie in both hulls. What is touched in no iteration has none.
  std::int64_t shared(const Reach& other) const { return elements == 0 || other.elements == 0 ? 0 : volume(overlap(hull, other.hull)); }

 private:
  std::vector<Box> boxes_;
};
using Reaches = std::map<int, Reach>;  // by buffer

class Reader {
 public:
  explicit Reader(const ScheduledProblem& program) : program_(program), call_(place_loops(program)) {
    for (const Argument& argument : program.algorithm.arguments) {
      argument_buffers_.push_back(static_cast<int>(tree_.buffers.size()));
      if (argument.is_scalar || argument.is_output) continue;
      std::int64_t bytes = argument.type.bytes();
      for (int d = 0; d < argument.rank; ++d) bytes *= extent_of(program.problem, program.algorithm, argument.name, d);
      element_bytes_.push_back(argument.type.bytes());
      tree_.buffers.push_back({argument.name, bytes, true, false});
    }
    for (int s = 0; s < static_cast<int>(program.nest.stages().size()); ++s) add_stage_buffer(s);
  }

  FootprintTree read() {
    const Regions everywhere(program_);
    tree_.root = part(call_, everywhere, 1);
    for (const PlacedLoop& inside : call_.inside)
      if (const std::string& name = program_.stage(inside.stage).name; tree_.kernels.empty() || tree_.kernels.back() != name) tree_.kernels.push_back(name);
    return std::move(tree_);
  }

 private:
  void add_stage_buffer(int s) {
    const StageLoops& stage = program_.stage(s);
    std::int64_t element = 0;
    for (const DType type : stage.facts->stage->types) element += type.bytes();
    stage_buffers_.push_back(static_cast<int>(tree_.buffers.size()));
    element_bytes_.push_back(element);
    tree_.buffers.push_back({stage.name, std::nullopt, stage.is_output(), stage.is_output()});
    if (!stage.is_output()) return;
    tree_.buffers.back().name = argument_of(stage.facts->stage->name);
    std::int64_t bytes = element;
    for (const auto& extent : stage.facts->extents) bytes *= extent.value_or(1);
    tree_.buffers.back().bytes = bytes;
  }

  // An output goes by its first argument's name.
  std::string argument_of(const std::string& output) const {
    std::size_t skipped = 0;
    for (const std::string& name : program_.algorithm.outputs) {
      if (name == output) break;
      skipped += program_.algorithm.stage(name).types.size();
    }
    for (const Argument& argument : program_.algorithm.arguments)
      if (argument.is_output && skipped-- == 0) return argument.name;
    return output;
  }

  FootprintPart part(const PlacedLoop& loop, const Regions& here, std::int64_t trips) {
    FootprintPart out{.trips = trips, .touched = {}, .direct = {}, .children = {}};
    for (const int stage : loop.stored) store(stage, here);
    Reaches direct;
    for (const PlacedLoop& inside : loop.inside) {
      if (inside.is_computation) {
        touch(inside, here, direct);
        out.flops += flops_of(inside);
      } else if (FootprintNode node = loop_node(inside, here); !node.parts.empty()) {
        out.children.push_back(std::move(node));
      }
    }
    out.direct = bytes_of(direct);
    Reaches all;
    touch(loop, here, all);
    out.touched = with_allocations(bytes_of(all), loop);
    for (const int stage : loop.stored) {
      FootprintNode allocation;
      allocation.kind = FootprintNode::Kind::allocation;
      allocation.buffer = stage_buffers_[static_cast<std::size_t>(stage)];
      allocation.parts.push_back({.trips = 1, .touched = {}, .direct = {}, .children = std::move(out.children)});
      out.children = {std::move(allocation)};
    }
    return out;
  }

  FootprintNode loop_node(const PlacedLoop& loop, const Regions& here) {
    FootprintNode node;
    node.name = name_of(loop);
    if (const LoopKind kind = variable_of(loop).kind; kind == LoopKind::parallel || kind == LoopKind::gpu_block) node.kind = FootprintNode::Kind::parallel_loop;
    std::vector<Run> runs;
    const std::int64_t trips = here.loops(loop.stage, loop.definition).trips(loop.variable);
    if (trips > 0) add_runs(loop, here, {0, trips - 1}, runs);
    for (const Run& run : runs) {
      const bool is_first = node.parts.empty();
      node.parts.push_back(part(loop, standing(loop, here, run.typical()), run.last - run.first + 1));
      if (is_first)
        node.swept = node.parts.front().touched;
      else
        add_fresh(loop, standing(loop, here, run.first), 1, node);
      if (run.first < run.last) add_fresh(loop, standing(loop, here, run.typical()), run.last - run.first, node);
    }
    Reaches all;
    touch(loop, here, all);
    node.whole = with_allocations(bytes_of(all), loop);  // whose sizes are known now
    return node;
  }

  // Iterations over equally much. The typical one has a neighbour before it in the run, if any has.
  struct Run {
    std::int64_t first = 0, last = 0;
    std::int64_t typical() const { return std::min(last, std::max(first + 1, first + (last - first) / 2)); }
  };

  // A loop's iterations grow or shrink in one direction only: where both ends are equal, so is what lies between. Except where a tail leaves out
  // both ends: so many iterations are looked at one by one, and of more none runs.
  static constexpr std::int64_t kMostLookedAt = 64;

  void add_runs(const PlacedLoop& loop, const Regions& here, const Run& span, std::vector<Run>& runs) const {
    const auto lengths_at = [&](std::int64_t iteration) { return lengths(standing(loop, here, iteration).own_ranges(loop.stage, loop.definition)); };
    const std::vector<std::int64_t> first = lengths_at(span.first);
    const bool is_even = first == lengths_at(span.last), is_empty = std::count(first.begin(), first.end(), 0) > 0;
    if (is_even && is_empty && (span.first == span.last || span.last - span.first >= kMostLookedAt)) return;
    if (is_even && !is_empty) {
      if (!runs.empty() && lengths_at(runs.back().last) == first)
        runs.back().last = span.last;
      else
        runs.push_back(span);
      return;
    }
    const std::int64_t middle = span.first + (span.last - span.first) / 2;
    add_runs(loop, here, {span.first, middle}, runs);
    add_runs(loop, here, {middle + 1, span.last}, runs);
  }

  // What `times` iterations like this one touch beyond what the iteration before each did.
  void add_fresh(const PlacedLoop& loop, const Regions& here, std::int64_t times, FootprintNode& node) {
    const Regions before = here.previous();
    Reaches now, earlier;
    touch(loop, here, now);
    touch(loop, before, earlier);
    const std::set<int> inside = allocated(loop);
    for (const auto& [buffer, reach] : now) {
      if (inside.contains(buffer)) continue;
      const auto known = earlier.find(buffer);
      const std::int64_t shared = known == earlier.end() ? 0 : reach.shared(known->second);
      node.swept[buffer] += times * std::max<std::int64_t>(reach.elements - shared, 0) * element_bytes_[static_cast<std::size_t>(buffer)];
    }
  }

  static Regions standing(const PlacedLoop& loop, const Regions& outside, std::int64_t iteration) {
    return Regions(outside, {loop.stage, loop.definition, loop.variable, iteration});
  }

  static std::vector<std::int64_t> lengths(const std::vector<Range>& ranges) {
    std::vector<std::int64_t> out;
    for (const Range& range : ranges) out.push_back(range.length());
    return out;
  }

  void store(int stage, const Regions& here) {
    const int buffer = stage_buffers_[static_cast<std::size_t>(stage)];
    const std::int64_t bytes = volume(here.required(stage)) * element_bytes_[static_cast<std::size_t>(buffer)];
    auto& known = tree_.buffers[static_cast<std::size_t>(buffer)].bytes;
    known = std::max(known.value_or(0), bytes);
  }

  // Everything inside a placed loop touches while `here` holds.
  void touch(const PlacedLoop& loop, const Regions& here, Reaches& reaches) const {
    if (!loop.is_computation) {
      for (const PlacedLoop& inside : loop.inside) touch(inside, here, reaches);
      return;
    }
    Regions::Touched touched;
    here.touch(loop.stage, loop.definition, touched);
    for (const auto& [argument, boxes] : touched.arguments)
      for (const Box& box : boxes) reaches[argument_buffers_[static_cast<std::size_t>(argument)]].add(box);
    for (const auto& [stage, boxes] : touched.stages)
      for (const Box& box : boxes) reaches[stage_buffers_[static_cast<std::size_t>(stage)]].add(box);
  }

  BufferBytes bytes_of(const Reaches& reaches) const {
    BufferBytes bytes;
    for (const auto& [buffer, reach] : reaches)
      if (reach.elements > 0) bytes[buffer] = reach.elements * element_bytes_[static_cast<std::size_t>(buffer)];
    return bytes;
  }

  std::set<int> allocated(const PlacedLoop& loop) const {
    std::set<int> out;
    for (const int stage : loop.stored) out.insert(stage_buffers_[static_cast<std::size_t>(stage)]);
    for (const PlacedLoop& inside : loop.inside) out.merge(allocated(inside));
    return out;
  }

  // Storage that begins and ends inside is the same bytes each time, however far the loops reach.
  BufferBytes with_allocations(BufferBytes bytes, const PlacedLoop& loop) const {
    for (const int buffer : allocated(loop)) {
      const auto found = bytes.find(buffer);
      if (found != bytes.end()) found->second = tree_.buffers[static_cast<std::size_t>(buffer)].bytes.value_or(found->second);
    }
    return bytes;
  }

  const LoopVariable& variable_of(const PlacedLoop& loop) const {
    const Definition& definition = program_.definition(loop.stage, loop.definition);
    for (const int variable : definition.order) {
      const std::vector<int> parts = taken_apart(definition, variable);
      if (std::find(parts.begin(), parts.end(), loop.variable) != parts.end()) return definition.variables[static_cast<std::size_t>(variable)];
    }
    return definition.variables[static_cast<std::size_t>(loop.variable)];
  }

  // As a schedule refers to it: of a fused loop the inner one bears the name.
  std::string name_of(const PlacedLoop& loop) const {
    const Definition& definition = program_.definition(loop.stage, loop.definition);
    const LoopVariable& variable = variable_of(loop);
    const int named = definition.find(variable.name);
    const bool has_name = variable.kind != LoopKind::vectorized && variable.kind != LoopKind::unrolled && !variable.name.empty() && named >= 0;
    if (!has_name || taken_apart(definition, named).back() != loop.variable) return {};
    const std::string update = loop.definition > 0 ? fmt::format(".update({})", loop.definition - 1) : "";
    return fmt::format("{}{}.{}", program_.stage(loop.stage).name, update, variable.name);
  }

  // Operations of one run of a computation, what is inlined into it included, once a place where it is read.
  double flops_of(const PlacedLoop& computation) { return flops_of(computation.stage, computation.definition); }

  double flops_of(int stage, int definition) {
    const DefinitionReads& reads = program_.reads_of(stage, definition);
    double sum = reads.flops;
    for (const ReadPlace& place : reads.loads)
      if (place.stage >= 0 && program_.stage(place.stage).is_inlined()) sum += inlined_flops(place.stage);
    return sum;
  }

  double inlined_flops(int stage) {
    const auto known = inlined_flops_.find(stage);
    if (known != inlined_flops_.end()) return known->second;
    return inlined_flops_[stage] = flops_of(stage, 0);
  }

  const ScheduledProblem& program_;
  PlacedLoop call_;
  FootprintTree tree_;
  std::vector<int> argument_buffers_, stage_buffers_;  // by argument, by stage of the nest
  std::vector<std::int64_t> element_bytes_;            // by buffer
  std::map<int, double> inlined_flops_;                // by stage
};

// They make definitions, stages or loops of two stages that the rules of footprint_read.h say nothing of.
constexpr std::array<std::string_view, 4> kWithoutRules{"compute_with", "rfactor", "specialize", "specialize_fail"};

}  // namespace

ClosedForms read_footprint(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem) {
  for (const Directive& directive : schedule.directives)
    if (schedule.is_opaque() || std::find(kWithoutRules.begin(), kWithoutRules.end(), directive.name) != kWithoutRules.end())
      return {std::nullopt, fmt::format("what {} does is known when it is lowered", print(directive))};
  const AlgorithmFacts facts = facts_of(algorithm, &problem);
  LoopNest nest(facts);
  if (const auto illegal = rewrite_loops(nest, schedule)) return {std::nullopt, illegal->message};
  try {
    const ScheduledProblem program{algorithm, problem, nest, collect_reads(nest)};
    return {Reader(program).read(), {}};
  } catch (const NotClosed& open) {
    return {std::nullopt, open.what()};
  }
}

ClosedForms read_least_work(const Algorithm& algorithm, const Problem& problem) {
  Schedule each_once;
  for (const Stage& stage : algorithm.stages)
    if (!algorithm.is_output(stage.name) && !is_wrapper(algorithm, stage)) each_once.directives.push_back({stage.name, -1, "compute_root", {}});
  return read_footprint(algorithm, each_once, problem);
}

}  // namespace kiln
