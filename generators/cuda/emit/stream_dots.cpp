// Dot products whose terms are neighbours in memory: a team of warps goes along the terms of a few columns; lanes and warps are combined in a fixed order.
#include <fmt/format.h>

#include "generators/cuda/emit/storage.h"
#include "generators/cuda/emit/stream_shapes.h"
#include "generators/cuda/emit/stream_sums.h"

namespace kiln::generators::cuda {
namespace {

class DotsKernel : public SumsKernel {
 public:
  using SumsKernel::SumsKernel;

 private:
  int sums() const { return plan().rows_at_once * plan().columns_per_team; }  // of a team
  bool has_shares() const { return plan().warps_per_team > 1; }

  void body() override {
    declare_lengths();
    if (has_shares()) {
      lines_.add("extern __shared__ __align__(1024) char smem_raw[];");
      lines_.add("const u32 shared = smem_u32(smem_raw);");
    }
    lines_.add("const int lane = threadIdx.x % 32;");
    if (has_shares()) {
      lines_.add(fmt::format("const int team = threadIdx.x / {}, share = threadIdx.x / 32 % {};", 32 * plan().warps_per_team, plan().warps_per_team));
    } else {
      lines_.add("const int team = threadIdx.x / 32;");
    }
    lines_.add(fmt::format("const int first = (blockIdx.x * {} + team) * {};", plan().teams, plan().columns_per_team));
    wait_for_the_kernel_before();
    lines_.add(fmt::format("float sums[{}][{}] = {{}};", plan().rows_at_once, plan().columns_per_team));
    accumulate();
    lines_.open_unrolled("r", plan().rows_at_once);
    lines_.add("#pragma unroll");
    lines_.add(fmt::format("for (int c = 0; c < {}; ++c) sums[r][c] = sum_of_warp(sums[r][c]);", plan().columns_per_team));
    lines_.close();
    if (has_shares()) {
      combine_shares();
    } else {
      store_own();
    }
  }

  void accumulate() {
    const int span = 32 * plan().vector * plan().accesses;
    const std::string from = has_shares() ? fmt::format("share * {}", span) : "0";
    lines_.open(fmt::format("for (int base = {}; base < terms; base += {})", from, span * plan().warps_per_team));
    lines_.add(fmt::format("{} {}[{}][{}];", vector_type(weights()), vectors(weights().name), plan().columns_per_team, plan().accesses));
    each_access([&] {
      lines_.add("#pragma unroll");
      lines_.add(fmt::format("for (int c = 0; c < {}; ++c)", plan().columns_per_team));
      lines_.add(fmt::format("  if (term < terms && first + c < columns) {}[c][v] = {};", vectors(weights().name), load(weights(), "(i64)(first + c) * terms + term")));
    });
    each_access([&] {
      lines_.open("if (term < terms)");
      lines_.open_unrolled("r", plan().rows_at_once);
      // Fewer rows than there are sums for: the last one again, whose sum nobody stores.
      const std::string row = plan().rows_at_once > 1 ? "min(r, rows - 1)" : "r";
      for (const Operand& one : computation().operands)
        if (one.reach == Reach::row_terms)
          lines_.add(fmt::format("const {} {} = {};", vector_type(one), vectors(one.name), load(one, fmt::format("(i64){} * terms + term", row))));
      lines_.open_unrolled("c", plan().columns_per_team);
      lines_.add("#pragma unroll");
      lines_.open(fmt::format("for (int i = 0; i < {}; ++i)", plan().vector));
      add_term("sums[r][c]");
      lines_.close();
      lines_.close();
      lines_.close();
      lines_.close();
    });
    lines_.close();
  }

  template <typename Do>
  void each_access(const Do& what) {
    lines_.open_unrolled("v", plan().accesses);
    lines_.add(fmt::format("const int term = base + (v * 32 + lane) * {};", plan().vector));
    what();
    lines_.close();
  }

  void store_own() {
    lines_.add("if (lane != 0) return;");
    lines_.open_unrolled("r", plan().rows_at_once);
    lines_.open_unrolled("c", plan().columns_per_team);
    lines_.add("const int row = r, column = first + c;");
    lines_.open("if (row < rows && column < columns)");
    lines_.add("float sum = sums[r][c];");
    store_element();
    lines_.close();
    lines_.close();
    lines_.close();
  }

  void combine_shares() {
    lines_.open("if (lane == 0)");
    lines_.open_unrolled("r", plan().rows_at_once);
    lines_.add("#pragma unroll");
    lines_.add(fmt::format("for (int c = 0; c < {0}; ++c) st_shared(shared + (((team * {1} + share) * {2} + r) * {0} + c) * 4, sums[r][c]);", plan().columns_per_team, plan().warps_per_team,
                           plan().rows_at_once));
    lines_.close();
    lines_.close();
    lines_.add("__syncthreads();");
    lines_.open(fmt::format("for (int t = threadIdx.x; t < {}; t += {})", plan().teams * sums(), plan().threads));
    lines_.add(fmt::format("const int of = t / {0}, at = t % {0};", sums()));
    lines_.add(fmt::format("const int row = at / {0}, column = (blockIdx.x * {1} + of) * {0} + at % {0};", plan().columns_per_team, plan().teams));
    lines_.open("if (row < rows && column < columns)");
    lines_.add("float sum = 0.0f;");
    lines_.add("#pragma unroll");
    lines_.add(fmt::format("for (int s = 0; s < {0}; ++s) sum += ld_shared<float>(shared + ((of * {0} + s) * {1} + at) * 4);", plan().warps_per_team, sums()));
    store_element();
    lines_.close();
    lines_.close();
  }

  std::string term_operand(const Operand& one) const override {
    return fmt::format("{}({}.w, i)", storage_of(one.type).at, one.reach == Reach::row_terms ? vectors(one.name) : vectors(one.name) + "[c][v]");
  }

  std::string header() const override {
    return "// Over the lanes of a warp: each of them gets the same bits.\n"
           "DEV float sum_of_warp(float v) {\n"
           "#pragma unroll\n"
           "  for (int distance = 16; distance > 0; distance /= 2) v = v + shfl_xor(v, distance);\n"
           "  return v;\n"
           "}\n";
  }
};

}  // namespace

KernelText emit_dots(const StreamPlan& plan, const std::string& name) { return DotsKernel(plan, name).emit(); }

}  // namespace kiln::generators::cuda
