#include "dsl/footprint_regions.h"

#include <fmt/format.h>

#include <algorithm>

namespace kiln {
namespace {

void add_to(Box& box, const Box& more) { box = box.empty() ? more : hull(box, more); }

bool has_empty(const std::vector<Range>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [](const Range& range) { return range.is_empty(); });
}

// "A.extent.1": the argument, what is asked, and the dimension.
struct Property {
  std::string argument, what;
  int dimension = 0;
};

std::optional<Property> property_of(const std::string& name) {
  const std::size_t last = name.find_last_of('.');
  const std::size_t middle = last == std::string::npos || last == 0 ? std::string::npos : name.find_last_of('.', last - 1);
  if (middle == std::string::npos) return std::nullopt;
  return Property{name.substr(0, middle), name.substr(middle + 1, last - middle - 1), std::atoi(name.c_str() + last + 1)};
}

}  // namespace

std::int64_t volume(const Box& box) {
  std::int64_t product = 1;
  for (const Range& range : box) product *= range.length();
  return product;
}

Box hull(const Box& a, const Box& b) {
  Box out(a.size());
  for (std::size_t d = 0; d < a.size(); ++d) out[d] = hull(a[d], b[d]);
  return out;
}

Box overlap(const Box& a, const Box& b) {
  Box out(a.size());
  for (std::size_t d = 0; d < a.size(); ++d) out[d] = overlap(a[d], b[d]);
  return out;
}

Regions::Regions(const ScheduledProblem& program) : program_(program), required_(program.nest.stages().size()) {}

Regions::Regions(const Regions& outside, const StandingLoop& loop)
    : program_(outside.program_), outside_(&outside), loop_(loop), required_(program_.nest.stages().size()) {}

Regions Regions::previous() const {
  StandingLoop before = loop_;
  --before.iteration;
  return Regions(*outside_, before);
}

const Box& Regions::required(int stage) const {
  std::unique_ptr<Box>& known = required_[static_cast<std::size_t>(stage)];
  if (!known) known = std::make_unique<Box>(program_.stage(stage).is_output() ? outputs(stage) : asked_of(stage));
  return *known;
}

Box Regions::outputs(int stage) const {
  Box box;
  for (const auto& extent : program_.stage(stage).facts->extents) box.push_back({0, extent.value_or(1) - 1});
  return box;
}

Box Regions::asked_of(int stage) const {
  Box asked;
  const int stages = static_cast<int>(program_.nest.stages().size());
  for (int c = 0; c < stages; ++c) {
    for (int d = 0; d < static_cast<int>(program_.stage(c).definitions.size()); ++d) {
      const auto& loads = program_.reads_of(c, d).loads;
      if (c == stage || is_elsewhere(c, d) || std::none_of(loads.begin(), loads.end(), [&](const ReadPlace& p) { return p.stage == stage; })) continue;
      const std::vector<Range> ranges = own_ranges(c, d);
      if (has_empty(ranges)) continue;
      for (const ReadPlace& place : loads)
        if (place.stage == stage) add_to(asked, box_of(place, c, d, ranges));
    }
  }
  const StageLoops& loops = program_.stage(stage);
  if (asked.empty()) return Box(loops.loops().size());
  for (std::size_t d = 0; d < asked.size(); ++d)
    if (!asked[d].is_bounded())
      throw NotClosed(fmt::format("how much of {} is needed along '{}' depends on values", loops.name, loops.loops()[d]));
  if (loops.is_inlined()) return asked;
  for (int d = 1; d < static_cast<int>(loops.definitions.size()); ++d) add_updated(stage, d, asked);
  return LoopRanges(loops.definitions.front(), asked).at({});
}

// What an update loads and stores of its own stage exists as well.
void Regions::add_updated(int stage, int definition, Box& region) const {
  const std::vector<Range> ranges = whole_ranges(stage, definition, region);
  if (has_empty(ranges)) return;
  for (const ReadPlace& place : program_.reads_of(stage, definition).own) {
    const Box box = box_of(place, stage, definition, ranges);
    for (std::size_t d = 0; d < box.size(); ++d)
      if (box[d].is_bounded()) region[d] = hull(region[d], box[d]);
  }
}

// Another definition of a stage in whose loops this place is.
bool Regions::is_elsewhere(int stage, int definition) const {
  for (const Regions* at = this; at->outside_ != nullptr; at = at->outside_)
    if (at->loop_.stage == stage) return at->loop_.definition != definition;
  return false;
}

std::map<int, std::int64_t> Regions::standing_in(int stage, int definition) const {
  std::map<int, std::int64_t> standing;
  for (const Regions* at = this; at->outside_ != nullptr; at = at->outside_)
    if (at->loop_.stage == stage && at->loop_.definition == definition) standing[at->loop_.variable] = at->loop_.iteration;
  return standing;
}

// The place just outside the first loop of the stage, or this one when none of its loops stands.
const Regions& Regions::where_computed(int stage) const {
  const Regions* place = this;
  for (const Regions* at = this; at->outside_ != nullptr; at = at->outside_)
    if (at->loop_.stage == stage) place = at->outside_;
  return *place;
}

// Whether the innermost standing loop is the one that a level names.
bool Regions::stands_at(const Level& level) const {
  if (outside_ == nullptr || loop_.stage != level.stage) return false;
  const Definition& definition = program_.definition(loop_.stage, loop_.definition);
  const int named = definition.find(level.loop);
  return named >= 0 && taken_apart(definition, named).back() == loop_.variable;
}

// What is computed of a stage in one iteration of the loop at which it is computed: of one that is stored further out, what the iteration before
// did not compute, when they overlap along one dimension.
Box Regions::computed(int stage) const {
  const Box& needed = required(stage);
  const StageLoops& loops = program_.stage(stage);
  if (!loops.slides() || loops.compute.kind != Level::Kind::at || !stands_at(loops.compute) || loop_.iteration == 0) return needed;
  const Regions earlier = previous();
  const Box& before = earlier.required(stage);
  Box fresh = needed;
  int moved = 0;
  for (std::size_t d = 0; d < needed.size(); ++d) {
    if (needed[d] == before[d]) continue;
    ++moved;
    if (before[d].lo <= needed[d].lo && before[d].hi >= needed[d].lo)
      fresh[d].lo = before[d].hi + 1;
    else if (before[d].hi >= needed[d].hi && before[d].lo <= needed[d].hi)
      fresh[d].hi = before[d].lo - 1;
  }
  return moved == 1 ? fresh : needed;
}

std::vector<Range> Regions::whole_ranges(int stage, int definition, const Box& region) const {
  const Definition& loops = program_.definition(stage, definition);
  const DefinitionFacts& facts = *loops.facts;
  std::vector<Range> ranges(facts.loops.size());
  for (std::size_t d = 0; d < region.size(); ++d)
    if (const int loop = facts.pure_loop[d]; loop >= 0) ranges[static_cast<std::size_t>(loop)] = region[d];
  if (definition == 0) return ranges;
  const NameRange names = [&](const Expression& e) { return name_range(e, loops, ranges); };
  for (const ReductionVariable& variable : program_.stage(stage).facts->stage->updates[static_cast<std::size_t>(definition - 1)].reduction) {
    const Range min = range_of(*variable.min, names, {}), extent = range_of(*variable.extent, names, {});
    if (!min.is_bounded() || !extent.is_bounded())
      throw NotClosed(fmt::format("how often the reduction loop '{}' of {} runs depends on values", variable.name, program_.stage(stage).name));
    for (std::size_t i = 0; i < facts.loops.size(); ++i)
      if (facts.loops[i].is_reduction && facts.loops[i].name == variable.name) ranges[i] = {min.lo, min.hi + extent.hi - 1};
  }
  return ranges;
}

LoopRanges Regions::loops(int stage, int definition) const {
  const Regions& place = where_computed(stage);
  return {program_.definition(stage, definition), whole_ranges(stage, definition, place.computed(stage))};
}

std::vector<Range> Regions::own_ranges(int stage, int definition) const {
  const auto standing = standing_in(stage, definition);
  if (!standing.empty()) return loops(stage, definition).at(standing);
  const std::vector<Range> whole = whole_ranges(stage, definition, computed(stage));
  return program_.stage(stage).is_inlined() ? whole : LoopRanges(program_.definition(stage, definition), whole).at({});
}

std::optional<Range> Regions::name_range(const Expression& e, const Definition& definition, const std::vector<Range>& ranges) const {
  if (e.op == Op::loop || e.op == Op::reduction) {
    const auto& loops = definition.facts->loops;
    for (std::size_t i = 0; i < loops.size(); ++i)
      if (loops[i].name == e.name) return ranges[i];
    return std::nullopt;
  }
  const auto& arguments = program_.algorithm.arguments;
  const auto argument_named = [&](const std::string& name) {
    return std::find_if(arguments.begin(), arguments.end(), [&](const Argument& a) { return a.name == name; });
  };
  if (e.op == Op::parameter) {
    const auto argument = argument_named(e.name);
    if (argument == arguments.end() || !argument->scalar_estimate) return std::nullopt;
    const auto value = static_cast<std::int64_t>(*argument->scalar_estimate);
    return Range{value, value};
  }
  const auto property = property_of(e.name);
  if (!property || argument_named(property->argument) == arguments.end()) return std::nullopt;
  const auto extent = [&](int d) { return extent_of(program_.problem, program_.algorithm, property->argument, d); };
  std::int64_t value = 0;  // of a min
  if (property->what == "extent") value = extent(property->dimension);
  if (property->what == "stride") {
    value = 1;
    for (int d = 0; d < property->dimension; ++d) value *= extent(d);
  }
  return Range{value, value};
}

Box Regions::box_of(const ReadPlace& place, int stage, int definition, const std::vector<Range>& ranges) const {
  const Definition& loops = program_.definition(stage, definition);
  if (place.is_copy) return ranges;  // a wrapper's loops are its dimensions
  const NameRange names = [&](const Expression& e) { return name_range(e, loops, ranges); };
  Box box;
  for (const ExpressionPtr& index : place.indices) box.push_back(range_of(*index, names, place.lets));
  return box;
}

void Regions::add(const ReadPlace& place, Box box, std::map<int, Box>& inlined, Touched& touched) const {
  if (place.argument >= 0) {
    const Argument& argument = program_.algorithm.arguments[static_cast<std::size_t>(place.argument)];
    for (std::size_t d = 0; d < box.size(); ++d)
      box[d] = overlap(box[d], {0, extent_of(program_.problem, program_.algorithm, argument.name, static_cast<int>(d)) - 1});
    touched.arguments[place.argument].push_back(std::move(box));
  } else if (program_.stage(place.stage).is_inlined()) {
    add_to(inlined[place.stage], box);
  } else {
    if (program_.stage(place.stage).is_output()) box = overlap(box, outputs(place.stage));
    touched.stages[place.stage].push_back(std::move(box));
  }
}

void Regions::touch(int stage, int definition, Touched& touched) const {
  const std::vector<Range> ranges = own_ranges(stage, definition);
  if (has_empty(ranges)) return;
  std::map<int, Box> inlined;
  const DefinitionReads& reads = program_.reads_of(stage, definition);
  for (const ReadPlace& place : reads.loads) add(place, box_of(place, stage, definition, ranges), inlined, touched);
  for (const ReadPlace& place : reads.own) {
    Box box = overlap(box_of(place, stage, definition, ranges), where_computed(stage).required(stage));
    add(place, std::move(box), inlined, touched);
  }
  if (definition == 0) add({.stage = stage, .argument = -1, .indices = {}, .lets = {}, .is_copy = true}, ranges, inlined, touched);
  // Consumers before producers, so that each is complete when it is opened.
  for (const int s : program_.nest.consumers_first()) {
    const auto found = inlined.find(s);
    if (found == inlined.end()) continue;
    const std::vector<Range> inside = found->second;
    for (const ReadPlace& place : program_.reads_of(s, 0).loads) add(place, box_of(place, s, 0, inside), inlined, touched);
  }
}

}  // namespace kiln
