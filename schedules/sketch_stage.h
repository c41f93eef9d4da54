// What the sketch lets vary in one stage beside its place: how its reductions run, how its updates are tiled at root, what memory holds it.
#pragma once

#include <optional>

#include "dsl/device.h"
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
  std::optional<WordKnob> memory;  // of a stage in a nest
};

// Declares how the reductions of a stage with updates run. The contract decides whether they may be regrouped.
void declare_reductions(Space& space, StageKnobs& knobs, const Stage& stage, Contract contract);

// Declares the tiles of updates at root; under a condition when the stage may be elsewhere.
void declare_update_tiles(Space& space, StageKnobs& knobs, const Stage& stage, const std::vector<std::optional<std::int64_t>>& extents, const Device& device,
                          std::int64_t most_unrolled);

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
