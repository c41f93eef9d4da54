// What the sketch lets vary in one stage beside its place: how its reductions run, how its updates are tiled at root, what memory holds it.
#pragma once

#include <optional>

#include "dsl/device.h"
#include "dsl/problem.h"
#include "schedules/nest.h"
#include "schedules/placement.h"
#include "schedules/regions.h"
#include "schedules/space.h"

namespace kiln::schedules {

struct StageKnobs {
  std::optional<WordKnob> along;   // stages with updates: vectors along a "loop", or along the "reduction"
  std::optional<Knob> sums;        // vectors of partial sums along the reduction; 0: none
  std::optional<Knob> steps;       // of the innermost reduction loop, unrolled
  std::optional<Knob> taps;        // 1: constant reduction loops of few steps are unrolled
  std::optional<Knob> lanes, vectors, rows;  // of updates at root
  std::optional<Knob> parts;       // of a reduction at root, each a task with sums of its own; 1: it is done in one
  std::optional<WordKnob> memory;  // of a stage in a nest
};

// Declares how the reductions of a stage with updates run. The contract decides whether they may be regrouped.
void declare_reductions(Space& space, StageKnobs& knobs, const Stage& stage, Contract contract);

// Declares the tiles of updates at root; under a condition when the stage may be elsewhere.
void declare_update_tiles(Space& space, StageKnobs& knobs, const Stage& stage, const std::vector<std::optional<std::int64_t>>& extents, const Device& device,
                          std::int64_t most_unrolled);

// Declares in how many parts a reduction at root may be done, when it may be regrouped and its length is known.
void declare_parts(Space& space, StageKnobs& knobs, const Algorithm& algorithm, const Stage& stage, const Problem& problem);

// Appends a reduction at root in parts. `parts` is above 1.
void schedule_in_parts(Schedule& schedule, const Algorithm& algorithm, const Stage& stage, std::int64_t length, std::int64_t parts, std::int64_t lanes);

// The length of the outermost loop of the stage's first reduction.
std::optional<std::int64_t> reduction_length(const Algorithm& algorithm, const Stage& stage, const Problem& problem);

// The style of updates at root, tails exact where the problem allows.
LoopStyle style_at_root(const StageKnobs& knobs, const Stage& stage, const std::vector<std::optional<std::int64_t>>& extents, const Point& p);

// The style of a stage in a nest.
struct InNest {
  const Following& following;  // of the host
  Tile tile;
  NestLevel level = NestLevel::tile;
  bool slides = false;
};
LoopStyle style_in_nest(const StageKnobs& knobs, const Stage& stage, const InNest& place, const Point& p);

}  // namespace kiln::schedules
