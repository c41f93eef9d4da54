// The loop nest of a stage that others may be computed in, an output or a stage at root: vectors along one loop, a tile over it and up to two more,
// tiles walked along one of them within blocks, strips of these shared out as tasks. Spaces declare it as knobs and place other stages at its loops.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "schedules/space.h"

namespace kiln::schedules {

// Which tiles a task goes through first: along the vectors, and then down, or down first and then along.
enum class Walk : std::uint8_t { rows, columns };

// The places in a nest, from the outside in.
enum class NestLevel : std::uint8_t { task, row, tile };

struct NestKnobs {
  WordKnob vector;  // the loop that vectors run along
  Knob lanes;       // elements a vector
  Knob vectors;     // of a tile
  WordKnob across;  // the second loop of a tile
  Knob rows;        // of a tile along it
  Knob deep;        // of a tile along a third loop, unrolled; 0: that loop is outside the tile
  Knob unroll;      // 1: the tile's loops are unrolled
  Knob panel;       // tiles of a block along the walk; 0: all there are
  Knob strip;       // rows of tiles (columns when walked down) of a task
  WordKnob tail;    // of the vectors' loop: ShiftInwards, RoundUp, GuardWithIf
};

// What the knobs were declared for.
struct Nest {
  std::string stage;
  std::vector<std::string> loops;                    // innermost first; at least one
  std::vector<std::optional<std::int64_t>> extents;  // nothing where the problem does not tell
  std::vector<std::string> taken;                    // names that new loops must not have
  NestKnobs knobs;
  bool is_deep() const { return loops.size() >= 2; }
};

struct NestOptions {
  std::string suffix;               // tells the knobs of several nests apart: ".blur"
  DType widest;                     // the largest type computed with: vectors are tried that fill a register with it and with the stage's own
  std::int64_t most_unrolled = 32;  // vectors unrolled in a tile
  bool may_walk_columns = false;
};

// The loop that vectors run along first of all: the innermost, or where that is shorter than a vector the first that is not: pixels whose channels lie
// together.
std::size_t vector_loop(const std::vector<std::optional<std::int64_t>>& extents, std::int64_t lanes);

// Declares the knobs with their constraints. The first values of all of them go together.
Nest declare_nest(Space& space, const NestOptions& options, const Stage& stage, const std::vector<std::optional<std::int64_t>>& extents, const Device& device);

// The loop at a level; empty for the row of a nest with one loop, which has none.
std::string loop_at(const Nest& nest, Walk walk, NestLevel level, const Point& point);

// What a stage in the nest needs to know of its tile.
struct Tile {
  std::size_t vector = 0;              // dimensions of the nest's stage
  std::optional<std::size_t> across, third;
  std::int64_t lanes = 1;
  bool is_full = false;                // never narrower than its width: a vector of lanes always fits
  bool is_fixed = false;               // and never lower than its height: its extents are known while compiling
  bool is_unrolled = false;
  std::int64_t vectors = 1;            // in all its rows and its depth
};
Tile tile_of(const Nest& nest, Walk walk, const Point& point);

// Appends the stage's directives.
void schedule_nest(Schedule& schedule, const Nest& nest, Walk walk, const Point& point);

}  // namespace kiln::schedules
