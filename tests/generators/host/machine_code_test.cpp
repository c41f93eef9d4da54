#include "generators/host/machine_code.h"

#include <gtest/gtest.h>

#include "dsl/error.h"
#include "tests/generators/host/built_matmul.h"

namespace kiln::generators::host {
namespace {

constexpr const char* kSse = "x86-64-linux-sse41-no_runtime";
constexpr const char* kAvx2 = "x86-64-linux-sse41-avx-avx2-fma-f16c-no_runtime";
constexpr const char* kAvx512 = "x86-64-linux-sse41-avx-avx2-fma-f16c-avx512-avx512_skylake-no_runtime";

Actual report_of(int vectors, int rows, int width, const char* target) {
  return read_machine_code(compiled(Matmul().tiled(vectors, rows, width).pipeline(), target).bytes);
}

TEST(MachineCode, sse_code_uses_128_bits) { EXPECT_EQ(report_of(2, 2, 4, kSse).vector_bits, 128); }
TEST(MachineCode, avx2_code_uses_256_bits) { EXPECT_EQ(report_of(2, 4, 8, kAvx2).vector_bits, 256); }
TEST(MachineCode, avx512_code_uses_512_bits) { EXPECT_EQ(report_of(4, 6, 16, kAvx512).vector_bits, 512); }
TEST(MachineCode, narrow_vectors_on_a_wide_target_stay_narrow) { EXPECT_EQ(report_of(2, 2, 8, kAvx512).vector_bits, 256); }

TEST(MachineCode, a_tile_that_fits_the_registers_stores_nothing_in_its_inner_loop) {
  const Actual fits = report_of(2, 4, 8, kAvx2);      // 8 accumulators of 16 registers
  const Actual spills = report_of(4, 8, 8, kAvx2);    // 32 accumulators
  EXPECT_EQ(fits.loop_stack_stores, 0);
  EXPECT_GE(spills.loop_stack_stores, 16);  // at least those that have no register
  EXPECT_GT(spills.loop_stack_loads, fits.loop_stack_loads);
  EXPECT_GE(spills.stack_frame_bytes, fits.stack_frame_bytes + 16 * 32);
}

TEST(MachineCode, unrolling_grows_the_code) { EXPECT_GT(report_of(4, 6, 16, kAvx512).code_bytes, report_of(1, 1, 16, kAvx512).code_bytes); }

TEST(MachineCode, a_kernel_that_only_moves_has_no_arithmetic_width) {
  Halide::ImageParam in(Halide::Float(32), 1, "in");
  Halide::Func out("out");
  Halide::Var x("x");
  out(x) = in(x);
  out.vectorize(x, 8);
  Pipeline pipeline;
  pipeline.pipeline = Halide::Pipeline(out);
  pipeline.arguments = {in};
  EXPECT_EQ(read_machine_code(compiled(pipeline, kAvx2).bytes).vector_bits, 0);
}

TEST(MachineCode, what_is_no_object_is_an_error_with_the_words_of_llvm) {
  try {
    read_machine_code("not an object");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "LLVM cannot read the object that Halide wrote: The file was not recognized as a valid object file");
  }
}

}  // namespace
}  // namespace kiln::generators::host
