// How one kernel of the ring skeleton runs, as knobs: what the spaces of several products have for each of their kernels. A kernel makes one product, or two that
// share their rows.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dsl/device.h"
#include "dsl/schedule.h"
#include "schedules/space.h"
#include "schedules/sum_of_products.h"

namespace kiln::schedules {

// What the kernel computes; the same for every point of a space.
struct RingShape {
  std::int64_t rows = 1, columns = 1, terms = 1;  // of each product
  bool terms_are_neighbours = false;              // in the matrices of columns
  std::int64_t products = 1;
  std::int64_t output_bytes = 2;                  // of an element stored
  Gpu gpu;
};

struct RingKnobs {
  std::string prefix;         // of the knobs' names: "down." where a space has several kernels
  WordKnob operands;          // "plain"; "swapped": the columns take the tall side of the instruction
  WordKnob roles;             // "cooperative", "pingpong"
  Knob consumers;             // warpgroups that multiply
  Knob tall, wide, depth;     // of a tile of results: along the instruction's 64, along its 8 to 256; terms of a step
  Knob stages, buffers;
  Knob blocks;                // that an SM holds at once
  WordKnob grid;              // "once": a block a tile; "persistent"
  Knob group;                 // tiles that come one after the other along the rows
  Knob promotion;             // bytes that L2 fetches at once
  WordKnob eviction;
};
RingKnobs declare_ring_knobs(Space& space, const std::string& prefix);

// What the skeleton and the device demand: every point of the knobs is then a kernel that runs.
void require_ring(Space& space, const RingKnobs& knobs, const RingShape& shape);

// Appends the words of a kernel that stores `stored`, a stage of two loops, made of the products element by element. `is_root`: it is no output.
struct RingKernelWords {
  const Stage& stored;
  std::vector<SumOfProducts> products;
  bool is_root = false, is_dependent = false;
};
void add_ring_kernel(Schedule& schedule, const RingKernelWords& kernel, const RingKnobs& knobs, const Point& point);

// What to begin with, as a wish of Space::seed: what won on an H200 in a trial by hand, by rows, and above them by products. Where a wish is no point of the
// problem's space it is left out.
using RingWish = std::map<std::string, KnobValue>;
std::vector<RingWish> ring_wishes(const RingKnobs& knobs, const RingShape& shape);

}  // namespace kiln::schedules
