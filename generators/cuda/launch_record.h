// How a program's kernels are called, for whoever has the cubin: names, formulas of grids and arguments over the call's extents, what must hold. Kept beside
// the cubin in the store and in packages.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/algorithm.h"
#include "generators/cuda/lower.h"

namespace kiln::generators::cuda {

// A length that a call brings, or one that is fixed.
struct Length {
  Axis place;                 // of an argument; empty: `constant`
  std::int64_t constant = 0;
  bool operator==(const Length&) const = default;
};

// What a tensor copy is told of a dense buffer beside its address and type.
struct TensorTile {
  std::vector<int> box;       // elements of one copy, innermost first
  int swizzle_bytes = 0, l2_promotion_bytes = 0;
  bool operator==(const TensorTile&) const = default;
};

struct LaunchParameter {
  enum class Kind : std::uint8_t { buffer, scalar, count32, count64, map };
  Kind kind = Kind::buffer;
  std::string name;           // of a buffer, a scalar, or what a map is of
  DType type;                 // of a scalar, or of a map's elements
  std::vector<Length> counts; // of a count: their product; of a map: the extents, innermost first
  TensorTile tile = {};       // of a map
  bool operator==(const LaunchParameter&) const = default;
};

// Blocks along one direction: the product of the lengths, divided by what a block takes and rounded up.
struct GridFactor {
  std::vector<Length> lengths;
  std::int64_t per_block = 1;
  bool operator==(const GridFactor&) const = default;
};

struct KernelLaunch {
  std::string name;
  int threads = 0, cluster = 1;
  std::int64_t shared_bytes = 0;    // dynamic
  bool is_dependent = false;
  std::vector<GridFactor> grid;     // their product, times the cluster
  std::vector<LaunchParameter> parameters;
  int blocks_per_sm = 0;            // of a persistent kernel, whose grid has no more blocks than so many on each SM; 0: it is none
  bool operator==(const KernelLaunch&) const = default;
};

// What one kernel writes and a later one reads.
struct IntermediateBuffer {
  std::string name;
  std::vector<Length> lengths;
  int element_bytes = 0;
  bool operator==(const IntermediateBuffer&) const = default;
};

// What a call must satisfy beyond the algorithm's own demands.
struct LaunchGuard {
  Length length;
  std::int64_t multiple = 1;        // the length is a multiple of it,
  std::int64_t at_most = 0;         // and no more than this, unless 0,
  std::int64_t exactly = 0;         // and equal to this, unless 0
  bool operator==(const LaunchGuard&) const = default;
};

struct LaunchRecord {
  std::vector<KernelLaunch> kernels;             // one after the other
  std::vector<IntermediateBuffer> intermediates;
  std::vector<LaunchGuard> guards;
  int alignment_bytes = 16;                      // of every buffer's address
  bool operator==(const LaunchRecord&) const = default;
};

LaunchRecord launch_record(const Program& program);

// The formulas under a call's extents.
using Extents = std::function<std::int64_t(const Axis&)>;
// `extents` by argument, as a call has them; both outlive the value.
Extents extents_by_argument(const Algorithm& algorithm, const std::vector<std::vector<std::int64_t>>& extents);

std::int64_t product(const std::vector<Length>& lengths, const Extents& extents);
std::int64_t blocks(const KernelLaunch& kernel, const Extents& extents, int sms);
std::int64_t bytes(const IntermediateBuffer& buffer, const Extents& extents);

// What the guards ask, together, of an extent that stands at all of these places.
LaunchGuard guard_of(const LaunchRecord& record, const std::vector<Axis>& places);

// The first guard that a call does not satisfy: "y.0 is 1000, no multiple of 16". Nothing when it satisfies all.
std::optional<std::string> find_unmet(const LaunchRecord& record, const Extents& extents);

// JSON, one line; and back. Throws DataError naming what is wrong.
std::string print(const LaunchRecord& record);
LaunchRecord parse_launch_record(std::string_view text);

}  // namespace kiln::generators::cuda
