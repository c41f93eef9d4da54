// Schedules as C++: the text, and the loops that it makes once it is compiled and run.
#include "dsl/print_halide.h"

#include <fstream>
#include <regex>

#include <gtest/gtest.h>

#include "dsl/apply.h"
#include "dsl/legality.h"
#include "dsl/read_algorithm.h"
#include "dsl/rebuild.h"
#include "generators/operators/operators.h"
#include "tests/db/temporary_folder.h"
#include "tests/generators/package/shell.h"

namespace kiln {
namespace {

using tests::shell;

constexpr const char* kTiled =
    "y.tile(n, m, no, mo, ni, mi, 32, 6, GuardWithIf).reorder(ni, mi, mo, no).parallel(no).vectorize(ni, 8).unroll(mi)\n"
    "c.compute_at(y, mo).vectorize(n, 8).unroll(m)\n"
    "c.update(0).split(k, ko, ki, 4).reorder(n, m, ki, ko).vectorize(n, 8).unroll(m).unroll(ki)\n"
    "B.in().compute_at(y, no).store_in(Heap).vectorize(d0, 8)\n";
// `ki` is a pure loop of one stage and a reduction loop of another.
constexpr const char* kOneNameTwice =
    "y.split(n, n, ki, 16, GuardWithIf).vectorize(ki)\n"
    "c.compute_root()\n"
    "c.update(0).split(k, k, ki, 2).reorder(ki, n, m, k)\n";

Algorithm matmul() {
  generators::shipped_operators();
  return read_algorithm("matmul", {}, "x86-64-linux-no_runtime");
}

TEST(PrintHalide, declares_new_loops_and_prints_one_chain_a_line) {
  EXPECT_EQ(print_halide(parse_schedule(kTiled), matmul()), R"(Halide::Var mi("mi"), mo("mo"), ni("ni"), no("no");
Halide::RVar ki("ki"), ko("ko");
y.tile(n, m, no, mo, ni, mi, 32, 6, Halide::TailStrategy::GuardWithIf)
    .reorder(ni, mi, mo, no)
    .parallel(no)
    .vectorize(ni, 8)
    .unroll(mi);
c.compute_at(y, mo)
    .vectorize(n, 8)
    .unroll(m);
c.update(0).split(k, ko, ki, 4)
    .reorder(n, m, ki, ko)
    .vectorize(n, 8)
    .unroll(m)
    .unroll(ki);
B.in().compute_at(y, no)
    .store_in(Halide::MemoryType::Heap)
    .vectorize(Halide::_0, 8);
)");
}

TEST(PrintHalide, a_name_of_both_sorts_gets_two_identifiers) {
  EXPECT_EQ(print_halide(parse_schedule(kOneNameTwice), matmul()), R"(Halide::Var ki("ki");
Halide::RVar ki_r("ki");
y.split(n, n, ki, 16, Halide::TailStrategy::GuardWithIf)
    .vectorize(ki);
c.compute_root();
c.update(0).split(k, k, ki_r, 2)
    .reorder(ki_r, n, m, k);
)");
}

TEST(PrintHalide, of_an_opaque_schedule_only_a_comment) {
  EXPECT_EQ(print_halide(parse_schedule("autoschedule(Mullapudi2016, parallelism=2)\n"), matmul()),
            "// autoschedule(Mullapudi2016, parallelism=2): made by Halide or the generator itself\n");
}

// The same algorithm, written as a user of Halide alone would, with the body pasted in.
std::string program(const std::string& body) {
  return R"(#include <Halide.h>
#include <cmath>
#include <cstdio>
using namespace Halide;
int main() {
  const int M = 17, N = 45, K = 24;
  ImageParam A(Float(32), 2, "A"), B(Float(32), 2, "B");
  Var n("n"), m("m");
  RDom k(0, A.dim(0).extent(), "k");
  Func c("c"), y("y");
  c(n, m) = 0.0f;
  c(n, m) += A(k, m) * B(n, k);
  y(n, m) = c(n, m);
)" + body + R"(
  y.print_loop_nest();
  Buffer<float> a(K, M), b(N, K);
  for (int i = 0; i < K * M; ++i) a.data()[i] = float(i % 13 - 6);
  for (int i = 0; i < N * K; ++i) b.data()[i] = float(i % 11 - 5);
  A.set(a);
  B.set(b);
  Buffer<float> out = y.realize({N, M}, Target("x86-64-linux"));
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < M; ++j) {
      float sum = 0;
      for (int l = 0; l < K; ++l) sum += a(l, j) * b(i, l);
      if (sum != out(i, j)) return std::printf("wrong at %d, %d\n", i, j), 1;
    }
  return 0;
}
)";
}

// Where Halide makes up a name: what it counts up within a process, an input's wrapper and its loops, the vector split off a loop.
std::string in_our_names(std::string loops) {
  loops = std::regex_replace(loops, std::regex(R"(\$\d+)"), "");
  loops = std::regex_replace(loops, std::regex("B_im_global_wrapper"), "B");
  loops = std::regex_replace(loops, std::regex(R"(\b_(\d)\b)"), "d$1");
  return std::regex_replace(loops, std::regex(R"((vectorized [\w.]+)\.\w+ in)"), "$1 in");
}

class PrintedBody : public testing::TestWithParam<const char*> {};

TEST_P(PrintedBody, compiles_and_makes_the_loops_that_apply_makes) {
  const Algorithm algorithm = matmul();
  const Schedule schedule = parse_schedule(GetParam());
  require_legal(schedule, algorithm, nullptr);
  Pipeline pipeline = rebuild(algorithm);
  apply(schedule, pipeline);
  testing::internal::CaptureStderr();
  pipeline.pipeline.print_loop_nest();
  const std::string loops = testing::internal::GetCapturedStderr();

  const db::TemporaryFolder folder;
  std::ofstream(folder.file("body.cpp")) << program(print_halide(schedule, algorithm));
  const auto built = shell("c++ -std=c++17 -O0 -I" KILN_HALIDE_FOLDER "/../include -o " + folder.file("body") + " " + folder.file("body.cpp") +
                           " -L" KILN_HALIDE_FOLDER " -lHalide -Wl,-rpath," KILN_HALIDE_FOLDER);
  ASSERT_EQ(built.status, 0) << built.output;
  const auto run = shell(folder.file("body"));
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(in_our_names(run.output), in_our_names(loops));
}

INSTANTIATE_TEST_SUITE_P(Schedules, PrintedBody, testing::Values(kTiled, kOneNameTwice));

}  // namespace
}  // namespace kiln
