#include "tests/generators/cuda/ring/instances.h"

#include <fmt/format.h>

#include "tests/generators/cuda/ring/coded_product.h"

namespace kiln::tests {
namespace {

// A tile of m × n, steps of k, and further words of the kernel and of the sum, and how it is added.
std::string schedule(int m, int n, int k, int stages, const std::string& kernel, const std::string& sum = "", const std::string& sums = "") {
  return fmt::format("y.tile(n, m, no, mo, ni, mi, {}, {}, GuardWithIf).gpu_blocks(no, mo){}\nc.compute_at(y, no)\n"
                     "c.update(0).split(k, ko, ki, {}).stage_in(ko, shared, {}).tensorize(ki, wgmma{}){}\n",
                     n, m, kernel, k, stages, sums, sum);
}

// Of a stage that one product or two are made into: its tile and words, then the sums computed in it.
std::string ring_of(const std::string& stage, const std::vector<std::string>& sums, int m, int n, int k, int stages, const std::string& kernel) {
  std::string text = fmt::format("{}.tile(n, m, no, mo, ni, mi, {}, {}, GuardWithIf).gpu_blocks(no, mo){}\n", stage, n, m, kernel);
  for (const std::string& sum : sums)
    text += fmt::format("{0}.compute_at({1}, no)\n{0}.update(0).split(k, ko, ki, {2}).stage_in(ko, shared, {3}).tensorize(ki, wgmma)\n", sum, stage, k, stages);
  return text;
}

std::string gated(int m, int n, int k, int stages, const std::string& kernel) { return ring_of("y", {"gate_sum", "up_sum"}, m, n, k, stages, kernel); }

// Each product in a kernel of its own, at root.
std::string apart(int m, int n, int k, int stages, const std::string& kernel, const std::string& y) {
  return y + "\ngate.compute_root()\n" + ring_of("gate", {"gate_sum"}, m, n, k, stages, kernel) + "up.compute_root()\n" +
         ring_of("up", {"up_sum"}, m, n, k, stages, kernel + ".dependent_launch()");
}

constexpr const char* kLine = "y.fuse(n, m, i).split(i, b, i, 2048, GuardWithIf).split(i, t, v, 8).gpu_blocks(b).gpu_threads(t).vectorize(v).dependent_launch()";

// The last product of a feed-forward layer.
std::string down(int m, int h, int n, int stages, const std::string& kernel) {
  return fmt::format("y.tile(h, m, ho, mo, hi, mi, {}, {}, GuardWithIf).gpu_blocks(ho, mo){}\ndown_sum.compute_at(y, ho)\n"
                     "down_sum.update(0).split(n, no, ni, {}).stage_in(no, shared, {}).tensorize(ni, wgmma)\n",
                     h, m, kernel, n, stages);
}

// The first two and what comes of them.
std::string hidden(int m, int n, int k, int stages, const std::string& kernel) { return "hidden.compute_root()\n" + ring_of("hidden", {"gate_sum", "up_sum"}, m, n, k, stages, kernel); }

const std::string kHiddenLine = "hidden.compute_root().fuse(n, m, i).split(i, b, i, 2048, GuardWithIf).split(i, t, v, 8).gpu_blocks(b).gpu_threads(t).vectorize(v).dependent_launch()";

}  // namespace

std::vector<RingInstance> ring_instances() {
  register_coded_product();
  return {
      {"cooperative", "matmul(m=200, n=264, k=584, bf16)", schedule(128, 192, 64, 4, ".warps(1, 2, cooperative)")},
      {"cooperative_persistent", "matmul(m=200, n=264, k=328, bf16, weights=kn)", schedule(128, 144, 64, 2, ".warps(1, 2, cooperative).persistent().raster(mo, 8)")},
      {"cooperative_of_two_wgmmas", "matmul(m=300, n=72, k=328, bf16, weights=kn)", schedule(256, 64, 64, 2, ".warps(1, 2, cooperative).persistent()")},
      {"one_consumer", "matmul(m=100, n=200, k=584, bf16, weights=kn)", schedule(64, 96, 64, 4, ".warps(1, 1, cooperative).blocks_per_sm(2).raster(no, 2)")},
      {"one_consumer_deep", "matmul(m=100, n=136, k=648, bf16)", schedule(64, 64, 128, 2, ".warps(1, 1, cooperative).store_through(shared, 1)")},
      {"three_consumers", "matmul(m=200, n=136, k=456, bf16)", schedule(192, 128, 64, 3, ".warps(1, 3, cooperative).store_through(shared, 4)")},
      {"pingpong", "matmul(m=250, n=264, k=456, bf16, weights=kn)", schedule(128, 128, 64, 3, ".warps(1, 2, pingpong).persistent().raster(mo, 2)")},
      {"pingpong_wide", "matmul(m=130, n=392, k=456, bf16)", schedule(128, 192, 64, 3, ".warps(1, 2, pingpong).persistent().raster(no, 2).dependent_launch()")},
      {"pingpong_fewer_steps_than_stages", "matmul(m=250, n=264, k=72, bf16, weights=kn)", schedule(128, 128, 64, 6, ".warps(1, 2, pingpong).persistent()")},
      {"pingpong_of_one_tile", "matmul(m=1, n=40, k=264, bf16)", schedule(128, 192, 64, 4, ".warps(1, 2, pingpong).store_through(shared, 2).persistent().raster(mo, 8)")},
      {"swapped", "matmul(m=5, n=264, k=584, bf16)", schedule(8, 128, 64, 4, ".warps(1, 2, cooperative).swap_operands()")},
      {"swapped_deep", "matmul(m=29, n=136, k=904, bf16, weights=kn)", schedule(32, 64, 128, 3, ".warps(1, 1, cooperative).swap_operands().evict(Bt, first).l2_promotion(Bt, 128)")},
      {"swapped_odd", "matmul(m=30, n=200, k=456, bf16)", schedule(24, 192, 64, 3, ".warps(1, 3, cooperative).swap_operands().persistent()")},
      {"two_parts", "matmul(m=120, n=136, k=904, bf16, weights=kn)", schedule(64, 128, 64, 3, ".warps(1, 1, cooperative)", ".split_reduction(ko, 2, fixed)")},
      {"four_parts_of_two_consumers", "matmul(m=100, n=72, k=1096, bf16)", schedule(128, 64, 64, 3, ".warps(1, 2, cooperative)", ".split_reduction(ko, 4, fixed)")},
      {"more_parts_than_steps", "matmul(m=60, n=72, k=136, bf16, weights=kn)", schedule(64, 64, 64, 2, ".warps(1, 1, cooperative)", ".split_reduction(ko, 8, fixed)")},
      {"swapped_in_parts", "matmul(m=13, n=200, k=904, bf16)", schedule(16, 128, 64, 3, ".warps(1, 2, cooperative).swap_operands()", ".split_reduction(ko, 3, fixed)")},
      {"bias", "matmul(m=200, n=264, k=328, bf16, has_bias=true)", schedule(128, 192, 64, 2, ".warps(1, 2, cooperative)")},
      {"bias_and_silu", "matmul(m=70, n=136, k=328, bf16, weights=kn, has_bias=true, epilogue=silu)", schedule(64, 80, 64, 2, ".warps(1, 1, cooperative)")},
      {"residual_and_gelu_in_turn", "matmul(m=130, n=264, k=328, bf16, has_residual=true, epilogue=gelu)", schedule(64, 128, 64, 3, ".warps(1, 2, pingpong).persistent()")},
      {"swapped_bias_residual_relu", "matmul(m=13, n=200, k=328, bf16, weights=kn, has_bias=true, has_residual=true, epilogue=relu)",
       schedule(16, 128, 64, 2, ".warps(1, 2, cooperative).swap_operands()")},
      {"parts_bias_silu", "matmul(m=70, n=136, k=648, bf16, has_bias=true, epilogue=silu)", schedule(64, 128, 64, 3, ".warps(1, 1, cooperative)", ".split_reduction(ko, 2, fixed)")},
      {"f16", "matmul(m=200, n=264, k=328, f16, has_bias=true, has_residual=true)", schedule(128, 192, 64, 2, ".warps(1, 2, cooperative)")},
      {"f16_swapped", "matmul(m=13, n=200, k=328, f16, weights=kn, epilogue=silu)", schedule(16, 64, 64, 3, ".warps(1, 1, cooperative).swap_operands()")},
      {"f16_in_parts", "matmul(m=70, n=136, k=648, f16, weights=kn, output=f32)", schedule(64, 96, 64, 3, ".warps(1, 1, cooperative)", ".split_reduction(ko, 2, fixed)")},
      {"fp8", "matmul_fp8(m=200, n=136, k=656)", schedule(128, 128, 128, 2, ".warps(1, 2, cooperative)")},
      {"fp8_deep_of_two_wgmmas", "matmul_fp8(m=140, n=72, k=1296)", schedule(128, 64, 256, 2, ".warps(1, 1, cooperative).persistent()")},
      {"fp8_deep", "matmul_fp8(m=200, n=136, k=1296)", schedule(128, 128, 256, 2, ".warps(1, 2, cooperative)")},
      {"fp8_deep_without_registers_for_two", "matmul_fp8(m=70, n=264, k=1296)", schedule(64, 192, 256, 2, ".warps(1, 1, cooperative)")},
      {"fp8_of_two_wgmmas", "matmul_fp8(m=300, n=136, k=656)", schedule(256, 96, 128, 2, ".warps(1, 2, cooperative)")},
      {"fp8_swapped", "matmul_fp8(m=13, n=200, k=656, f16)", schedule(16, 64, 128, 3, ".warps(1, 1, cooperative).swap_operands()")},
      {"fp8_in_parts", "matmul_fp8(m=70, n=136, k=1296, f32)", schedule(64, 128, 128, 3, ".warps(1, 1, cooperative)", ".split_reduction(ko, 2, fixed)")},
      {"fp8_plain", "matmul_fp8(m=200, n=136, k=656, accumulation=plain)", schedule(128, 128, 128, 2, ".warps(1, 2, cooperative)", "", ", plain")},
      {"fp8_plain_pingpong", "matmul_fp8(m=250, n=264, k=912, f32, accumulation=plain)", schedule(128, 128, 128, 3, ".warps(1, 2, pingpong).persistent()", "", ", plain")},
      {"fp8_plain_deep_swapped", "matmul_fp8(m=13, n=200, k=1296, f16, accumulation=plain)", schedule(16, 128, 256, 2, ".warps(1, 1, cooperative).swap_operands()", "", ", plain")},
      {"fp8_plain_in_parts", "matmul_fp8(m=70, n=136, k=1296, f32, accumulation=plain)", schedule(64, 128, 128, 3, ".warps(1, 1, cooperative)", ".split_reduction(ko, 2, fixed)", ", plain")},
      {"fp8_promoted_where_plain_may_be", "matmul_fp8(m=70, n=136, k=656, f32, accumulation=plain)", schedule(64, 128, 128, 3, ".warps(1, 1, cooperative)")},
      {"stored_as_f32", "matmul(m=70, n=132, k=328, bf16, weights=kn, output=f32, has_bias=true)", schedule(64, 96, 64, 2, ".warps(1, 1, cooperative)")},
      {"swapped_stored_as_f32", "matmul(m=29, n=132, k=328, bf16, weights=kn, output=f32, has_bias=true)", schedule(32, 64, 64, 3, ".warps(1, 1, cooperative).swap_operands()")},
      {"swapped_odd_stored_as_f32", "matmul(m=30, n=200, k=328, bf16, output=f32)", schedule(24, 128, 64, 3, ".warps(1, 2, cooperative).swap_operands()")},
      {"codes_by_16", "coded_product(m=100, n=208, k=328)", schedule(64, 48, 64, 3, ".warps(1, 1, cooperative)")},
      {"codes_by_64", "coded_product(m=150, n=400, k=328)", schedule(128, 192, 64, 3, ".warps(1, 2, cooperative)")},
      {"codes_by_128_in_turn", "coded_product(m=150, n=208, k=328)", schedule(64, 128, 64, 3, ".warps(1, 2, pingpong).persistent()")},
      {"swapped_codes", "coded_product(m=30, n=208, k=328)", schedule(24, 128, 64, 3, ".warps(1, 2, cooperative).swap_operands()")},
      {"codes_in_parts", "coded_product(m=70, n=144, k=648)", schedule(64, 128, 64, 3, ".warps(1, 1, cooperative)", ".split_reduction(ko, 2, fixed)")},
      {"stored_as_f32_by_16", "matmul(m=200, n=100, k=328, bf16, weights=kn, output=f32)", schedule(128, 48, 64, 2, ".warps(1, 2, cooperative)")},
      {"gated", "matmul_swiglu(m=200, n=264, k=584, bf16)", gated(128, 128, 64, 3, ".warps(1, 2, cooperative)")},
      {"gated_by_96", "matmul_swiglu(m=200, n=136, k=328, bf16, weights=kn)", gated(128, 96, 64, 2, ".warps(1, 2, cooperative).persistent().raster(mo, 8)")},
      {"gated_in_turn", "matmul_swiglu(m=250, n=264, k=456, bf16)", gated(128, 64, 64, 3, ".warps(1, 2, pingpong).persistent().raster(mo, 2).evict(Wg, first).evict(Wu, first)")},
      {"gated_in_turn_by_terms", "matmul_swiglu(m=130, n=200, k=456, bf16, weights=kn)", gated(128, 48, 64, 3, ".warps(1, 2, pingpong).persistent().raster(no, 2).dependent_launch()")},
      {"gated_of_two_wgmmas", "matmul_swiglu(m=300, n=136, k=328, bf16)", gated(256, 64, 64, 2, ".warps(1, 2, cooperative).persistent()")},
      {"gated_deep", "matmul_swiglu(m=100, n=136, k=648, bf16, weights=kn)", gated(64, 48, 128, 2, ".warps(1, 1, cooperative).store_through(shared, 1)")},
      {"gated_deep_by_columns", "matmul_swiglu(m=100, n=136, k=648, bf16)", gated(64, 64, 128, 2, ".warps(1, 1, cooperative).blocks_per_sm(2).store_through(shared, 1)")},
      {"gated_by_three_consumers", "matmul_swiglu(m=200, n=136, k=456, bf16)", gated(192, 64, 64, 3, ".warps(1, 3, cooperative)")},
      {"gated_swapped", "matmul_swiglu(m=13, n=264, k=584, bf16)", gated(16, 128, 64, 4, ".warps(1, 2, cooperative).swap_operands()")},
      {"gated_swapped_deep", "matmul_swiglu(m=29, n=136, k=904, bf16, weights=kn)", gated(32, 64, 128, 3, ".warps(1, 1, cooperative).swap_operands().l2_promotion(Wgt, 128).l2_promotion(Wut, 128)")},
      {"gated_swapped_deep_by_columns", "matmul_swiglu(m=5, n=200, k=904, bf16)", gated(8, 128, 128, 3, ".warps(1, 2, cooperative).swap_operands()")},
      {"gated_swapped_of_two_wgmmas", "matmul_swiglu(m=13, n=264, k=456, bf16, weights=kn)", gated(16, 128, 64, 3, ".warps(1, 1, cooperative).swap_operands()")},
      {"gated_swapped_in_turn", "matmul_swiglu(m=13, n=328, k=456, bf16)", gated(16, 64, 64, 3, ".warps(1, 2, pingpong).swap_operands().persistent()")},
      {"gated_swapped_odd", "matmul_swiglu(m=30, n=200, k=456, f16, weights=kn)", gated(24, 192, 64, 2, ".warps(1, 3, cooperative).swap_operands().persistent()")},
      {"gated_f16", "matmul_swiglu(m=130, n=136, k=328, f16, weights=kn)", gated(128, 80, 64, 2, ".warps(1, 2, cooperative)")},
      {"gated_of_whole_sums", "matmul_swiglu(m=200, n=136, k=328, bf16, products=f32)", gated(128, 64, 64, 2, ".warps(1, 2, cooperative)")},
      {"gated_apart", "matmul_swiglu(m=200, n=136, k=328, bf16)", apart(128, 128, 64, 2, ".warps(1, 2, cooperative)", kLine)},
      {"gated_apart_in_turn", "matmul_swiglu(m=250, n=136, k=328, bf16, weights=kn)", apart(128, 80, 64, 3, ".warps(1, 2, pingpong).persistent()", kLine)},
      {"gated_apart_swapped", "matmul_swiglu(m=13, n=136, k=328, f16)", apart(16, 128, 64, 2, ".warps(1, 2, cooperative).swap_operands()", "y.rows(1, 32).vector(8).dependent_launch()")},
      {"gated_apart_of_whole_sums", "matmul_swiglu(m=70, n=136, k=328, bf16, products=f32)",
       apart(64, 64, 64, 2, ".warps(1, 1, cooperative)", "y.fuse(n, m, i).split(i, b, i, 1024, GuardWithIf).split(i, t, v, 4).gpu_blocks(b).gpu_threads(t).vectorize(v)")},
      {"gated_by_an_earlier_kernel", "matmul_swiglu(m=200, n=136, k=328, bf16)",
       ring_of("y", {"up_sum"}, 128, 64, 64, 3, ".warps(1, 2, cooperative).dependent_launch()") + "gate.compute_root()\n" +
           ring_of("gate", {"gate_sum"}, 128, 128, 64, 2, ".warps(1, 2, cooperative)")},
      {"layer_in_two_kernels", "ffn(m=150, h=136, n=200, k=264, bf16)",
       down(128, 64, 64, 3, ".warps(1, 2, pingpong).persistent().raster(mo, 8).dependent_launch()") + hidden(128, 64, 64, 3, ".warps(1, 2, pingpong).persistent().raster(mo, 8)")},
      {"layer_in_four_kernels", "ffn(m=150, h=136, n=200, k=264, bf16, weights=kn)",
       down(128, 80, 64, 3, ".warps(1, 2, cooperative).dependent_launch()") + apart(128, 96, 64, 3, ".warps(1, 2, cooperative)", kHiddenLine)},
      {"layer_of_few_rows", "ffn(m=13, h=136, n=264, k=328, f16)",
       down(16, 64, 128, 3, ".warps(1, 1, cooperative).swap_operands().dependent_launch()") + hidden(16, 128, 64, 3, ".warps(1, 2, cooperative).swap_operands()")},
  };
}

std::vector<std::string> layer_schedules() {
  return {down(128, 64, 64, 3, ".warps(1, 2, pingpong).persistent().dependent_launch()") + hidden(128, 64, 64, 3, ".warps(1, 2, pingpong).persistent()"),
          down(128, 128, 64, 2, ".warps(1, 2, cooperative)") + apart(64, 128, 64, 2, ".warps(1, 1, cooperative)", kHiddenLine),
          down(152, 64, 64, 2, ".warps(1, 1, cooperative).swap_operands().dependent_launch()") + hidden(128, 128, 64, 3, ".warps(1, 2, cooperative)")};
}

std::vector<std::string> gated_schedules() {
  const std::string gate = "gate.compute_root()\n" + ring_of("gate", {"gate_sum"}, 128, 128, 64, 2, ".warps(1, 2, cooperative)");
  return {gated(128, 128, 64, 3, ".warps(1, 2, cooperative)"), gated(128, 64, 128, 2, ".warps(1, 2, pingpong).persistent()"), gated(152, 64, 64, 2, ".warps(1, 1, cooperative).swap_operands()"),
          apart(128, 128, 64, 2, ".warps(1, 2, cooperative)", kLine), ring_of("y", {"up_sum"}, 128, 64, 64, 3, ".warps(1, 2, cooperative).dependent_launch()") + gate};
}

}  // namespace kiln::tests
