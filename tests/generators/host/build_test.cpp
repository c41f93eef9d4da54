#include <Halide.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>

#include "dsl/autoschedulers.h"
#include "dsl/error.h"
#include "dsl/read_algorithm.h"
#include "generators/host/call.h"
#include "generators/host/host.h"
#include "generators/host/loaded.h"
#include "generators/operators/operators.h"

namespace {

// With a schedule of its own, which the shipped operators leave to Kiln.
class Scaled : public Halide::Generator<Scaled> {
 public:
  Input<Buffer<float, 1>> in{"in"};
  Input<float> factor{"factor"};
  Output<Buffer<float, 1>> out{"out"};
  void generate() { out(x) = in(x) * factor; }
  void schedule() {
    in.set_estimates({{0, 1000}});
    factor.set_estimate(2.f);
    out.set_estimates({{0, 1000}});
    if (!using_autoscheduler()) out.vectorize(x, 8, TailStrategy::GuardWithIf);
  }

 private:
  Var x{"x"};
};

// Asks for registers that Linux gives only to processes that asked the system first.
class Tiled : public Halide::Generator<Tiled> {
 public:
  Input<Buffer<float, 1>> in{"in"};
  Output<Buffer<float, 1>> out{"out"};
  void generate() {
    doubled(x) = in(x) * 2.f;
    out(x) = doubled(x) + 1.f;
  }
  void schedule() {
    in.set_estimates({{0, 1000}});
    out.set_estimates({{0, 1000}});
    doubled.compute_root().store_in(MemoryType::AMXTile);
  }

 private:
  Var x{"x"};
  Func doubled{"doubled"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Scaled, kiln_test_scaled)
HALIDE_REGISTER_GENERATOR(Tiled, kiln_test_tiled)

namespace kiln::generators::host {
namespace {

constexpr const char* kTiled = R"(y.tile(n, m, no, mo, ni, mi, 64, 6).reorder(ni, mi, mo, no).parallel(no).vectorize(ni, 16).unroll(ni).unroll(mi)
c.compute_at(y, mo).vectorize(n, 16).unroll(n).unroll(m)
c.update(0).reorder(n, m, k).vectorize(n, 16).unroll(n).unroll(m)
)";

const Device& device() {
  static const Device probed = probe_cpu();
  return probed;
}

Algorithm read(const std::string& generator, const std::map<std::string, std::string>& parameters = {}) {
  shipped_operators();
  return read_algorithm(generator, parameters, target_string(device(), Isa::native, Contract::bounded));
}

const Algorithm& matmul() {
  static const Algorithm algorithm = read("matmul");
  return algorithm;
}

Problem problem_of(const Algorithm& algorithm, const std::string& text) { return resolve(parse_problem_text(text), algorithm); }

Build build_matmul(const std::string& schedule, Isa isa = Isa::native) {
  return build(matmul(), parse_schedule(schedule), problem_of(matmul(), "matmul(m=66, n=128, k=40)"), device(), isa);
}

struct Product {
  int m = 66, n = 128, k = 40;
  std::vector<float> a, b;
  std::vector<double> expected;

  Product() : a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n)) {
    std::mt19937 generator(3);
    std::normal_distribution<float> draw;
    for (float& value : a) value = draw(generator);
    for (float& value : b) value = draw(generator);
    for (int row = 0; row < m; ++row)
      for (int column = 0; column < n; ++column) {
        double sum = 0;
        for (int i = 0; i < k; ++i) sum += double{a[static_cast<std::size_t>(row * k + i)]} * double{b[static_cast<std::size_t>(i * n + column)]};
        expected.push_back(sum);
      }
  }
};

void expect_right_product(const Build& built) {
  ASSERT_FALSE(built.rejection) << built.rejection->text;
  Product product;
  std::vector<float> result(product.expected.size(), -1.f);
  const auto extents = extents_of(matmul(), problem_of(matmul(), "matmul(m=66, n=128, k=40)"));
  const Loaded loaded(*built.artifact);
  ASSERT_EQ(find_shortfall(required_regions(loaded, matmul(), extents), matmul(), extents), std::nullopt);
  Call call(matmul(), extents, {product.a.data(), product.b.data(), result.data()});
  ASSERT_EQ(loaded(call.argv()), 0);
  for (std::size_t i = 0; i < result.size(); ++i) ASSERT_NEAR(result[i], product.expected[i], 1e-4) << i;
}

TEST(Build, without_a_schedule_is_right) { expect_right_product(build_matmul("")); }

TEST(Build, of_the_tiled_product_is_right_and_reported) {
  const Build built = build_matmul(kTiled);
  expect_right_product(built);
  ASSERT_TRUE(built.predicted && built.actual && built.artifact);
  EXPECT_EQ(built.predicted->flops, 2.0 * 66 * 128 * 40);
  EXPECT_EQ(built.predicted->parallel_tasks, 2);
  EXPECT_EQ(built.actual->vector_bits, device().vector_bytes * 8);
  EXPECT_EQ(built.artifact->alignment_bytes, 0);
  EXPECT_EQ(built.artifact->target, target_string(device(), Isa::native, Contract::bounded));
  EXPECT_GT(built.lower_ms, 0);
  EXPECT_GT(built.compile_ms, 0);
  EXPECT_EQ(built.log, "");
}

TEST(Build, staged_inputs_are_named_as_the_schedule_names_them) {
  const Build built = build_matmul(std::string(kTiled) + "B.in().compute_at(y, no).vectorize(d0, 16)\n");
  expect_right_product(built);
  ASSERT_TRUE(built.predicted);
  std::vector<std::string> loops;
  for (const LoopBytes& set : built.predicted->working_sets) loops.push_back(set.loop);
  EXPECT_EQ(loops, (std::vector<std::string>{"y.no", "B.in().d1", "B.in().d0", "y.mo", "c.update(0).k"}));
}

// c is one element there, computed by masked vectors of four.
TEST(Build, a_masked_vector_over_a_single_element_is_aligned) {
  expect_right_product(build_matmul("y.fuse(n, m, f)\nc.compute_at(y, f).split(n, no, ni, 3, GuardWithIf).tile(ni, m, a, b, i, j, 7, 11, GuardWithIf)"
                                    ".vectorize(no, 7, GuardWithIf).vectorize(j, 4, GuardWithIf)"));
}

TEST(Build, of_the_generic_variant_uses_no_avx) {
  const Build built = build_matmul(kTiled, Isa::x86_64_v2);
  expect_right_product(built);
  ASSERT_TRUE(built.actual);
  EXPECT_EQ(built.actual->vector_bits, 128);
}

TEST(Build, equal_keys_give_equal_bytes) {
  const Build first = build_matmul(kTiled);
  const Build between = build_matmul("y.vectorize(n, 8).parallel(m)\n");
  const Build second = build_matmul(kTiled);
  ASSERT_TRUE(first.artifact && between.artifact && second.artifact);
  EXPECT_EQ(first.key, second.key);
  EXPECT_EQ(first.artifact->symbol, second.artifact->symbol);
  EXPECT_TRUE(first.artifact->bytes == second.artifact->bytes);
  EXPECT_NE(first.key, between.key);
  EXPECT_FALSE(first.artifact->bytes == between.artifact->bytes);
}

TEST(Build, an_illegal_schedule_is_a_rejection_with_the_words_of_legality) {
  const Build built = build_matmul("c.vectorize(z, 8)\n");
  ASSERT_TRUE(built.rejection);
  EXPECT_EQ(built.rejection->reason, Reason::schedule_error);
  EXPECT_TRUE(built.rejection->text.starts_with("`c.vectorize(z, 8)`")) << built.rejection->text;
  EXPECT_FALSE(built.artifact);
  EXPECT_FALSE(built.predicted);
}

// 16 GiB of sums at once, where one core is given 8.
TEST(Build, too_much_scratch_is_a_rejection_before_anything_is_lowered) {
  Device small = device();
  small.cores = 1;
  const Build built = build(matmul(), parse_schedule("c.compute_root()\n"), problem_of(matmul(), "matmul(m=65536, n=65536, k=16)"), small);
  ASSERT_TRUE(built.rejection);
  EXPECT_EQ(built.rejection->reason, Reason::over_scratch);
  EXPECT_EQ(built.rejection->text, "intermediate results need 16.0 GiB at once; 1 cores are given at most 8.0 GiB");
  EXPECT_EQ(built.predicted->peak_intermediate_bytes, std::int64_t{16} << 30);
  EXPECT_EQ(built.lower_ms, 0);
}

TEST(Build, mullapudi_is_applied_and_right) {
  const Build built = build_matmul("autoschedule(Mullapudi2016, parallelism=2)\n");
  expect_right_product(built);
  EXPECT_NE(built.artifact->bytes.size(), build_matmul("").artifact->bytes.size());
}

// Halide is told to leave loops as they are while it lowers this one, and nothing stays behind for the next.
TEST(Build, a_beam_search_is_applied_and_right) {
  const Build built = build_matmul("autoschedule(Adams2019, parallelism=2, beam_size=1)\n");
  expect_right_product(built);
  EXPECT_EQ(std::getenv("HL_PERMIT_FAILED_UNROLL"), nullptr);
}

TEST(Build, an_unknown_autoscheduler_lists_those_that_there_are) {
  const Build built = build_matmul("autoschedule(Nobody2020)\n");
  ASSERT_TRUE(built.rejection);
  EXPECT_EQ(built.rejection->reason, Reason::schedule_error);
  EXPECT_EQ(built.rejection->text,
            "`autoschedule(Nobody2020)`: there is no autoscheduler 'Nobody2020'; there are Adams2019, Li2018, Mullapudi2016");
}

// Mullapudi itself ends the process when it does not know a key.
TEST(Build, a_key_that_an_autoscheduler_does_not_know_is_a_rejection) {
  const Build built = build_matmul("autoschedule(Mullapudi2016, cores=2)\n");
  ASSERT_TRUE(built.rejection);
  EXPECT_EQ(built.rejection->reason, Reason::schedule_error);
  EXPECT_NE(built.rejection->text.find("'cores'"), std::string::npos) << built.rejection->text;
}

TEST(Autoschedulers, of_the_halide_package_are_found_beside_its_library) {
  EXPECT_EQ(available_autoschedulers(), (std::vector<std::string>{"Adams2019", "Anderson2021", "Li2018", "Mullapudi2016"}));
}

TEST(Build, an_own_schedule_that_is_not_there_is_a_rejection_that_says_why) {
  const Build built = build_matmul("own_schedule()\n");
  ASSERT_TRUE(built.rejection);
  EXPECT_EQ(built.rejection->reason, Reason::schedule_error);
  EXPECT_NE(built.rejection->text.find(matmul().own_schedule_absent), std::string::npos) << built.rejection->text;
}

TEST(Build, an_own_schedule_vectorises_as_its_author_wrote) {
  const Algorithm scaled = read("kiln_test_scaled");
  const Problem problem = problem_of(scaled, "kiln_test_scaled()");
  const Build own = build(scaled, parse_schedule("own_schedule()\n"), problem, device());
  const Build plain = build(scaled, {}, problem, device());
  ASSERT_FALSE(own.rejection) << own.rejection->text;
  ASSERT_FALSE(plain.rejection) << plain.rejection->text;
  EXPECT_EQ(own.actual->vector_bits, std::min(256, device().vector_bytes * 8));
  EXPECT_EQ(plain.actual->vector_bits, 128);
  std::vector<float> in(1000, 3.f), out(1000, 0.f);
  float factor = 2.5f;
  const Loaded loaded(*own.artifact);
  Call call(scaled, extents_of(scaled, problem), {in.data(), &factor, out.data()});
  ASSERT_EQ(loaded(call.argv()), 0);
  EXPECT_EQ(out, std::vector<float>(1000, 7.5f));
}

TEST(Build, an_own_schedule_that_needs_amx_is_a_rejection) {
  const Algorithm tiled = read("kiln_test_tiled");
  const Build own = build(tiled, parse_schedule("own_schedule()\n"), problem_of(tiled, "kiln_test_tiled()"), device());
  ASSERT_TRUE(own.rejection);
  EXPECT_EQ(own.rejection->reason, Reason::schedule_error);
  EXPECT_EQ(own.rejection->text, "`doubled` is stored in AMX tiles, which Kiln does not build for: a call would end the process");
}

TEST(Build, what_halide_calls_guaranteed_to_fail_is_a_rejection) {
  const Algorithm scaled = read("kiln_test_scaled");
  const Build built = build(scaled, parse_schedule("out.bound(x, 0, 40).split(x, xo, xi, 64, ShiftInwards)\n"), problem_of(scaled, "kiln_test_scaled()"), device());
  ASSERT_TRUE(built.rejection);
  EXPECT_EQ(built.rejection->reason, Reason::schedule_error);
  EXPECT_FALSE(built.artifact);
}

TEST(BuildReference, widens_outputs_to_f64) {
  Product product;
  std::vector<double> result(product.expected.size(), -1.0);
  const Loaded loaded(build_reference(matmul(), device()));
  Call call(matmul(), extents_of(matmul(), problem_of(matmul(), "matmul(m=66, n=128, k=40)")), {product.a.data(), product.b.data(), result.data()},
            reference_types(matmul()));
  ASSERT_EQ(loaded(call.argv()), 0);
  for (std::size_t i = 0; i < result.size(); ++i) ASSERT_NEAR(result[i], product.expected[i], 1e-12) << i;
}

TEST(Build, prints_how_many_candidates_a_second_it_makes) {
  const auto start = std::chrono::steady_clock::now();
  constexpr int kCandidates = 4;
  for (int i = 0; i < kCandidates; ++i) ASSERT_TRUE(build_matmul(kTiled).artifact);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::cout << "[  PRINTED ] " << kCandidates / seconds << " matmul candidates a second through build()\n";
}

TEST(Reference, what_was_linked_before_needs_no_linker) {
  const Artifact library = linked(build_reference(matmul(), probe_cpu(), Isa::x86_64_v2));
  EXPECT_EQ(library.target, "x86-64-linux-sse41-strict_float-no_runtime");
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  EXPECT_NO_THROW(Loaded{library});
  EXPECT_THROW(linked(library), Error);
  ::setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace kiln::generators::host
