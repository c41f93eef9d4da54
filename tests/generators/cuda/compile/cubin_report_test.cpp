#include "generators/cuda/compile/cubin_report.h"

#include <gtest/gtest.h>

#include "cubin_by_hand.h"
#include "dsl/error.h"

namespace kiln::generators::cuda::compile {
namespace {

std::string log_of(const std::string& kernel, const std::string& frame, const std::string& use) {
  return "ptxas info    : Compiling entry function '" + kernel + "' for 'sm_90a'\nptxas info    : Function properties for " + kernel + "\nptxas         .     " + frame +
         "\nptxas info    : " + use + "\n";
}
const std::string kFrame = "16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads", kUse = "Used 40 registers, used 2 barriers, 512 bytes smem";

std::string refusal(const std::string& log) {
  try {
    read_reports(log, assembled(kernel_parts()));
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Reports, join_the_log_and_the_cubin) {
  const KernelReport report{.kernel = "k",
                            .registers = 40,
                            .barriers = 2,
                            .max_threads = 256,
                            .shared_bytes = 512,
                            .stack_frame_bytes = 16,
                            .spill_store_bytes = 4,
                            .spill_load_bytes = 8,
                            .parameter_bytes = 28,
                            .code_bytes = 128};
  EXPECT_EQ(read_reports(log_of("k", kFrame, kUse), assembled(kernel_parts())), std::vector{report});
}

TEST(Reports, a_difference_is_an_error_with_both_numbers) {
  EXPECT_EQ(refusal(log_of("k", kFrame, "Used 41 registers, used 2 barriers, 512 bytes smem")),
            "the compiler contradicts itself about kernel `k`: 41 registers in its log, 40 in its cubin");
  EXPECT_EQ(refusal(log_of("k", kFrame, "Used 40 registers, 512 bytes smem")), "the compiler contradicts itself about kernel `k`: 0 barriers in its log, 2 in its cubin");
  EXPECT_EQ(refusal(log_of("k", kFrame, "Used 40 registers, used 2 barriers")),
            "the compiler contradicts itself about kernel `k`: 0 bytes of shared memory in its log, 512 in its cubin");
  EXPECT_EQ(refusal(log_of("k", "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads", kUse)),
            "the compiler contradicts itself about kernel `k`: 0 bytes of stack frame in its log, 16 in its cubin");
}

TEST(Reports, a_kernel_of_the_log_is_in_the_cubin) {
  EXPECT_EQ(refusal(log_of("other", kFrame, kUse)), "the compiler's log speaks of kernel `other`, which its cubin does not have");
}

}  // namespace
}  // namespace kiln::generators::cuda::compile
