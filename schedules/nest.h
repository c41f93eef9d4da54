// The loop nest of an output: vectors along the innermost loop, a tile over it and one more loop, strips of tiles shared out as tasks.
// Spaces declare it as knobs and place other stages at its loops.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/problem.h"
#include "schedules/space.h"

namespace kiln::schedules {

struct NestKnobs {
  Knob lanes;    // elements a vector
  Knob vectors;  // of a tile along the innermost loop; 0: the whole extent (two or more loops only)
  Knob rows;     // of a tile along the second loop
  Knob strip;    // tiles of rows of a task
  Knob unroll;   // 1: the tile's loops are unrolled
  Knob inside;   // 1: the short third loop runs inside the tile, around its vectors, unrolled
  WordKnob across;
  WordKnob tail;  // of every split: ShiftInwards, or GuardWithIf
};

// What the knobs were declared for.
struct Nest {
  std::string output;
  std::vector<std::string> loops;
  std::vector<std::int64_t> extents;
  std::optional<std::size_t> short_loop;  // the loop that `inside` is about, with its fixed extent
  NestKnobs knobs;
};

// The names of the loops that a point's nest has, empty when it has no such loop.
struct NestLoops {
  std::string task;     // outermost, in parallel
  std::string row;      // tiles along the second loop, within a task
  std::string tile;     // tiles along the innermost loop, within a row of tiles
  std::size_t across = 0;  // the dimension of the second loop
};

struct NestOptions {
  std::string prefix;                // tells the knobs of several outputs apart
  DType widest;                      // the largest type computed with: vectors are tried that fill a register with it and with the output's own
  std::int64_t most_unrolled = 32;   // vectors unrolled in a tile
};

// Declares the knobs with their constraints. The output has at least one loop.
Nest declare_nest(Space& space, const NestOptions& options, const Algorithm& algorithm, const Problem& problem, const Device& device,
                  const std::string& output);

NestLoops loops_of(const Nest& nest, const Stage& output, const Point& point);

// Appends the output's directives.
void schedule_nest(Schedule& schedule, const Nest& nest, const Stage& output, const Point& point);

}  // namespace kiln::schedules
