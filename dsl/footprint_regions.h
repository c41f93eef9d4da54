// Which part of each stage and argument a scheduled algorithm needs while some of its loops stand: intervals, from the outputs to the inputs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "dsl/footprint_loops.h"
#include "dsl/footprint_reads.h"
#include "dsl/problem.h"

namespace kiln {

using Box = std::vector<Range>;  // by dimension

std::int64_t volume(const Box& box);
Box hull(const Box& a, const Box& b);
Box overlap(const Box& a, const Box& b);

// Why there are no closed forms, in words.
class NotClosed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A scheduled algorithm for one problem: what regions are asked of.
struct ScheduledProblem {
  const Algorithm& algorithm;
  const Problem& problem;
  const LoopNest& nest;
  std::vector<std::vector<DefinitionReads>> reads;

  const StageLoops& stage(int s) const { return nest.stages()[static_cast<std::size_t>(s)]; }
  const Definition& definition(int s, int d) const { return stage(s).definitions[static_cast<std::size_t>(d)]; }
  const DefinitionReads& reads_of(int s, int d) const { return reads[static_cast<std::size_t>(s)][static_cast<std::size_t>(d)]; }
};

// A loop that stands at an iteration.
struct StandingLoop {
  int stage = 0, definition = 0, variable = 0;
  std::int64_t iteration = 0;
};

// The loops from the call down to one place of the program, standing; all others run.
class Regions {
 public:
  explicit Regions(const ScheduledProblem& program);                     // no loop stands
  Regions(const Regions& outside, const StandingLoop& loop);             // `outside` must outlive it

  // What is needed of a stage within this place, by all that reads it here, rounded as its own splits round. Throws NotClosed.
  const Box& required(int stage) const;

  // Where a definition's own loops run within this place.
  std::vector<Range> own_ranges(int stage, int definition) const;
  // Its loops as they are at the place where the stage is computed.
  LoopRanges loops(int stage, int definition) const;

  // Adds what one definition touches: its loads, through what is inlined, and its own stage.
  struct Touched {
    std::map<int, std::vector<Box>> stages, arguments;
  };
  void touch(int stage, int definition, Touched& touched) const;

  // The same place one iteration of the innermost standing loop before.
  Regions previous() const;

 private:
  Box asked_of(int stage) const;
  void add_updated(int stage, int definition, Box& region) const;
  Box outputs(int stage) const;
  std::vector<Range> whole_ranges(int stage, int definition, const Box& region) const;
  const Regions& where_computed(int stage) const;
  bool stands_at(const Level& level) const;
  Box computed(int stage) const;
  bool is_elsewhere(int stage, int definition) const;
  std::map<int, std::int64_t> standing_in(int stage, int definition) const;
  Box box_of(const ReadPlace& place, int stage, int definition, const std::vector<Range>& ranges) const;
  std::optional<Range> name_range(const Expression& e, const Definition& definition, const std::vector<Range>& ranges) const;
  void add(const ReadPlace& place, Box box, std::map<int, Box>& inlined, Touched& touched) const;

  const ScheduledProblem& program_;
  const Regions* outside_ = nullptr;
  StandingLoop loop_;
  mutable std::vector<std::unique_ptr<Box>> required_;
};

}  // namespace kiln
