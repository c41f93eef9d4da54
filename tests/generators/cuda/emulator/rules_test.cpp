#include "generators/cuda/emulator/rules.h"

#include <gtest/gtest.h>

#include "subjects.h"

namespace kiln::generators::cuda::emulator {
namespace {

std::string listed(const std::string& text) {
  std::string lines;
  for (const Breach& breach : breaches(text)) lines += std::to_string(breach.line) + ": " + breach.text + "\n";
  return lines;
}

TEST(Rules, are_kept_by_the_kernels_of_these_tests) {
  for (const Subject& subject : {ring(), multicast(), split(), turns(), dependent(), layouts(128, false, false), product_e4m3(), moves(), turnstile(), map_ring(), row_softmax(), matvec(),
                                 numbers(), every_move(), every_width(false, false)})
    EXPECT_EQ(listed(text_of(subject)), "") << subject.kernel;
}

TEST(Rules, ptx_is_written_in_the_prelude_only) {
  EXPECT_EQ(listed("#include \"types.cuh\"\nDEV float f(float x) { asm(\"ex2.approx.ftz.f32 %0, %0;\" : \"+f\"(x)); return x; }\n"),
            "2: `asm`: PTX is written in the prelude only\n");
  EXPECT_EQ(listed("v += __shfl_xor_sync(~0u, v, 16);"), "1: `__shfl_xor_sync`: the prelude has a wrapper for it, or needs one\n");
}

TEST(Rules, only_the_prelude_is_included_and_by_name) {
  EXPECT_EQ(listed("#include <cuda_bf16.h>\n#include \"device/types.cuh\"\n#include \"types.cuh\"\n#include \"language.cuh\"\n"),
            "1: `#include <cuda_bf16.h>`: only files of the prelude are included, by their bare names in quotes\n"
            "2: `#include \"device/types.cuh\"`: only files of the prelude are included, by their bare names in quotes\n"
            "4: `#include \"language.cuh\"`: only files of the prelude are included, by their bare names in quotes\n");
}

TEST(Rules, there_is_one_shared_array_a_kernel) {
  EXPECT_EQ(listed("__shared__ float part[32];\nextern __shared__ char smem_raw[];\n"),
            "1: shared memory is declared by `extern __shared__ __align__(1024) char smem_raw[];` only\n"
            "2: shared memory is declared by `extern __shared__ __align__(1024) char smem_raw[];` only\n");
  EXPECT_EQ(listed("extern \"C\" __global__ void f() {\n"
                   "  extern __shared__ __align__(1024) char smem_raw[];\n"
                   "  { extern __shared__ __align__(1024) char smem_raw[]; }\n"
                   "}\n"
                   "extern \"C\" __global__ void g() { extern __shared__ __align__(1024) char smem_raw[]; }\n"),
            "3: smem_raw is declared a second time in this kernel\n");
}

TEST(Rules, a_shared_address_stays_a_number) {
  EXPECT_EQ(listed("float* p = (float*)(size_t)(smem + 64);\n"), "1: `*)(size_t)`: a shared address stays a number; ld_shared and st_shared take it\n");
  EXPECT_EQ(listed("float* p = (float*)smem_raw + 16;\n"), "");
}

TEST(Rules, waits_go_through_wrappers) {
  EXPECT_EQ(listed("while (*flag == 0) {}\n"), "1: a loop without a body never lets another thread run; poll with ld_acquire\n");
  EXPECT_EQ(listed("while (*(volatile u32*)flag != 1)\n  ;\n"), "1: a loop without a body never lets another thread run; poll with ld_acquire\n");
  EXPECT_EQ(listed("do {} while (flag[0] != 1);\n"), "1: a loop without a body never lets another thread run; poll with ld_acquire\n");
  EXPECT_EQ(listed("while (ld_acquire(turn) != blockIdx.x) {}\ndo { ++i; } while (i < 4);\nfor (;;) { break; }\n"), "");
}

TEST(Rules, comments_and_strings_are_not_read) { EXPECT_EQ(listed("// asm volatile, __shared__\n/* #include <x>\n while (1); */ const char* s = \"asm\";\n"), ""); }

TEST(Rules, lines_stay_below_what_a_message_can_name) {
  EXPECT_EQ(listed(std::string(4094, '\n')), "");
  EXPECT_EQ(listed(std::string(4095, '\n')), "4096: messages name lines below 4096 only\n");
}

}  // namespace
}  // namespace kiln::generators::cuda::emulator
