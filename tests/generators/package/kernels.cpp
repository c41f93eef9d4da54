#include "tests/generators/package/kernels.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <Halide.h>
#include <unistd.h>

namespace kiln::tests {

namespace {

using namespace generators::package;
using Halide::Expr, Halide::Func, Halide::ImageParam, Halide::Param, Halide::RDom, Halide::TailStrategy, Halide::Var;

constexpr const char* kAvx2 = "x86-64-linux-sse41-avx-avx2-f16c-fma-no_runtime";
constexpr const char* kV2 = "x86-64-linux-sse41-no_runtime";

std::string compile(Halide::Pipeline pipeline, const std::vector<Halide::Argument>& arguments, const std::string& name, const char* target) {
  const auto path = std::filesystem::temp_directory_path() / ("kiln_" + std::to_string(getpid()) + "_" + name + ".o");
  pipeline.compile_to_object(path.string(), arguments, name, Halide::Target(target));
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  std::filesystem::remove(path);
  return bytes.str();
}

Variant variant(Tier tier, std::string object, const std::string& name, const char* target, const std::string& schedule) {
  Variant result;
  result.tier = tier;
  result.object = std::move(object);
  result.symbol = name + "_argv";
  result.target = target;
  result.candidate = content_digest(result.object).hex();
  result.schedule = schedule;
  return result;
}

Variant matmul(Tier tier, const std::string& name, const char* target, TailStrategy tail) {
  ImageParam a(Halide::Float(32), 2, "A"), b(Halide::Float(32), 2, "B");
  Var n("n"), m("m"), no("no"), mo("mo"), ni("ni"), mi("mi");
  RDom k(0, a.dim(0).extent(), "k");
  const TailStrategy inner = tail == TailStrategy::GuardWithIf ? tail : TailStrategy::Auto;  // nothing beyond the outputs may be read
  Func product("product"), c("C");
  product(n, m) = 0.0f;
  product(n, m) += a(k, m) * b(n, k);
  c(n, m) = product(n, m) / (1.0f + Halide::exp(-product(n, m)));
  c.tile(n, m, no, mo, ni, mi, 32, 4, tail).parallel(mo).vectorize(ni, 8);
  product.compute_at(c, no).vectorize(n, 8, inner).update().reorder(n, m, k).vectorize(n, 8, inner);
  return variant(tier, compile(c, {a, b}, name, target), name, target, "C.tile(n, m, no, mo, ni, mi, 32, 4).parallel(mo).vectorize(ni, 8)\n");
}

Entry matmul_entry() {
  Entry entry;
  entry.operator_name = "matmul";
  entry.params = {{"epilogue", "silu"}};
  entry.type = "";
  entry.arguments = {{.name = "A", .type = kFloat32, .rank = 2}, {.name = "B", .type = kFloat32, .rank = 2}, {.name = "C", .is_output = true, .type = kFloat32, .rank = 2}};
  entry.symbols = {{"m", {{"A", 1}, {"C", 1}}}, {"n", {{"B", 0}, {"C", 0}}}, {"k", {{"A", 0}, {"B", 1}}}};
  Variant exact = matmul(Tier::exact, "matmul_exact", kAvx2, TailStrategy::ShiftInwards);
  exact.extents = {{"m", 64, 64}, {"n", 64, 64}, {"k", 32, 32}};
  exact.alignment_bytes = {{"A", 32}, {"B", 32}, {"C", 32}};
  exact.calls = 8000;
  exact.measured = {{.problem = "matmul(m=64, n=64, k=32, epilogue=silu)", .protocol = "cpu-1", .device = "cpu", .when = "2026-01-02T03:04:05Z", .threads = 2,
                     .samples = 30, .value_ns = 1250, .baseline = "Mullapudi2016", .ratio = 0.5, .ratio_low = 0.49, .ratio_high = 0.52}};
  exact.verified = {{.problem = "matmul(m=64, n=64, k=32, epilogue=silu)", .what = "candidate", .max_error = 0.25}};
  Variant bucket = matmul(Tier::bucket, "matmul_bucket", kAvx2, TailStrategy::ShiftInwards);
  bucket.extents = {{"m", 1, 128}, {"n", 32, 256}, {"k", 1, 4096}};
  entry.variants = {exact, bucket, matmul(Tier::generic, "matmul_generic", kV2, TailStrategy::GuardWithIf)};
  return entry;
}

Entry axpb_entry() {
  ImageParam x(Halide::Float(32), 1, "x"), b(Halide::Float(32), 1, "b");
  Param<float> a("a");
  Var n("n");
  Func y("y");
  y(n) = a * x(n) + b(n);
  y.vectorize(n, 4, TailStrategy::GuardWithIf);
  Entry entry;
  entry.operator_name = "axpb";
  entry.type = "f32";
  entry.arguments = {{.name = "x", .type = kFloat32, .rank = 1},
                     {.name = "a", .is_scalar = true, .type = kFloat32},
                     {.name = "b", .type = kFloat32, .rank = 1},
                     {.name = "y", .is_output = true, .type = kFloat32, .rank = 1}};
  entry.symbols = {{"n", {{"x", 0}, {"b", 0}, {"y", 0}}}};
  Variant generic = variant(Tier::generic, compile(y, {x, a, b}, "axpb", kV2), "axpb", kV2, "y.vectorize(n, 4)\n");
  generic.is_pointwise = true;
  entry.variants = {generic};
  return entry;
}

Entry blur_entry() {
  ImageParam in(Halide::Int(16), 2, "input");
  Var x("x"), y("y");
  Func out("out"), total("total");
  out(x, y) = in(x, y) + in(x + 1, y) + in(x + 2, y);
  RDom r(0, in.dim(1).extent(), "r");
  total(x) = Halide::cast<std::int32_t>(0);
  total(x) += Halide::cast<std::int32_t>(out(x, r));
  out.compute_root();
  const DType i16{TypeClass::signed_int, 16};
  Entry entry;
  entry.operator_name = "blur";
  entry.arguments = {{.name = "input", .type = i16, .rank = 2},
                     {.name = "out", .is_output = true, .type = i16, .rank = 2},
                     {.name = "total", .is_output = true, .type = kInt32, .rank = 1}};
  entry.symbols = {{"w", {{"out", 0}, {"total", 0}}}, {"h", {{"input", 1}, {"out", 1}}}};
  entry.variants = {variant(Tier::generic, compile(Halide::Pipeline({out, total}), {in}, "blur", kV2), "blur", kV2, "out.compute_root()\n")};
  return entry;
}

}  // namespace

KernelSet small_kernel_set(const std::string& name) {
  KernelSet set;
  set.name = name;
  set.version = "1.2.0";
  set.threads = 2;
  set.entries = {matmul_entry(), axpb_entry(), blur_entry()};
  set.provenance = {{"kiln", "0.1.0"}, {"toolchain", "halide 21.0.0"}};
  return set;
}

}  // namespace kiln::tests
