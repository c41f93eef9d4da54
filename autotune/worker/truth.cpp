#include "autotune/worker/truth.h"

#include <algorithm>
#include <cstring>
#include <random>

#include <fmt/format.h>

#include "autotune/process/objects.h"
#include "dsl/digest.h"
#include "dsl/error.h"
#include "generators/runtime/host.h"

namespace kiln::autotune {
namespace {

constexpr int kTiles = 64;
constexpr std::int64_t kTileExtent = 32;   // of the two innermost dimensions; 1 of the others
constexpr int kCorners = 8, kStraddles = 24;
constexpr std::int64_t kBorder = 64;       // most tile sizes divide this or are divided by it
constexpr std::size_t kReferenceAlignment = 64;
constexpr std::size_t kDigestDigits = 64;

std::int64_t points_of(const std::vector<std::int64_t>& extents) {
  std::int64_t points = 1;
  for (const std::int64_t extent : extents) points *= extent;
  return points;
}

OutputTruth boxes_of(const Algorithm& algorithm, std::size_t argument) {
  OutputTruth truth;
  truth.argument = argument;
  truth.type = generators::host::reference_types(algorithm)[argument];
  return truth;
}

Patch empty_patch(std::vector<std::int64_t> mins, std::vector<std::int64_t> extents, DType type) {
  const std::size_t bytes = static_cast<std::size_t>(points_of(extents)) * static_cast<std::size_t>(type.bytes());
  return {std::move(mins), std::move(extents), std::vector<std::byte>(bytes)};
}

std::int64_t tile_min(int tile, std::size_t dimension, std::int64_t extent, std::int64_t size, std::mt19937_64& random) {
  const std::int64_t last = extent - size;
  const auto drawn = static_cast<std::int64_t>(random() >> 1);
  if (tile < kCorners) return (tile >> (dimension % 3) & 1) != 0 ? last : 0;
  if (tile < kCorners + kStraddles) return std::clamp<std::int64_t>(kBorder * (1 + drawn % (extent / kBorder + 1)) - size / 2, 0, last);
  return drawn % (last + 1);
}

// The elements of a box of a dense array, in order.
void gather(const OutputView& from, const Patch& box, std::byte* to) {
  const auto size = static_cast<std::size_t>(from.type.bytes());
  if (box.extents.empty()) {
    std::memcpy(to, from.bytes, size);
    return;
  }
  const std::size_t row = static_cast<std::size_t>(box.extents[0]) * size;
  const std::int64_t rows = points_of(box.extents) / std::max<std::int64_t>(1, box.extents[0]);
  for (std::int64_t r = 0; r < rows; ++r) {
    std::int64_t rest = r, offset = box.mins[0], stride = from.extents[0];
    for (std::size_t d = 1; d < box.extents.size(); ++d) {
      offset += (box.mins[d] + rest % box.extents[d]) * stride;
      stride *= from.extents[d];
      rest /= box.extents[d];
    }
    std::memcpy(to + static_cast<std::size_t>(r) * row, from.bytes + static_cast<std::size_t>(offset) * size, row);
  }
}

std::vector<std::int64_t> place_in(const OutputTruth& truth, std::int64_t position) {
  for (const Patch& patch : truth.patches) {
    const std::int64_t points = points_of(patch.extents);
    if (position >= points) {
      position -= points;
      continue;
    }
    std::vector<std::int64_t> index;
    for (std::size_t d = 0; d < patch.extents.size(); ++d) {
      index.push_back(patch.mins[d] + position % patch.extents[d]);
      position /= patch.extents[d];
    }
    return index;
  }
  return {};
}

}  // namespace

Truth whole_outputs(const Algorithm& algorithm, const Inputs& inputs) {
  Truth truth;
  for (std::size_t i = 0; i < algorithm.arguments.size(); ++i) {
    if (!algorithm.arguments[i].is_output) continue;
    OutputTruth& output = truth.emplace_back(boxes_of(algorithm, i));
    output.patches.push_back(empty_patch(std::vector<std::int64_t>(inputs.extents[i].size(), 0), inputs.extents[i], output.type));
  }
  return truth;
}

Truth output_tiles(const Algorithm& algorithm, const Inputs& inputs, std::uint64_t seed) {
  Truth truth;
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < algorithm.arguments.size(); ++i) {
    if (!algorithm.arguments[i].is_output) continue;
    OutputTruth& output = truth.emplace_back(boxes_of(algorithm, i));
    output.whole = false;
    const std::vector<std::int64_t>& extents = inputs.extents[i];
    for (int tile = 0; tile < kTiles; ++tile) {
      std::vector<std::int64_t> mins, sizes;
      for (std::size_t d = 0; d < extents.size(); ++d) {
        sizes.push_back(std::min(extents[d], d < 2 ? kTileExtent : 1));
        mins.push_back(tile_min(tile, d, extents[d], sizes[d], random));
      }
      output.patches.push_back(empty_patch(std::move(mins), std::move(sizes), output.type));
    }
  }
  return truth;
}

void compute(Truth& truth, const generators::host::Loaded& reference, const Algorithm& algorithm, const Inputs& inputs) {
  if (truth.empty()) return;
  Inputs cropped = inputs;  // all boxes of one output have one size
  for (const OutputTruth& output : truth) cropped.extents[output.argument] = output.patches.front().extents;
  CallMemory memory(algorithm, cropped, kReferenceAlignment, generators::host::reference_types(algorithm));
  for (std::size_t box = 0; box < truth.front().patches.size(); ++box) {
    for (const OutputTruth& output : truth)
      for (std::size_t d = 0; d < output.patches[box].mins.size(); ++d)
        memory.call().buffer(output.argument).dim[d].min = static_cast<std::int32_t>(output.patches[box].mins[d]);
    kiln_host_clear_error();
    if (const int code = reference(memory.call().argv()); code != 0) throw Error(fmt::format("the reference refuses its call: {}", failure_text(code)));
    for (OutputTruth& output : truth) {
      Patch& patch = output.patches[box];
      std::memcpy(patch.bytes.data(), memory.output(output.argument).bytes, patch.bytes.size());
    }
  }
}

void save(const Truth& truth, const std::filesystem::path& path) {
  std::string bytes;
  for (const OutputTruth& output : truth)
    for (const Patch& patch : output.patches) bytes.append(reinterpret_cast<const char*>(patch.bytes.data()), patch.bytes.size());
  write_whole(path, content_digest(bytes).hex() + bytes);
}

bool load(Truth& truth, const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return false;
  const std::string file = read_whole(path);
  std::size_t expected = kDigestDigits;
  for (const OutputTruth& output : truth)
    for (const Patch& patch : output.patches) expected += patch.bytes.size();
  if (file.size() != expected) return false;
  const std::string_view bytes = std::string_view(file).substr(kDigestDigits);
  if (content_digest(bytes).hex() != file.substr(0, kDigestDigits)) return false;
  const char* at = bytes.data();
  for (OutputTruth& output : truth)
    for (Patch& patch : output.patches) {
      std::memcpy(patch.bytes.data(), at, patch.bytes.size());
      at += patch.bytes.size();
    }
  return true;
}

Comparison compare(const OutputView& candidate, const OutputTruth& truth, const Tolerance& tolerance) {
  if (truth.whole) return compare(candidate, OutputView{truth.patches.front().bytes.data(), truth.type, candidate.extents}, tolerance);
  std::vector<std::byte> ours, theirs;
  for (const Patch& patch : truth.patches) {
    const std::size_t start = ours.size();
    ours.resize(start + static_cast<std::size_t>(points_of(patch.extents)) * static_cast<std::size_t>(candidate.type.bytes()));
    gather(candidate, patch, ours.data() + start);
    theirs.insert(theirs.end(), patch.bytes.begin(), patch.bytes.end());
  }
  const std::vector<std::int64_t> flat{static_cast<std::int64_t>(ours.size()) / candidate.type.bytes()};
  Comparison comparison = compare({ours.data(), candidate.type, flat}, {theirs.data(), truth.type, flat}, tolerance);
  if (comparison.worst) comparison.worst->index = place_in(truth, comparison.worst->index[0]);
  return comparison;
}

}  // namespace kiln::autotune
