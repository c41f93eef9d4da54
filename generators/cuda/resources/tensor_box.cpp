#include "generators/cuda/resources/tensor_box.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/error.h"
#include "generators/cuda/resources/spelling.h"

namespace kiln::generators::cuda::resources {
namespace {

// cuda.h of CUDA 13.0 at cuTensorMapEncodeTiled.
constexpr std::int64_t kChunk_bytes = 16, kMostBox = 256, kMostExtent = std::int64_t{1} << 32, kPitchBelow_bytes = std::int64_t{1} << 40;
constexpr std::size_t kMostRank = 5;

std::optional<Rejection> find_illegal_memory(const TensorBox& box) {
  if (box.alignment_bytes % kChunk_bytes != 0)
    return beyond(Reason::bad_alignment, box.alignment_bytes, kChunk_bytes,
                  fmt::format("the tensor begins at a multiple of {} bytes; a tensor copy needs one of {}", box.alignment_bytes, kChunk_bytes));
  for (std::size_t d = 0; d < box.extents.size(); ++d)
    if (box.extents[d] < 1 || box.extents[d] > kMostExtent)
      return beyond(Reason::schedule_error, box.extents[d], kMostExtent,
                    fmt::format("dimension {} has {} elements; a tensor copy can have 1 to {}", d, grouped(box.extents[d]), grouped(kMostExtent)));
  for (std::size_t d = 0; d < box.pitches_bytes.size(); ++d) {
    const std::int64_t pitch = box.pitches_bytes[d];
    if (pitch % kChunk_bytes != 0)
      return beyond(Reason::bad_alignment, pitch, kChunk_bytes,
                    fmt::format("{} bytes from element to element of dimension {}; a tensor copy needs a multiple of {}: {} after padding",
                                grouped(pitch), d + 1, kChunk_bytes, grouped(rounded_up(pitch, kChunk_bytes))));
    if (pitch >= kPitchBelow_bytes)
      return beyond(Reason::schedule_error, pitch, kPitchBelow_bytes - 1,
                    fmt::format("{} bytes from element to element of dimension {}; a tensor copy can have less than {}", grouped(pitch), d + 1,
                                grouped(kPitchBelow_bytes)));
  }
  return std::nullopt;
}

std::optional<Rejection> find_illegal_extent(const TensorBox& box) {
  for (std::size_t d = 0; d < box.box.size(); ++d)
    if (box.box[d] < 1 || box.box[d] > kMostBox)
      return beyond(Reason::schedule_error, box.box[d], kMostBox,
                    fmt::format("a box has {} elements in dimension {}; it can have 1 to {}{}", box.box[d], d, kMostBox,
                                box.box[d] > kMostBox ? fmt::format(": copy {} boxes", divided_up(box.box[d], kMostBox)) : ""));
  const std::int64_t row = box.box[0] * box.element_bytes;
  if (row % kChunk_bytes != 0)
    return beyond(Reason::bad_alignment, row, kChunk_bytes,
                  fmt::format("a row of the box has {} bytes; it needs a multiple of {}: {} elements", row, kChunk_bytes,
                              rounded_up(row, kChunk_bytes) / box.element_bytes));
  if (box.swizzle_bytes > 0 && row > box.swizzle_bytes)
    return beyond(Reason::schedule_error, row, box.swizzle_bytes,
                  fmt::format("a row of the box has {} bytes; the swizzle spans {}: copy {} boxes", row, box.swizzle_bytes,
                              divided_up(row, box.swizzle_bytes)));
  return std::nullopt;
}

}  // namespace

std::int64_t box_bytes(const TensorBox& box) {
  std::int64_t bytes = box.element_bytes;
  for (const std::int64_t extent : box.box) bytes *= extent;
  return bytes;
}

int box_alignment_bytes(int swizzle_bytes) {
  // CUDA C++ Programming Guide, "Tensor Memory Access": 128 bytes for every copy; the pattern of a swizzle repeats after eight of its rows.
  return std::max(128, 8 * swizzle_bytes);
}

std::optional<Rejection> find_illegal_box(const TensorBox& box, const Gpu& gpu) {
  KILN_CHECK(box.box.size() == box.extents.size() && box.pitches_bytes.size() + 1 == box.extents.size(), "a box without all its dimensions");
  KILN_CHECK(box.swizzle_bytes == 0 || box.swizzle_bytes == 32 || box.swizzle_bytes == 64 || box.swizzle_bytes == 128,
             fmt::format("a swizzle of {} bytes", box.swizzle_bytes));
  if (gpu.capability_major < 9)
    return beyond(Reason::schedule_error, gpu.capability_major, 9, fmt::format("{} has no tensor copies; they need compute capability 9.0", gpu.arch));
  if (box.extents.size() > kMostRank)
    return beyond(Reason::schedule_error, static_cast<std::int64_t>(box.extents.size()), kMostRank,
                  fmt::format("a tensor of {} dimensions; a tensor copy can have {}", box.extents.size(), kMostRank));
  if (auto rejection = find_illegal_memory(box)) return rejection;
  return find_illegal_extent(box);
}

}  // namespace kiln::generators::cuda::resources
