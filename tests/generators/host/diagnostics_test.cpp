#include "generators/host/diagnostics.h"

#include <Halide.h>
#include <gtest/gtest.h>

namespace kiln::generators::host {
namespace {

const Halide::Target kTarget("x86-64-linux-sse41-no_runtime");

TEST(Diagnostics, keep_a_warning_that_every_call_will_fail) {
  Diagnostics diagnostics;
  Halide::Func f("f");
  Halide::Var x("x"), xo("xo"), xi("xi");
  f(x) = x;
  f.bound(x, 0, 40).split(x, xo, xi, 64, Halide::TailStrategy::ShiftInwards);
  f.compile_to_module({}, "kiln_test", kTarget);
  ASSERT_NE(diagnostics.fatal(), nullptr) << diagnostics.text();
  EXPECT_NE(diagnostics.fatal()->find("guaranteed to fail an assertion"), std::string::npos);
}

TEST(Diagnostics, a_harmless_warning_is_kept_and_not_fatal) {
  Diagnostics diagnostics;
  diagnostics.add("Warning: Unrolling a for loop of extent 1");
  EXPECT_EQ(diagnostics.text(), "Warning: Unrolling a for loop of extent 1\n");
  EXPECT_EQ(diagnostics.fatal(), nullptr);
}

TEST(Diagnostics, an_error_is_an_exception_with_the_words_of_halide) {
  const Diagnostics diagnostics;
  Halide::Func undefined("nothing");
  try {
    undefined.compile_to_module({}, "kiln_test", kTarget);
    FAIL();
  } catch (const Halide::Error& error) {
    EXPECT_NE(std::string(error.what()).find("nothing"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace kiln::generators::host
