// How much of every stage a problem needs, and how a stage's region follows the loops of those that read it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/problem.h"

namespace kiln::schedules {

// The extents of every stage's dimensions under the problem, by the stage's place in Algorithm::stages: the intervals of all indices at which it
// is read, wherever it is computed. Nothing where an index depends on loaded values without bounds, and for stages that nobody reads.
std::vector<std::vector<std::optional<std::int64_t>>> stage_extents(const Algorithm& algorithm, const Problem& problem);

// How a stage is read by another, the host, directly or through stages between them.
struct Following {
  std::vector<std::uint64_t> touched;              // by the stage's dimension: the host's pure loops that its indices use, one bit each
  std::vector<std::optional<std::size_t>> along;   // by the stage's dimension: the host's loop along which its region is at least as wide as the host's
  bool is_pointwise = true;                        // every path reads point by point: the region in a tile is the tile
  std::uint64_t all_touched() const;
};

// By (stage, host); only pairs where the host reads the stage, directly or not.
std::map<std::pair<std::size_t, std::size_t>, Following> followings(const Algorithm& algorithm);

}  // namespace kiln::schedules
