// What the outputs of a problem should be: the reference's results, on the whole outputs or on tiles of them, kept as a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "autotune/measure/compare.h"
#include "autotune/worker/call_memory.h"
#include "dsl/tolerance.h"

namespace kiln::autotune {

// A box of one output. The elements have the reference's type (f64 for floats), dense, dimension 0 innermost.
struct Patch {
  std::vector<std::int64_t> mins, extents;
  std::vector<std::byte> bytes;
};

// The boxes of one output argument.
struct OutputTruth {
  std::size_t argument = 0;  // index into algorithm.arguments
  DType type;                // of the patches' elements
  bool whole = true;         // one patch that covers the output
  std::vector<Patch> patches;

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Patch& patch : patches) sum += patch.bytes.size();
    return sum;
  }
};
using Truth = std::vector<OutputTruth>;

// Where the boxes lie: one over each whole output, or 64 tiles of it: its corners, straddles of multiples of 64 (where tiles meet), random places.
Truth whole_outputs(const Algorithm& algorithm, const Inputs& inputs);
Truth output_tiles(const Algorithm& algorithm, const Inputs& inputs, std::uint64_t seed);

// Runs the reference for every box. Throws Error with the runtime's words when it refuses; with tiles that is so for outputs whose elements
// cannot be computed apart.
void compute(Truth& truth, const generators::host::Loaded& reference, const Algorithm& algorithm, const Inputs& inputs);

// The bytes of all boxes in a file, with their digest. Loading answers false when there is no such file or it does not fit.
void save(const Truth& truth, const std::filesystem::path& path);
bool load(Truth& truth, const std::filesystem::path& path);

// compare() over all boxes of one output at once; the worst's index is that of the whole output.
Comparison compare(const OutputView& candidate, const OutputTruth& truth, const Tolerance& tolerance);

}  // namespace kiln::autotune
