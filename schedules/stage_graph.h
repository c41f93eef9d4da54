// How the stages of an algorithm read each other, as far as placing them needs it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsl/algorithm.h"

namespace kiln::schedules {

// Stages by their place in Algorithm::stages. Wrappers of inputs are left out of all lists.
struct Reader {
  std::size_t stage = 0;
  std::int64_t loads = 0;     // how many times its definitions name the producer
  bool is_pointwise = false;  // all of them at its own loops
};

struct PlacedStage {
  std::size_t stage = 0;
  bool is_pure = true;                 // no updates: it can be inlined
  std::vector<Reader> readers;
  std::vector<std::size_t> later;      // every stage that reads it, directly or not, outputs left out, in order
  std::optional<std::size_t> host;     // the one output at whose loops it may be computed; nothing: inline or root only
  bool is_pointwise = false;           // all paths to the host read point by point, so its region in a tile is that of the tile
  // By dimension: the loop of the host, by its place, whose tile a region of this stage is at least as wide as; nothing: the width is unknown.
  std::vector<std::optional<std::size_t>> follows;
};

// By stage, wrappers and outputs included: who reads it. Equal loads of one reader are one, as the compiler makes them; a read in the bounds of a
// reduction counts as a load more.
std::vector<std::vector<Reader>> readers_of(const Algorithm& algorithm);

// The stages that are neither wrappers nor outputs, producers first.
std::vector<PlacedStage> placed_stages(const Algorithm& algorithm);

// The pure loops an update runs over: those whose index on the left-hand side is the loop itself.
std::vector<std::string> update_loops(const Stage& stage, const Update& update);

// Whether the update is `self op term` with an associative op and reads itself nowhere else.
bool is_associative(const Stage& stage, const Update& update);

}  // namespace kiln::schedules
