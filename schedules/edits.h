// From one schedule to those a step away: what a person would change next when he tunes by hand. Needs no space: it starts from any schedule that is
// data, an author's, an autoscheduler's or a winner of before.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/problem.h"
#include "dsl/schedule.h"

namespace kiln {
struct AlgorithmFacts;
}

namespace kiln::schedules {

enum class EditKind : std::uint8_t {
  factor,     // a split's, a tile's or an alignment's number
  place,      // where a stage is computed: at another loop, at root, nowhere of its own
  store,      // where it is stored
  mark,       // vectorized, unrolled, parallel, or serial again
  order,      // two neighbouring loops change places
  tail,       // what happens where a factor does not divide
  tile,       // a loop that is whole is split, the new outer loop goes outermost
  companion,  // two stages at one place share loops, or do so no more
};

struct Edit {
  EditKind kind = EditKind::factor;
  Schedule schedule;
};

class Editor {
 public:
  // `algorithm` must outlive it. Throws UsageError when the device is no CPU.
  Editor(const Algorithm& algorithm, const Problem& problem, const Device& device);

  // Every schedule one step from a legal one that is not opaque, in a fixed order. Whether a step is legal, the caller asks: most are, and only those
  // that are taken need an answer. Directives of specializations stay as they are.
  std::vector<Edit> edits(const Schedule& schedule) const;

 private:
  std::shared_ptr<const AlgorithmFacts> facts_;
  Device device_;
};

}  // namespace kiln::schedules
