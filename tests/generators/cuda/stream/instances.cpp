#include "tests/generators/cuda/stream/instances.h"

namespace kiln::tests {
namespace {

constexpr char kFlat[] = "y.fuse(n, m, i).split(i, b, i, 1024, GuardWithIf).split(i, t, v, 8).gpu_blocks(b).gpu_threads(t).vectorize(v)";
constexpr char kTile[] = "y.tile(n, m, no, mo, ni, mi, 64, 64, GuardWithIf).tile(ni, mi, nt, mt, nv, mv, 4, 4).gpu_blocks(no, mo).gpu_threads(nt, mt).vectorize(nv).unroll(mv)";
constexpr char kNorm[] = "\nscale.compute_at(y, m)\nsquares.compute_at(y, m)\n";
constexpr char kSoft[] = "\nscale.compute_at(y, m)\nsum.compute_at(y, m)\npeak.compute_at(y, m)\n";
constexpr char kSum[] = "\nc.compute_at(y, n)\n";
constexpr char kQuant[] = "\nscales.compute_with(y, m)\nrow.compute_at(y, m)\n";

}  // namespace

std::vector<StreamInstance> stream_instances() {
  const auto lines = [](std::initializer_list<std::string> parts) {
    std::string all;
    for (const std::string& part : parts) all += part;
    return all;
  };
  return {
      {"flat", "swiglu(m=7, n=333, bf16)", lines({kFlat, "\n"})},
      {"flat_f32_in_pairs", "swiglu(m=3, n=1025)", "y.fuse(n, m, i).split(i, b, i, 512, GuardWithIf).split(i, a, i, 256).split(i, t, v, 2).gpu_blocks(b).unroll(a).gpu_threads(t).vectorize(v)\n"},
      {"flat_of_one_element", "swiglu(m=1, n=1, bf16)", lines({kFlat, "\n"})},
      {"flat_chain", "swiglu(m=5, n=52, bf16)", lines({kFlat, ".dependent_launch()\ngate.compute_root().rows(2, 32).vector(4)\n"})},
      {"a_row_a_block", "rmsnorm(m=3, n=1000, bf16)", lines({"y.rows(1, 128).vector(8)", kNorm})},
      {"a_row_a_block_two_blocks", "rmsnorm(m=5, n=1024, bf16)", lines({"y.rows(1, 64).vector(8).fix(n).blocks_per_sm(2)", kNorm})},
      {"rows_of_single_elements", "rmsnorm(m=2, n=33, bf16)", lines({"y.rows(1, 32).vector(1)", kNorm})},
      {"several_rows_a_block", "rmsnorm(m=7, n=136, bf16)", lines({"y.rows(4, 32).vector(8)", kNorm})},
      {"several_rows_of_two_sums", "softmax(m=5, n=300)", lines({"y.rows(2, 96).vector(2)\ne.compute_at(y, m)", kSoft})},
      {"a_row_a_cluster", "rmsnorm(m=3, n=2040, bf16)", lines({"y.rows(1, 64).vector(8).cluster(4)", kNorm})},
      {"two_sums_a_cluster", "softmax(m=2, n=4096, bf16)", lines({"y.rows(1, 256).vector(8).cluster(2).dependent_launch()", kSoft})},
      {"sums_and_rows", "rmsnorm(m=5, n=136, bf16)", "y.rows(2, 32).vector(8).dependent_launch()\nscale.compute_at(y, m)\nsquares.compute_root().rows(1, 64).vector(4)\n"},
      {"three_kernels", "softmax(m=3, n=260)",
       "y.rows(1, 96).vector(4).dependent_launch()\nscale.compute_at(y, m)\nsum.compute_root().rows(2, 96).vector(4).dependent_launch()\npeak.compute_root().rows(1, 96).vector(4)\n"},
      {"transpose", "transpose(m=140, n=76)", lines({kTile, "\n"})},
      {"transpose_down_with_hints", "transpose(m=68, n=132)",
       "y.tile(n, m, no, mo, ni, mi, 128, 64, GuardWithIf).tile(ni, mi, nt, mt, nv, mv, 4, 4).reorder(mo, no).gpu_blocks(mo, no).gpu_threads(nt, mt).vectorize(nv).unroll(mv)"
       ".cache(evict_first, streaming)\n"},
      {"dots_of_one_row", "matvec(m=1, n=37, k=1000, bf16, weights=kn)", lines({"y.dots(2, 8, 1)", kSum})},
      {"dots_of_two_rows", "matvec(m=2, n=37, k=1000, bf16, weights=kn)", lines({"y.dots(4, 2, 2).accesses(2)", kSum})},
      {"strips_of_one_row", "matvec(m=1, n=72, k=136, bf16)", lines({"y.strips(8, 32).accesses(4).cluster(2)", kSum})},
      {"strips_of_two_rows", "matvec(m=2, n=1000, k=36, bf16)", lines({"y.strips(16, 8).accesses(2)", kSum})},
      {"quantise_fixed", "swiglu_quant(m=3, n=271, bf16)", lines({kFlat, "\n"})},
      {"quantise_row", "swiglu_quant(m=3, n=1040, bf16, scale=row)", lines({"y.rows(1, 128).vector(8)", kQuant, "peak.compute_at(y, m)\n"})},
      {"quantise_row_a_cluster", "swiglu_quant(m=2, n=2080, bf16, scale=row)", lines({"y.rows(1, 64).vector(8).cluster(4)", kQuant, "peak.compute_at(y, m)\n"})},
      {"quantise_row_in_two_kernels", "swiglu_quant(m=3, n=272, bf16, scale=row)",
       lines({"y.rows(1, 64).vector(8).dependent_launch()", kQuant, "peak.compute_root().rows(2, 32).vector(8)\n"})},
  };
}

}  // namespace kiln::tests
