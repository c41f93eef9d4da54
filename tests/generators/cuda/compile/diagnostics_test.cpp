// Kernels that compile and are worth nothing, and what the compiler says about them. The logs are goldens: log_test reads them without NVRTC.
#include <regex>

#include "generators/cuda/compile/compiler_log.h"
#include "tests/autotune/cli/golden.h"
#include "tests/generators/cuda/emulator/subjects.h"
#include "with_nvrtc.h"

namespace kiln::generators::cuda::compile {
namespace {

class Diagnosed : public WithNvrtc {
 protected:
  // Another compiler words and counts otherwise. How long it took differs from run to run.
  void expect_log(const Compiled& result, const std::string& name) const {
    if (nvrtc_->version() == "13.0.88") expect_golden(std::regex_replace(result.log, std::regex("ptxas[^\n]*Compile time = [^\n]*\n"), ""), "cuda_log/" + name);
  }
};

TEST_F(Diagnosed, two_kernels) {
  const Compiled result = compiled(R"(
extern "C" __global__ void __launch_bounds__(128) first(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x] + 1; }
extern "C" __global__ void second(const float* x, float* y, int n) {
  __shared__ float part[128];
  part[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = part[n - threadIdx.x];
}
)",
                                   {"first", "second"});
  EXPECT_FALSE(result.rejection);
  expect_log(result, "two_kernels.txt");
}

// 128 values alive in the 64 registers that 1,024 threads leave to each.
TEST_F(Diagnosed, spills_are_reported_and_not_rejected) {
  const Compiled result = compiled(R"(
extern "C" __global__ void __launch_bounds__(1024) spilling(const float* x, float* y, int rounds) {
  float v[128];
#pragma unroll
  for (int i = 0; i < 128; ++i) v[i] = x[i * 1024 + threadIdx.x];
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < 128; ++i) v[i] = v[i] * v[(i + 17) % 128] + 1;
  }
#pragma unroll
  for (int i = 0; i < 128; ++i) y[i * 1024 + threadIdx.x] = v[i];
}
)",
                                   {"spilling"});
  ASSERT_FALSE(result.rejection) << result.rejection->text;
  ASSERT_EQ(result.kernels.size(), 1u);
  EXPECT_EQ(result.kernels[0].registers, 64);
  EXPECT_GT(result.kernels[0].spill_store_bytes, 0);
  EXPECT_GT(result.kernels[0].spill_load_bytes, 0);
  EXPECT_GE(result.kernels[0].stack_frame_bytes, 4 * (128 - 64));
  expect_log(result, "spilling.txt");
}

TEST_F(Diagnosed, an_accumulator_that_is_touched_before_the_wait_is_rejected_with_the_compilers_line) {
  const std::string text = emulator::replaced(text_of(emulator::product_e4m3()), "  wgmma_commit();\n  wgmma_wait<0>();\n  pin(acc);\n", "  wgmma_commit();\n  acc[0] += 1;\n");
  const Compiled result = compiled(text, {"product_e4m3"});
  ASSERT_TRUE(result.rejection) << result.log;
  EXPECT_EQ(result.rejection->reason, Reason::compile_error);
  EXPECT_EQ(result.rejection->text,
            "ptxas info    : (C7517) warpgroup.wait is injected in around line 152 by compiler to allow use of registers defined by GMMA in function 'product_e4m3'");
  EXPECT_TRUE(result.cubin.empty());
  EXPECT_EQ(result.kernels.size(), 1u);
  expect_log(result, "touched_in_flight.txt");
}

TEST_F(Diagnosed, more_accumulators_than_registers_are_over_registers) {
  const Compiled result = compiled(R"(#include "types.cuh"
#include "mma.cuh"
#include "wgmma_bf16.cuh"
extern "C" __global__ void __launch_bounds__(128) wide(const u64* descriptors, float* d) {
  float left[128], right[128];
  wgmma_fence();
  Wgmma<256, 0, 0>::mma(left, descriptors[0], descriptors[1], 0);
  Wgmma<256, 0, 0>::mma(right, descriptors[0], descriptors[2], 0);
  wgmma_commit();
  wgmma_wait<0>();
  pin(left);
  pin(right);
#pragma unroll
  for (int i = 0; i < 128; ++i) d[i * 128 + threadIdx.x] = left[i] + right[i];
}
)",
                                   {"wide"});
  ASSERT_TRUE(result.rejection) << result.log;
  EXPECT_EQ(result.rejection->reason, Reason::over_registers);
  EXPECT_EQ(result.rejection->text,
            "ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources for the wgmma "
            "pipeline in the function 'wide'");
  expect_log(result, "too_many_accumulators.txt");
}

// 512 threads leave 128 registers to each, and the instruction has 128 accumulators.
TEST_F(Diagnosed, an_instruction_that_needs_more_registers_than_there_are_is_over_registers_with_both_numbers) {
  const Compiled result = compiled(R"(#include "types.cuh"
#include "mma.cuh"
#include "wgmma_bf16.cuh"
extern "C" __global__ void __launch_bounds__(512, 1) wide(const u64* descriptors, float* d) {
  float acc[128];
  wgmma_fence();
  Wgmma<256, 0, 0>::mma(acc, descriptors[0], descriptors[1], 0);
  wgmma_commit();
  wgmma_wait<0>();
  pin(acc);
#pragma unroll
  for (int i = 0; i < 128; ++i) d[i * 512 + threadIdx.x] = acc[i];
}
)",
                                   {"wide"});
  ASSERT_TRUE(result.rejection) << result.log;
  EXPECT_EQ(result.rejection->reason, Reason::over_registers);
  EXPECT_EQ(result.rejection->allowed, 128);
  EXPECT_GT(result.rejection->asked, 128);
  EXPECT_EQ(result.rejection->text + "\n", result.log);
  expect_log(result, "too_wide_an_instruction.txt");
}

}  // namespace
}  // namespace kiln::generators::cuda::compile
