#include <Halide.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <numbers>

#include "dsl/apply.h"
#include "dsl/rebuild.h"
#include "generators/host/lowered.h"
#include "generators/host/memory_file.h"
#include "schedules/devices.h"
#include "tests/generators/operators/elements.h"
#include "tests/generators/operators/operator_run.h"

namespace kiln::tests {
namespace {

struct Shape {
  std::size_t m, n, k;
};

template <typename In>
std::vector<double> products(const Shape& s, const std::vector<In>& a, const std::vector<In>& b) {
  std::vector<double> sums(s.m * s.n);
  for (std::size_t m = 0; m < s.m; ++m)
    for (std::size_t k = 0; k < s.k; ++k)
      for (std::size_t n = 0; n < s.n; ++n) sums[m * s.n + n] += widened(a[m * s.k + k]) * widened(b[k * s.n + n]);
  return sums;
}

std::string problem_text(const Shape& s, const std::string& rest) {
  return "matmul(m=" + std::to_string(s.m) + ", n=" + std::to_string(s.n) + ", k=" + std::to_string(s.k) + rest + ")";
}

// Under every seed the output is within `relative` of `expected` of the exact sums, of their size or of 1.
template <typename In, typename Out>
void expect_product(const Shape& s, const std::string& rest, double relative, const std::function<double(double)>& expected) {
  std::vector<In> a = drawn<In>(s.m * s.k, 1), b = drawn<In>(s.k * s.n, 2);
  std::vector<double> sums = products(s, a, b);
  const OperatorRun run(problem_text(s, rest));
  for (const Schedule& seed : run.seeds()) {
    std::vector<Out> c(s.m * s.n, Out(-77.0f));
    ASSERT_EQ(run.call(seed, {a.data(), b.data(), c.data()}), 0) << kiln_host_error_text();
    for (std::size_t i = 0; i < c.size(); ++i) {
      const double exact = expected(sums[i]);
      ASSERT_NEAR(widened(c[i]), exact, relative * std::max(1.0, std::abs(exact))) << i << "\n" << print(seed);
    }
  }
}

double same(double x) { return x; }
double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2)); }
double gelu_tanh(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x))); }

TEST(Matmul, gelu_is_x_times_the_normal_distribution) { expect_product<float, float>({13, 65, 31}, ", epilogue=gelu", 2e-5, gelu); }
TEST(Matmul, gelu_tanh_is_the_usual_approximation_of_it) { expect_product<float, float>({13, 65, 31}, ", epilogue=gelu_tanh", 2e-5, gelu_tanh); }

TEST(Matmul, of_bf16_is_summed_in_f32_and_rounded_once) {
  expect_product<Halide::bfloat16_t, Halide::bfloat16_t>({13, 65, 31}, ", bf16", 0x1.01p-8, same);
  expect_product<Halide::bfloat16_t, float>({13, 65, 31}, ", bf16, output=f32", 1e-5, same);
}

// Either order of the weights, and what is added after the epilogue.
TEST(Matmul, of_weights_side_by_side_and_with_a_residual_is_the_same_product) {
  const Shape s{13, 65, 31};
  std::vector<float> a = drawn<float>(s.m * s.k, 1), b = drawn<float>(s.k * s.n, 2), turned(s.n * s.k), residual = drawn<float>(s.m * s.n, 3);
  for (std::size_t k = 0; k < s.k; ++k)
    for (std::size_t n = 0; n < s.n; ++n) turned[n * s.k + k] = b[k * s.n + n];
  const std::vector<double> sums = products(s, a, b);
  const OperatorRun run(problem_text(s, ", weights=kn, has_residual=true, epilogue=relu"));
  for (const Schedule& seed : run.seeds()) {
    std::vector<float> c(s.m * s.n, -77.0f);
    ASSERT_EQ(run.call(seed, {a.data(), turned.data(), residual.data(), c.data()}), 0) << kiln_host_error_text();
    for (std::size_t i = 0; i < c.size(); ++i) ASSERT_NEAR(widened(c[i]), std::max(0.0, sums[i]) + widened(residual[i]), 1e-4) << i << "\n" << print(seed);
  }
}

TEST(Matmul, in_pairs_is_the_same_product) {
  expect_product<Halide::bfloat16_t, Halide::bfloat16_t>({13, 65, 62}, ", bf16, pairs=true", 0x1.01p-8, same);
  expect_product<Halide::bfloat16_t, float>({13, 65, 62}, ", bf16, pairs=true, output=f32", 1e-5, same);
  expect_product<Halide::bfloat16_t, float>({1, 1, 2}, ", bf16, pairs=true, output=f32", 1e-5, same);
  expect_product<Halide::bfloat16_t, float>({40, 96, 64}, ", bf16, pairs=true, output=f32, epilogue=gelu", 1e-5, gelu);
}

TEST(Matmul, in_pairs_refuses_an_odd_k) {
  const Shape s{4, 16, 7};
  std::vector<Halide::bfloat16_t> a = drawn<Halide::bfloat16_t>(s.m * s.k, 1), b = drawn<Halide::bfloat16_t>(s.k * s.n, 2), c(s.m * s.n);
  const OperatorRun run(problem_text(s, ", bf16, pairs=true"));
  EXPECT_EQ(run.call(Schedule{}, {a.data(), b.data(), c.data()}), -27);
  EXPECT_STREQ(kiln_host_error_text(), "the algorithm does not allow this call: pairs=true needs an even k, found 7");
}

std::string assembly_of(const OperatorRun& run, const Schedule& schedule, const Device& device) {
  Pipeline pipeline = rebuild(run.algorithm());
  apply(schedule, pipeline);
  const Halide::Module module = generators::host::lower(
      pipeline, "product", Halide::Target(generators::host::target_string(device, generators::host::Isa::native, Contract::bounded)));
  const generators::host::MemoryFile file("kiln-test-assembly");
  module.compile({{Halide::OutputFileType::assembly, file.path()}});
  return file.contents();
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

// Built for CPUs that have AVX512_BF16, whether or not this one does.
TEST(Matmul, in_pairs_is_one_dot_product_a_sum_and_step_in_registers) {
  const OperatorRun run("matmul(m=256, n=1024, k=1024, bf16, pairs=true)");
  for (const char* name : {"sapphire_rapids", "zen4"}) {
    const Device& device = schedules::device_named(name);
    const schedules::Space space = *schedules::space_for(run.algorithm(), run.problem(), device);
    const Schedule seed = space.schedule(space.seeds().at(0).point);
    EXPECT_EQ(count(assembly_of(run, seed, device), "vdpbf16ps"), 16u) << name;  // 2 vectors x 8 rows
    const generators::Build built = run.build(seed, device);
    ASSERT_TRUE(built.actual.has_value());
    EXPECT_EQ(built.actual->vector_bits, 512);
    EXPECT_EQ(built.actual->loop_stack_loads, 0);
    EXPECT_EQ(built.actual->loop_stack_stores, 0);
  }
}

}  // namespace
}  // namespace kiln::tests
