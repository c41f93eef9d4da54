// Logs as NVRTC 13.0.88 printed them (tests/golden/cuda_log; diagnostics_test writes them), and nvcc's form of the same.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "dsl/error.h"
#include "generators/cuda/compile/compiler_log.h"

namespace kiln::generators::cuda::compile {
namespace {

std::string logged(const std::string& name) {
  std::ifstream file(std::filesystem::path(KILN_TESTS_DIR) / "golden/cuda_log" / name);
  EXPECT_TRUE(file) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<int> codes(const std::string& log) {
  std::vector<int> found;
  for (const Diagnostic& diagnostic : fatal_diagnostics(log)) found.push_back(diagnostic.code);
  return found;
}

TEST(Log, of_nvrtc) {
  EXPECT_EQ(read_log(logged("two_kernels.txt")), (std::vector<LoggedKernel>{{.name = "second", .registers = 12, .barriers = 1, .shared_bytes = 512}, {.name = "first", .registers = 10}}));
}

TEST(Log, of_spills) {
  EXPECT_EQ(read_log(logged("spilling.txt")),
            (std::vector<LoggedKernel>{{.name = "spilling", .registers = 64, .stack_frame_bytes = 472, .spill_store_bytes = 888, .spill_load_bytes = 956}}));
}

TEST(Log, of_nvcc) {
  const std::string log = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'tile' for 'sm_90a'
ptxas info    : Function properties for tile
    8 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads
ptxas info    : Used 168 registers, used 2 barriers, 8 bytes cumulative stack size, 1024 bytes smem
ptxas info    : Compile time = 55.512 ms
ptxas info    : Function properties for called
    96 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Compiling entry function 'copy' for 'sm_90a'
ptxas info    : Function properties for copy
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 0 barriers
ptxas info    : Compile time = 2.001 ms
)";
  EXPECT_EQ(read_log(log), (std::vector<LoggedKernel>{{.name = "tile",
                                                       .registers = 168,
                                                       .barriers = 2,
                                                       .shared_bytes = 1024,
                                                       .stack_frame_bytes = 8,
                                                       .spill_store_bytes = 16,
                                                       .spill_load_bytes = 24},
                                                      {.name = "copy", .registers = 12}}));
}

TEST(Log, without_kernels_is_empty) {
  EXPECT_TRUE(read_log("").empty());
  EXPECT_TRUE(read_log("tile.cu(1): warning #177-D: variable \"x\" was declared but never referenced\n").empty());
}

TEST(Log, that_leaves_a_number_out_is_refused) {
  const std::string entry = "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n", properties = "ptxas info    : Function properties for k\n",
                    frame = "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n", use = "ptxas info    : Used 12 registers\n";
  const auto refusal = [](const std::string& log) {
    try {
      read_log(log);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_EQ(refusal(entry + properties + frame + use), "nothing was thrown");
  EXPECT_EQ(refusal(entry + properties + frame), "the compiler's log does not give the registers of kernel `k`:\n" + entry + properties + frame);
  EXPECT_EQ(refusal(entry + properties + use), "the compiler's log does not give the stack frame of kernel `k`:\n" + entry + properties + use);
  EXPECT_EQ(refusal(entry + frame + use), "the compiler's log does not give the stack frame of kernel `k`:\n" + entry + frame + use);
}

TEST(Diagnostics, are_found_in_what_nvrtc_prints) {
  EXPECT_EQ(codes(logged("touched_in_flight.txt")), std::vector{7517});
  EXPECT_EQ(codes(logged("too_many_accumulators.txt")), std::vector{7511});
  EXPECT_EQ(codes(logged("two_kernels.txt")), std::vector<int>{});
}

TEST(Diagnostics, of_too_few_registers_for_an_instruction_give_both_numbers) {
  const std::vector<Diagnostic> found = fatal_diagnostics(logged("too_wide_an_instruction.txt"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, 7602);
  EXPECT_EQ(found[0].registers_here, 128);
  EXPECT_EQ(found[0].registers_needed, 154);
}

TEST(Diagnostics, are_those_that_end_a_candidate) {
  const auto line = [](int code) { return "ptxas info    : (C" + std::to_string(code) + ") Potential Performance Loss: of some kind\n"; };
  for (const int code : {7508, 7509, 7510, 7511, 7512, 7513, 7514, 7515, 7516, 7517, 7518, 7519, 7602}) EXPECT_EQ(codes(line(code)), std::vector{code});
  for (const int code : {7507, 7520, 7601, 7603}) EXPECT_EQ(codes(line(code)), std::vector<int>{});
  EXPECT_EQ(codes(line(7510) + "\n" + line(7508) + line(7510)), (std::vector{7510, 7508}));
  EXPECT_EQ(codes("  // the text may say (C7510) too\n"), std::vector<int>{});
}

TEST(Diagnostics, about_registers_are_told_apart) {
  for (const int code : {7511, 7512, 7602}) EXPECT_TRUE((Diagnostic{.code = code, .text = {}}.is_about_registers())) << code;
  for (const int code : {7508, 7510, 7514, 7519}) EXPECT_FALSE((Diagnostic{.code = code, .text = {}}.is_about_registers())) << code;
}

}  // namespace
}  // namespace kiln::generators::cuda::compile
