// Sums whose columns are neighbours in memory: threads side by side take vectors of columns, groups of them, and the blocks of a cluster, share the terms; they
// are combined in a fixed order through shared memory.
#include <fmt/format.h>

#include "generators/cuda/emit/storage.h"
#include "generators/cuda/emit/stream_shapes.h"
#include "generators/cuda/emit/stream_sums.h"

namespace kiln::generators::cuda {
namespace {

class StripsKernel : public SumsKernel {
 public:
  using SumsKernel::SumsKernel;

 private:
  bool has_clusters() const { return plan().cluster > 1; }
  int width() const { return plan().lanes * plan().vector; }       // columns of a block
  int sums() const { return plan().rows_at_once * width(); }       // of a block

  void body() override {
    declare_lengths();
    lines_.add("extern __shared__ __align__(1024) char smem_raw[];");
    lines_.add("const u32 shared = smem_u32(smem_raw);");
    lines_.add(fmt::format("const int lane = threadIdx.x % {0}, group = threadIdx.x / {0};", plan().lanes));
    if (has_clusters()) lines_.add("const int part = cluster_rank();");
    lines_.add(fmt::format("const int start = blockIdx.x{} * {};", has_clusters() ? fmt::format(" / {}", plan().cluster) : "", width()));
    wait_for_the_kernel_before();
    lines_.add(fmt::format("float sums[{}][{}] = {{}};", plan().rows_at_once, plan().vector));
    accumulate();
    share();
    combine();
  }

  void accumulate() {
    const int span = plan().accesses * plan().groups;
    const std::string from = has_clusters() ? fmt::format("(part * {} + group) * {}", plan().groups, plan().accesses) : fmt::format("group * {}", plan().accesses);
    lines_.open(fmt::format("if (start + lane * {} < columns)", plan().vector));
    lines_.open(fmt::format("for (int base = {}; base < terms; base += {})", from, span * plan().cluster));
    lines_.add(fmt::format("{} {}[{}];", vector_type(weights()), vectors(weights().name), plan().accesses));
    lines_.add("#pragma unroll");
    lines_.add(fmt::format("for (int v = 0; v < {}; ++v) {}[v] = {};", plan().accesses, vectors(weights().name),
                           load(weights(), fmt::format("(i64)(base + v) * columns + start + lane * {}", plan().vector))));
    for (const Operand& one : computation().operands)
      if (one.reach == Reach::row_terms) load_terms_of_rows(one);
    // Rows innermost: a weight is widened once for all of them.
    lines_.open_unrolled("v", plan().accesses);
    lines_.open_unrolled("i", plan().vector);
    lines_.add("#pragma unroll");
    lines_.open(fmt::format("for (int r = 0; r < {}; ++r)", plan().rows_at_once));
    add_term("sums[r][i]");
    lines_.close();
    lines_.close();
    lines_.close();
    lines_.close();
    lines_.close();
  }

  // As many terms of a row as accesses are under way; in one access where they make a word or more.
  bool is_in_vector(const Operand& one) const {
    const int bytes = plan().accesses * one.type.bytes();
    return bytes == 4 || bytes == 8 || bytes == 16 || bytes == 32;
  }

  void load_terms_of_rows(const Operand& one) {
    // Fewer rows than there are sums for: the last one again, whose sum nobody stores.
    const std::string at = fmt::format("(i64){} * terms + base", plan().rows_at_once > 1 ? "min(r, rows - 1)" : "r");
    const int bytes = plan().accesses * one.type.bytes(), rows = plan().rows_at_once;
    if (is_in_vector(one)) {
      lines_.add(fmt::format("Vec<{}> {}[{}];", bytes, vectors(one.name), rows));
      lines_.add("#pragma unroll");
      lines_.add(fmt::format("for (int r = 0; r < {}; ++r) {}[r] = load_stream<{}, {}>({} + {});", rows, vectors(one.name), bytes, load_word(one), pointer(one.name), at));
      return;
    }
    lines_.add(fmt::format("{} {}[{}][{}];", value_type(one.type), vectors(one.name), rows, plan().accesses));
    lines_.open_unrolled("r", rows);
    lines_.add("#pragma unroll");
    lines_.add(fmt::format("for (int v = 0; v < {}; ++v) {}[r][v] = {};", plan().accesses, vectors(one.name), read_one(one.type, load_one(one, at + " + v"))));
    lines_.close();
  }

  void share() {
    lines_.open_unrolled("r", plan().rows_at_once);
    lines_.add("#pragma unroll");
    lines_.add(fmt::format("for (int i = 0; i < {}; ++i) st_shared(shared + ((group * {} + r) * {} + lane * {} + i) * 4, sums[r][i]);", plan().vector, plan().rows_at_once, width(), plan().vector));
    lines_.close();
    lines_.add("__syncthreads();");
  }

  void combine() {
    if (has_clusters()) lines_.add(fmt::format("const u32 of_block = shared + {};", 4 * plan().groups * sums()));
    lines_.open(fmt::format("for (int t = threadIdx.x; t < {}; t += {})", sums(), plan().threads));
    lines_.add("float sum = 0.0f;");
    lines_.add("#pragma unroll");
    lines_.add(fmt::format("for (int g = 0; g < {}; ++g) sum += ld_shared<float>(shared + (g * {} + t) * 4);", plan().groups, sums()));
    if (has_clusters()) {
      lines_.add("st_shared(of_block + t * 4, sum);");
      lines_.close();
      lines_.add("cluster_sync();");
      lines_.open(fmt::format("for (int t = threadIdx.x * {0} + part; t < {1}; t += {2})", plan().cluster, sums(), plan().threads * plan().cluster));
      lines_.add("float sum = 0.0f;");
      lines_.add("#pragma unroll");
      lines_.add(fmt::format("for (int b = 0; b < {}; ++b) sum += ld_cluster(mapa(of_block + t * 4, b));", plan().cluster));
    }
    lines_.add(fmt::format("const int row = t / {0}, column = start + t % {0};", width()));
    lines_.open("if (row < rows && column < columns)");
    store_element();
    lines_.close();
    lines_.close();
    if (has_clusters()) lines_.add("cluster_sync();  // nobody leaves while its shared memory is read");
  }

  std::string term_operand(const Operand& one) const override {
    if (one.reach != Reach::row_terms) return fmt::format("{}({}[v].w, i)", storage_of(one.type).at, vectors(one.name));
    return is_in_vector(one) ? fmt::format("{}({}[r].w, v)", storage_of(one.type).at, vectors(one.name)) : vectors(one.name) + "[r][v]";
  }
};

}  // namespace

KernelText emit_strips(const StreamPlan& plan, const std::string& name) { return StripsKernel(plan, name).emit(); }

}  // namespace kiln::generators::cuda
