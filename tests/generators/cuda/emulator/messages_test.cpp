// Whole messages: what an author of a kernel reads.
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

#include "generators/cuda/emulator/tensor_map.h"
#include "numbers.h"
#include "subjects.h"
#include "tests/autotune/cli/golden.h"

namespace kiln::generators::cuda::emulator {
namespace {

std::string message(const Subject& subject, const std::string& from, const std::string& to, unsigned seed) {
  const std::string text = replaced(text_of(subject), from, to);
  const Compiled kernel(text, subject.kernel);
  return outcome(subject, kernel, seed).text + "\n";
}

// Seed 2 % 4 makes copies happen at once, seed 1 % 4 as late as can be.
TEST(Messages, race) { expect_golden(message(ring(), "mbar_wait(full(s), phase);", "if (lane == 0) mbar_wait(full(s), phase);", 2), "emulator/race.txt"); }
TEST(Messages, early_release) { expect_golden(message(ring(), "if (k != 0) release(previous);", "release(s);", 1), "emulator/early_release.txt"); }
TEST(Messages, unfenced) { expect_golden(message(ring(), "        fence_async_proxy();\n", "", 1), "emulator/unfenced.txt"); }
TEST(Messages, deadlock) {
  expect_golden(message(ring(), "P_BYTES + Q_BYTES);", "P_BYTES + Q_BYTES + 1024);", 1), "emulator/deadlock.txt");
}
TEST(Messages, deadlock_at_a_barrier_of_some_lanes) {
  expect_golden(message(ring(), "        fence_async_proxy();\n        bar_sync(1, 128);\n", "        fence_async_proxy();\n        if (lane % 8 != 7) bar_sync(1, 128);\n", 1),
                "emulator/deadlock_lanes.txt");
}

template <class Exception, class F>
std::string thrown(F f) {
  try {
    f();
  } catch (const Exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Messages, a_kernel_without_its_file_names_the_file) {
  ::setenv("KILN_TESTS_DIR", "/nowhere", 1);
  EXPECT_EQ(thrown<std::runtime_error>([] { text_of(ring()); }),
            "/nowhere/generators/cuda/emulator/kernels/ring.cu cannot be read; $KILN_TESTS_DIR says where the tests' files are");
  ::unsetenv("KILN_TESTS_DIR");
}
TEST(Messages, a_tensor_map_is_refused_with_both_numbers) {
  const TensorMap2d map{.base = nullptr, .inner = 64, .outer = 64, .pitch_bytes = 128, .box_inner = 64, .box_outer = 64, .element_bytes = 2, .swizzle = Swizzle::b128};
  const auto refused = [&](auto change) {
    TensorMap2d changed = map;
    change(changed);
    return thrown<std::invalid_argument>([&] { encode(changed); });
  };
  EXPECT_EQ(refused([](TensorMap2d&) {}), "nothing was thrown");
  EXPECT_EQ(refused([](TensorMap2d& m) { m.swizzle = Swizzle::b64; }), "tensor map: a box row of 128 bytes is longer than the swizzle's 64");
  EXPECT_EQ(refused([](TensorMap2d& m) { m.pitch_bytes = 130; }), "tensor map: the pitch must be a multiple of 16 bytes below 2^40, not 130");
  EXPECT_EQ(refused([](TensorMap2d& m) { m.box_outer = 257; }), "tensor map: a box has 1 to 256 elements a dimension, not 257 in the outer");
  EXPECT_EQ(refused([](TensorMap2d& m) { m.box_inner = 60; }), "tensor map: a box row must be a multiple of 16 bytes, not 120");
  EXPECT_EQ(refused([](TensorMap2d& m) { m.base = reinterpret_cast<void*>(8); }), "tensor map: the global address must be a multiple of 16");
}

TEST(Messages, a_launch_beyond_the_limits_is_refused) {
  Memory memory;
  const auto refused = [&](const Launch& launch) { return thrown<std::invalid_argument>([&] { run(launch, memory, nullptr, nullptr); }); };
  EXPECT_EQ(refused({.grid = 3, .cluster = 2}), "launch: the grid must be a whole number of clusters");
  EXPECT_EQ(refused({.grid = 65, .threads = 32}), "launch: at most 64 blocks can be emulated");
  EXPECT_EQ(refused({.threads = 33}), "launch: a block has whole warps, at most 1024 threads");
  EXPECT_EQ(refused({.grid = 32, .threads = 1024}), "launch: at most 16384 threads can be emulated");
  EXPECT_EQ(refused({.shared_bytes = 232449}), "launch: a block may use 232448 bytes of shared memory");
}

TEST(Messages, a_text_that_does_not_compile_keeps_the_compilers_words) {
  const std::string words = thrown<std::runtime_error>([] { Compiled("extern \"C\" __global__ void k() { nothing(); }\n", "k"); });
  EXPECT_TRUE(words.starts_with("`g++` refused a kernel's text:\n")) << words;
  EXPECT_NE(words.find("kernel.cu:1:"), std::string::npos) << words;
  EXPECT_NE(words.find("nothing"), std::string::npos) << words;
}

TEST(Messages, a_missing_compiler_names_the_package) {
  EXPECT_EQ(thrown<CompilerMissing>([] { Compiled("", "k", "no-such-compiler"); }),
            "the C++ compiler `no-such-compiler`, which the emulator compiles kernels with, cannot be started (No such file or directory): apt-get install g++");
}

TEST(Messages, only_one_launch_at_a_time) {
  static Memory memory;
  const Entry nested = [](void**) { EXPECT_EQ(thrown<std::logic_error>([] { run({.threads = 32}, memory, nullptr, nullptr); }), "a launch is already being emulated in this process"); };
  EXPECT_TRUE(run({.threads = 32}, memory, nested, nullptr).ok());
}

TEST(Messages, a_buffer_is_asked_for_by_its_address) {
  Memory memory;
  const auto* buffer = output<float>(memory, "x", 4);
  EXPECT_EQ(memory.first_unwritten(buffer), 0u);
  EXPECT_EQ(thrown<std::invalid_argument>([&] { memory.first_unwritten(buffer + 1); }), "not a buffer of this memory");
}

}  // namespace
}  // namespace kiln::generators::cuda::emulator
