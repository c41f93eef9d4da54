#include "tests/generators/cuda/ring/instances.h"

#include <fmt/format.h>

namespace kiln::tests {
namespace {

// A tile of m × n, steps of k, and further words of the kernel and of the sum, and how it is added.
std::string schedule(int m, int n, int k, int stages, const std::string& kernel, const std::string& sum = "", const std::string& sums = "") {
  return fmt::format("y.tile(n, m, no, mo, ni, mi, {}, {}, GuardWithIf).gpu_blocks(no, mo){}\nc.compute_at(y, no)\n"
                     "c.update(0).split(k, ko, ki, {}).stage_in(ko, shared, {}).tensorize(ki, wgmma{}){}\n",
                     n, m, kernel, k, stages, sums, sum);
}

}  // namespace

std::vector<RingInstance> ring_instances() {
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
      {"stored_as_f32_by_16", "matmul(m=200, n=100, k=328, bf16, weights=kn, output=f32)", schedule(128, 48, 64, 2, ".warps(1, 2, cooperative)")},
  };
}

}  // namespace kiln::tests
