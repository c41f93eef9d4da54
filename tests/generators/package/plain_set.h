// A kernel set whose objects are mere bytes: for everything that does not compile.
#pragma once

#include <string>

#include "generators/package/kernel_set.h"

namespace kiln::tests {

inline generators::package::Variant plain_variant(generators::package::Tier tier, const std::string& symbol, const std::string& target) {
  generators::package::Variant variant;
  variant.tier = tier;
  variant.object = "object of " + symbol;
  variant.symbol = symbol;
  variant.target = target;
  variant.candidate = content_digest(symbol).hex();
  variant.schedule = "y.vectorize(n, 8)\n";
  return variant;
}

inline generators::package::Entry plain_entry() {
  using namespace generators::package;
  Entry entry;
  entry.operator_name = "scale";
  entry.params = {{"mode", "half"}};
  entry.type = "f32";
  entry.arguments = {{.name = "in", .type = kFloat32, .rank = 2},
                     {.name = "factor", .is_scalar = true, .type = kFloat32},
                     {.name = "y", .is_output = true, .type = DType{TypeClass::brain_float, 16}, .rank = 2}};
  entry.symbols = {{"m", {{"in", 1}, {"y", 1}}}, {"n", {{"in", 0}, {"y", 0}}}};
  Variant exact = plain_variant(Tier::exact, "scale_exact_argv", "x86-64-linux-sse41-avx-avx2-f16c-fma-no_runtime");
  exact.extents = {{"m", 16, 16}, {"n", 4096, 4096}};
  exact.alignment_bytes = {{"in", 32}, {"y", 16}};
  exact.calls = 20000;
  exact.measured = {{.problem = "scale(m=16, n=4096, f32, mode=half)", .protocol = "cpu-1", .device = "cpu model=\"A \\\"quoted\\\" name\"", .when = "2026-01-02T03:04:05Z",
                     .threads = 2, .samples = 30, .value_ns = 1250.5, .baseline = "own_schedule()", .ratio = 0.5, .ratio_low = 0.49, .ratio_high = 0.52}};
  exact.verified = {{.problem = "scale(m=16, n=4096, f32, mode=half)", .what = "candidate", .max_error = 0.25}};
  entry.variants = {exact, plain_variant(Tier::generic, "scale_argv", "x86-64-linux-sse41-no_runtime")};
  entry.variants.back().is_pointwise = true;
  return entry;
}

// Rows scaled by what a first kernel made of them: two kernels, the first of which goes on until all rows are done, a buffer between them, a scalar, a cluster,
// a dependent launch, a tensor map.
inline generators::cuda::LaunchRecord two_launches() {
  using namespace generators::cuda;
  using Kind = LaunchParameter::Kind;
  const Length columns{{"x", 0}, 0}, rows{{"x", 1}, 0};
  LaunchRecord record;
  record.kernels = {{.name = "scaled_sums", .threads = 64, .grid = {{{rows}, 2}}, .parameters = {{Kind::buffer, "x", {}, {}}, {Kind::buffer, "sums", {}, {}}, {Kind::count32, {}, {}, {columns}}}, .blocks_per_sm = 1},
                    {.name = "scaled_y", .threads = 128, .cluster = 2, .shared_bytes = 65536, .is_dependent = true, .grid = {{{rows}, 1}, {{columns, {{}, 3}}, 64}},
                     .parameters = {{Kind::buffer, "x", {}, {}}, {Kind::buffer, "sums", {}, {}}, {Kind::scalar, "eps", kFloat32, {}}, {Kind::buffer, "y", {}, {}},
                                    {Kind::count64, {}, {}, {columns, rows}}, {Kind::map, "x", {TypeClass::brain_float, 16}, {columns, rows}, {{64, 32}, 128, 128}}}}};
  record.intermediates = {{"sums", {rows}, 4}};
  record.guards = {{columns, 8, 128, 0}};
  return record;
}

// Served on a GPU for 4 rows of 64, and for 5 to 9 rows.
inline generators::package::Entry gpu_entry() {
  using namespace generators::package;
  Entry entry;
  entry.operator_name = "scaled";
  entry.type = "bf16";
  const DType bf16{TypeClass::brain_float, 16};
  entry.arguments = {{.name = "x", .type = bf16, .rank = 2}, {.name = "eps", .is_scalar = true, .type = kFloat32}, {.name = "y", .is_output = true, .type = bf16, .rank = 2}};
  entry.symbols = {{"m", {{"x", 1}, {"y", 1}}}, {"n", {{"x", 0}, {"y", 0}}}};
  Variant exact = plain_variant(Tier::exact, "scaled_sums", "cuda-sm_90a");
  exact.launches = two_launches();
  exact.extents = {{"m", 4, 4}, {"n", 64, 64}};
  exact.alignment_bytes = {{"x", 16}, {"y", 16}};
  Variant bucket = exact;
  bucket.tier = Tier::bucket;
  bucket.extents = {{"m", 5, 9}, {"n", 1, 4096}};
  entry.variants = {exact, bucket};
  return entry;
}

inline generators::package::KernelSet gpu_set() {
  generators::package::KernelSet set;
  set.name = "fast";
  set.entries = {gpu_entry()};
  return set;
}

inline generators::package::KernelSet plain_set() {
  generators::package::KernelSet set;
  set.name = "plain";
  set.version = "2.0.1";
  set.threads = 2;
  set.entries = {plain_entry()};
  set.provenance = {{"kiln", "0.1.0"}};
  return set;
}

}  // namespace kiln::tests
