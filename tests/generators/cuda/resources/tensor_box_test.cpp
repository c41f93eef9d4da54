#include "generators/cuda/resources/tensor_box.h"

#include <gtest/gtest.h>

#include "tests/generators/cuda/resources/gpus.h"

namespace kiln::generators::cuda::resources {
namespace {

const Gpu& h200() { return gpu_named("h200"); }

// Rows of 4,096 bf16, copied 64 by 128.
TensorBox usual() { return {.extents = {4096, 1024}, .pitches_bytes = {8192}, .box = {64, 128}}; }

template <typename Change>
std::string after(const Change& change) {
  TensorBox box = usual();
  change(box);
  return said(find_illegal_box(box, h200()));
}

TEST(TensorBox, a_swizzled_tile_of_a_matrix_is_legal) {
  EXPECT_EQ(said(find_illegal_box(usual(), h200())), "legal");
  EXPECT_EQ(box_bytes(usual()), 16384);
  EXPECT_EQ(after([](TensorBox& b) { b = {.element_bytes = 1, .extents = {4096, 1}, .pitches_bytes = {4096}, .box = {128, 256}}; }), "legal");
}

TEST(TensorBox, the_patterns_of_swizzles_begin_at_multiples_of_their_length) {
  EXPECT_EQ(box_alignment_bytes(128), 1024);
  EXPECT_EQ(box_alignment_bytes(64), 512);
  EXPECT_EQ(box_alignment_bytes(32), 256);
  EXPECT_EQ(box_alignment_bytes(0), 128);
}

TEST(TensorBox, every_demand_has_its_text) {
  EXPECT_EQ(after([](TensorBox& b) { b.alignment_bytes = 8; }),
            "bad_alignment 8 > 16: the tensor begins at a multiple of 8 bytes; a tensor copy needs one of 16");
  EXPECT_EQ(after([](TensorBox& b) { b.pitches_bytes = {2050}; }),
            "bad_alignment 2050 > 16: 2,050 bytes from element to element of dimension 1; a tensor copy needs a multiple of 16: 2,064 after padding");
  EXPECT_EQ(after([](TensorBox& b) { b.pitches_bytes = {std::int64_t{1} << 40}; }),
            "schedule_error 1099511627776 > 1099511627775: 1,099,511,627,776 bytes from element to element of dimension 1; a tensor copy can have less than "
            "1,099,511,627,776");
  EXPECT_EQ(after([](TensorBox& b) { b.extents = {4096, (std::int64_t{1} << 32) + 1}; }),
            "schedule_error 4294967297 > 4294967296: dimension 1 has 4,294,967,297 elements; a tensor copy can have 1 to 4,294,967,296");
  EXPECT_EQ(after([](TensorBox& b) { b.box = {64, 257}; }), "schedule_error 257 > 256: a box has 257 elements in dimension 1; it can have 1 to 256: copy 2 boxes");
  EXPECT_EQ(after([](TensorBox& b) { b.box = {64, 0}; }), "schedule_error 0 > 256: a box has 0 elements in dimension 1; it can have 1 to 256");
  EXPECT_EQ(after([](TensorBox& b) { b.box = {20, 128}; }),
            "bad_alignment 40 > 16: a row of the box has 40 bytes; it needs a multiple of 16: 24 elements");
  EXPECT_EQ(after([](TensorBox& b) { b.box = {128, 128}; }), "schedule_error 256 > 128: a row of the box has 256 bytes; the swizzle spans 128: copy 2 boxes");
  EXPECT_EQ(after([](TensorBox& b) { b.box = {128, 128}, b.swizzle_bytes = 0; }), "legal");
  EXPECT_EQ(after([](TensorBox& b) { b.extents.resize(6, 16), b.box.resize(6, 1), b.pitches_bytes.resize(5, 16); }),
            "schedule_error 6 > 5: a tensor of 6 dimensions; a tensor copy can have 5");
}

TEST(TensorBox, a_gpu_without_tensor_copies_says_so) {
  EXPECT_EQ(said(find_illegal_box(usual(), gpu_named("a100"))), "schedule_error 8 > 9: sm_80 has no tensor copies; they need compute capability 9.0");
}

}  // namespace
}  // namespace kiln::generators::cuda::resources
