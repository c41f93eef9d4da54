// Texts to cubins by NVRTC: the prelude, the kernels that the emulator is tested on, and what is refused.
#include "generators/cuda/compile/compile.h"

#include <regex>

#include "generators/cuda/compile/cubin.h"
#include "tests/autotune/cli/golden.h"
#include "tests/generators/cuda/emulator/subjects.h"
#include "with_nvrtc.h"

namespace kiln::generators::cuda::compile {
namespace {

using Compiling = WithNvrtc;
using emulator::Subject;

std::vector<Subject> subjects() {
  using namespace emulator;
  return {ring(),   multicast(), split(),      turns(),                   dependent(),              product_e4m3(),
          moves(),  turnstile(), map_ring(),   row_softmax(),             matvec(),                 numbers(),
          every_move(), every_width(false, false), every_width(false, true), every_width(true, false), layouts(128, false, false), layouts(32, true, true)};
}

const KernelReport& report_of(const Compiled& compiled, const std::string& kernel) {
  static const KernelReport none;
  for (const KernelReport& report : compiled.kernels)
    if (report.kernel == kernel) return report;
  ADD_FAILURE() << "no report of " << kernel << ": " << (compiled.rejection ? compiled.rejection->text : compiled.log);
  return none;
}

TEST_F(Compiling, every_file_of_the_prelude) {
  for (const PreludeFile& file : prelude_files()) {
    std::string text = "#include \"types.cuh\"\n";
    if (file.name == "lanes.cuh") text += "#include \"numbers.cuh\"\n";
    if (file.name.starts_with("wgmma_")) text += "#include \"mma.cuh\"\n";
    text += "#include \"" + std::string(file.name) + "\"\nextern \"C\" __global__ void nothing() {}\n";
    const Compiled result = compiled(text, {"nothing"});
    EXPECT_FALSE(result.rejection) << file.name << ":\n" << result.rejection->text;
    EXPECT_EQ(result.log.find("warning"), std::string::npos) << file.name << ":\n" << result.log;
  }
}

TEST_F(Compiling, the_emulators_kernels_gives_plausible_reports) {
  for (const Subject& subject : subjects()) {
    SCOPED_TRACE(subject.kernel + " " + subject.head);
    const Compiled result = compiled(text_of(subject), {subject.kernel});
    ASSERT_FALSE(result.rejection) << result.rejection->text;
    EXPECT_TRUE(result.cubin.starts_with("\x7F" "ELF"));
    const KernelReport& report = report_of(result, subject.kernel);
    EXPECT_EQ(report.max_threads, subject.launch.threads);
    EXPECT_GE(report.registers, 8);
    EXPECT_LE(report.registers * subject.launch.threads * subject.launch.blocks_per_sm, 65536u);
    EXPECT_EQ(report.spill_store_bytes + report.spill_load_bytes + report.stack_frame_bytes, 0);
    EXPECT_EQ(report.shared_bytes, 0);  // theirs is a launch's
    EXPECT_GE(report.code_bytes, 256);
    EXPECT_EQ(report.code_bytes % 16, 0);  // an instruction
  }
}

TEST_F(Compiling, parameters_and_barriers_are_those_of_the_text) {
  using namespace emulator;
  const auto report = [&](const Subject& subject) { return report_of(compiled(text_of(subject), {subject.kernel}), subject.kernel); };
  EXPECT_EQ(report(ring()).parameter_bytes, 48 + 3 * 128 + 3 * 4);  // tensor maps lie at multiples of 64 of a bank in which parameters begin at 528
  EXPECT_EQ(report(ring()).barriers, 2);
  EXPECT_EQ(report(moves()).parameter_bytes, 5 * 8);
  EXPECT_EQ(report(moves()).barriers, 0);
  EXPECT_EQ(report(turns()).parameter_bytes, 8 + 4);
  EXPECT_EQ(report(turns()).barriers, 16);  // their numbers are in registers: it may be any
}

constexpr const char* kSharedAndSum = R"(
extern "C" __global__ void __launch_bounds__(128) first(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x] + 1; }
extern "C" __global__ void second(const float* x, float* y, int n) {
  __shared__ float part[128];
  part[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = part[n - threadIdx.x];
}
)";

TEST_F(Compiling, several_kernels_gives_each_its_report_in_the_order_asked_for) {
  const Compiled result = compiled(kSharedAndSum, {"second", "first"});
  ASSERT_FALSE(result.rejection) << result.rejection->text;
  ASSERT_EQ(result.kernels.size(), 2u);
  EXPECT_EQ(result.kernels[0].kernel, "second");
  EXPECT_EQ(result.kernels[0].shared_bytes, 512);
  EXPECT_EQ(result.kernels[0].barriers, 1);
  EXPECT_EQ(result.kernels[0].parameter_bytes, 20);
  EXPECT_EQ(result.kernels[0].max_threads, std::nullopt);
  EXPECT_EQ(result.kernels[1].kernel, "first");
  EXPECT_EQ(result.kernels[1].shared_bytes, 0);
  EXPECT_EQ(result.kernels[1].max_threads, 128);
  EXPECT_EQ(compiled(kSharedAndSum, {"first"}).kernels, std::vector{result.kernels[1]});
}

TEST_F(Compiling, the_same_text_gives_the_same_bytes) {
  const std::string text = text_of(emulator::product_e4m3());
  EXPECT_EQ(compiled(text, {"product_e4m3"}).cubin, compiled(text, {"product_e4m3"}).cubin);
}

TEST_F(Compiling, a_strict_source_contracts_nothing) {
  Source source{.text = "extern \"C\" __global__ void line(const float* x, float* y) { y[threadIdx.x] = x[0] * x[threadIdx.x] + x[1]; }\n", .kernels = {"line"}};
  const Compiled contracted = compile(*nvrtc_, source);
  source.contracts_to_fma = false;
  const Compiled strict = compile(*nvrtc_, source);
  ASSERT_FALSE(contracted.rejection || strict.rejection);
  EXPECT_NE(contracted.cubin, strict.cubin);
}

TEST_F(Compiling, a_text_that_is_wrong_keeps_the_compilers_words) {
  const Compiled result = compiled("extern \"C\" __global__ void k() { nothing(); }\n", {"k"});
  ASSERT_TRUE(result.rejection);
  EXPECT_EQ(result.rejection->reason, Reason::compile_error);
  EXPECT_EQ(result.rejection->text + "\n", result.log);
  EXPECT_TRUE(result.cubin.empty());
  expect_golden(result.log, "cuda_log/unknown_name.txt");
}

TEST_F(Compiling, only_the_prelude_can_be_included) {
  const Compiled result = compiled("#include \"device/types.cuh\"\nextern \"C\" __global__ void k() {}\n", {"k"});
  ASSERT_TRUE(result.rejection);
  EXPECT_NE(result.rejection->text.find("cannot open source file \"device/types.cuh\""), std::string::npos) << result.rejection->text;
}

TEST_F(Compiling, a_kernel_that_the_text_does_not_have_is_a_rejection) {
  const Compiled result = compiled("__global__ void k(float* y) { *y = 1; }\nextern \"C\" __global__ void other() {}\n", {"other", "k"});
  ASSERT_TRUE(result.rejection);
  EXPECT_EQ(result.rejection->reason, Reason::compile_error);
  EXPECT_EQ(result.rejection->text, "the text has no kernel `k`; it has `other`, `_Z1kPf`. Only extern \"C\" keeps a kernel's name as it is");
  EXPECT_TRUE(result.cubin.empty());
}

TEST_F(Compiling, for_an_architecture_that_nvrtc_does_not_know_is_an_error_of_the_machine) {
  const Source source{.text = "extern \"C\" __global__ void k() {}\n", .kernels = {"k"}, .arch = "sm_9000"};
  try {
    compile(*nvrtc_, source);
    FAIL() << "nothing was thrown";
  } catch (const EnvironmentError& error) {
    EXPECT_EQ(error.what(), nvrtc_->path() + " cannot compile: NVRTC_ERROR_INVALID_OPTION\nnvrtc: error: invalid value for --gpu-architecture (-arch)\n");
  }
}

TEST_F(Compiling, a_real_cubin_cut_off_anywhere_is_refused) {
  const std::string cubin = compiled(kSharedAndSum, {"first"}).cubin;
  ASSERT_EQ(read_cubin(cubin).size(), 2u);
  for (std::size_t size = 0; size < cubin.size(); size += 7) EXPECT_THROW(read_cubin(cubin.substr(0, size)), Error) << size;
}

TEST_F(Compiling, a_real_cubin_with_any_byte_changed_is_read_or_refused) {
  const std::string cubin = compiled(kSharedAndSum, {"first"}).cubin;
  std::size_t refused = 0;
  for (std::size_t at = 0; at < cubin.size(); ++at) {
    std::string file = cubin;
    file[at] = static_cast<char>(~file[at]);
    try {
      read_cubin(file);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 100u);
}

TEST_F(Compiling, the_toolchain_is_the_compiler_its_options_and_the_prelude) {
  EXPECT_TRUE(std::regex_match(nvrtc_->version(), std::regex(R"(\d+\.\d+\.\d+)"))) << nvrtc_->version();
  EXPECT_NE(nvrtc_->path().find("libnvrtc"), std::string::npos);
  const std::regex form("nvrtc " + nvrtc_->version() + "\noption -std=c\\+\\+17\noption --ptxas-options=-v\noption --no-cache\nprelude [0-9a-f]{64}\n");
  EXPECT_TRUE(std::regex_match(toolchain_text(*nvrtc_), form)) << toolchain_text(*nvrtc_);
}

}  // namespace
}  // namespace kiln::generators::cuda::compile
