#include "generators/host/loaded.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <random>

#include "dsl/error.h"
#include "generators/host/call.h"
#include "generators/host/host.h"
#include "tests/generators/host/built_matmul.h"

namespace kiln::generators::host {
namespace {

std::string native() { return target_string(probe_cpu(), Isa::native, Contract::bounded); }

struct Matrices {
  std::vector<float> a, b, y;
};

// m x k times k x n in double, rounded once.
std::vector<float> plain_product(const Matrices& in, int m, int n, int k) {
  std::vector<float> out;
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column) {
      double sum = 0;
      for (int i = 0; i < k; ++i)
        sum += static_cast<double>(in.a[static_cast<std::size_t>(row * k + i)]) * static_cast<double>(in.b[static_cast<std::size_t>(i * n + column)]);
      out.push_back(static_cast<float>(sum));
    }
  return out;
}

Matrices random_matrices(int m, int n, int k) {
  std::mt19937 generator(7);
  std::uniform_real_distribution<float> draw(-1, 1);
  Matrices out{std::vector<float>(static_cast<std::size_t>(m * k)), std::vector<float>(static_cast<std::size_t>(k * n)),
               std::vector<float>(static_cast<std::size_t>(m * n), -1.f)};
  for (float& value : out.a) value = draw(generator);
  for (float& value : out.b) value = draw(generator);
  return out;
}

TEST(Loaded, a_build_computes_what_a_plain_loop_computes) {
  const int m = 37, n = 101, k = 53;
  Matrices matrices = random_matrices(m, n, k);
  const Loaded build(compiled(Matmul().tiled(2, 4, 8).pipeline(), native()));
  Call call(matmul_algorithm(), extents_of(matmul_algorithm(), matmul_problem(m, n, k)), {matrices.a.data(), matrices.b.data(), matrices.y.data()});
  ASSERT_EQ(build(call.argv()), 0);
  const std::vector<float> expected = plain_product(matrices, m, n, k);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(matrices.y[i], expected[i], 1e-4) << i;
}

// The form that Halide compiles to an aligned load of the caller's buffer: a vectorised update of an output whose first index is known. SSE folds the
// load into the addition, which faults on an address that is no multiple of 16.
TEST(Loaded, an_update_of_an_output_takes_buffers_aligned_to_one_element) {
  Halide::ImageParam in(Halide::Float(32), 1, "A");
  Halide::Func y("y");
  Halide::Var x("x"), xo("xo"), xi("xi");
  y(x) = 1.f;
  y(x) += in(x);
  y.output_buffer().dim(0).set_min(0);
  y.update().split(x, xo, xi, 64, Halide::TailStrategy::GuardWithIf).vectorize(xi, 4).parallel(xo);
  Pipeline pipeline;
  pipeline.pipeline = Halide::Pipeline(y);
  pipeline.arguments = {in};
  const Loaded build(compiled(pipeline, target_string(probe_cpu(), Isa::x86_64_v2, Contract::bounded)));

  Algorithm algorithm = matmul_algorithm();
  algorithm.arguments.erase(algorithm.arguments.begin() + 1);
  for (Argument& argument : algorithm.arguments) argument.rank = 1;
  constexpr std::size_t kCount = 200;
  std::vector<float> a(kCount + 4, 2.f), result(kCount + 4, 0.f);
  for (std::size_t shift = 0; shift < 4; ++shift) {
    Call call(algorithm, {{kCount}, {kCount}}, {a.data() + shift, result.data() + shift});
    ASSERT_EQ(build(call.argv()), 0);
    for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(result[shift + i], 3.f) << i;
  }
}

TEST(Loaded, many_builds_live_beside_each_other_and_after_each_other) {
  const Artifact first = compiled(Matmul().tiled(1, 1, 8).pipeline(), native(), "kiln_test_first");
  const Artifact second = compiled(Matmul().tiled(1, 2, 8).pipeline(), native(), "kiln_test_second");
  const Loaded kept(first);
  for (int i = 0; i < 8; ++i) {
    const Loaded passing(i % 2 == 0 ? first : second);
    const auto extents = extents_of(matmul_algorithm(), matmul_problem(16, 16, 16));
    EXPECT_EQ(required_regions(passing, matmul_algorithm(), extents)[2][0].extent, 16);
    EXPECT_EQ(required_regions(kept, matmul_algorithm(), extents)[2][0].extent, 16);
  }
}

TEST(Loaded, a_function_that_the_build_does_not_have_is_named) {
  Artifact artifact = compiled(Matmul().pipeline(), native());
  artifact.symbol = "kiln_other";
  try {
    const Loaded build(artifact);
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("a build has no function kiln_other: ")) << error.what();
  }
}

TEST(Loaded, bytes_that_are_no_object_give_the_words_of_the_linker) {
  try {
    const Loaded build(Artifact{.bytes = "not an object", .symbol = "f", .target = ""});
    FAIL();
  } catch (const EnvironmentError& error) {
    FAIL() << error.what();
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("`ld -shared` refused a build:\n")) << error.what();
  }
}

TEST(Loaded, a_missing_linker_names_the_package_to_install) {
  const Artifact artifact = compiled(Matmul().pipeline(), native());
  const std::string path = getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  try {
    const Loaded build(artifact);
    ADD_FAILURE() << "a linker was found";
  } catch (const EnvironmentError& error) {
    EXPECT_STREQ(error.what(), "the linker `ld` is not on PATH; it loads every build: apt-get install binutils");
  }
  setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace kiln::generators::host
