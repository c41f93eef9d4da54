// A matrix that is read by columns: tiles go through shared memory, whole lines on both sides. A thread turns a square in registers on the way in; units of
// 16 bytes are exclusive-ored with the square's row so that neither side has bank conflicts.
#include <fmt/format.h>

#include "dsl/error.h"
#include "generators/cuda/emit/storage.h"
#include "generators/cuda/emit/stream_shapes.h"

namespace kiln::generators::cuda {
namespace {

class TurnedKernel : public StreamKernel {
 public:
  using StreamKernel::StreamKernel;

 private:
  const Operand& turned() const {
    for (const Operand& one : computation().operands)
      if (one.reach == Reach::turned) return one;
    KILN_CHECK(false, "a turned kernel without a turned operand");
  }
  int side() const { return plan().vector; }
  int units_across() const { return plan().tile_columns / side(); }  // 16-byte units in a row of the tile
  int units_down() const { return plan().tile_rows / side(); }
  int row_bytes() const { return plan().tile_columns * turned().type.bytes(); }

  void body() override {
    parameter(KernelParameter::Kind::columns, 0, "int columns");
    parameter(KernelParameter::Kind::rows, 0, "int rows");
    lines_.add("extern __shared__ __align__(1024) char smem_raw[];");
    lines_.add("const u32 shared = smem_u32(smem_raw);");
    const std::string across = fmt::format("((columns + {}) / {})", plan().tile_columns - 1, plan().tile_columns), down = fmt::format("((rows + {}) / {})", plan().tile_rows - 1, plan().tile_rows);
    if (plan().is_down_first) {
      lines_.add(fmt::format("const int tile_row = blockIdx.x % {0} * {1}, tile_column = blockIdx.x / {0} * {2};", down, plan().tile_rows, plan().tile_columns));
    } else {
      lines_.add(fmt::format("const int tile_row = blockIdx.x / {0} * {1}, tile_column = blockIdx.x % {0} * {2};", across, plan().tile_rows, plan().tile_columns));
    }
    wait_for_the_kernel_before();
    turn_in();
    lines_.add("__syncthreads();");
    write_out();
  }

  // Neighbouring threads take squares that are neighbours in the operand's memory.
  void turn_in() {
    lines_.open("");
    lines_.add(fmt::format("const int below = threadIdx.x % {0}, across = threadIdx.x / {0};  // the square", units_down()));
    lines_.add(fmt::format("const int row = tile_row + below * {0}, column = tile_column + across * {0};", side()));
    lines_.add(fmt::format("Vec<16> lines[{0}], turned[{0}];", side()));
    lines_.open("if (row < rows && column < columns)");
    lines_.add("#pragma unroll");
    lines_.add(fmt::format("for (int i = 0; i < {}; ++i) lines[i] = {};", side(), load(turned(), "(i64)(column + i) * rows + row")));
    lines_.close();
    lines_.add(fmt::format("turn_{}(lines, turned);", 8 * turned().type.bytes()));
    lines_.add("#pragma unroll");
    lines_.add(fmt::format("for (int i = 0; i < {0}; ++i) st_shared(shared + (below * {0} + i) * {1} + (across ^ below % 8) * 16, turned[i]);", side(), row_bytes()));
    lines_.close();
  }

  void write_out() {
    lines_.open_unrolled("v", side());
    lines_.add(fmt::format("const int t = v * {} + threadIdx.x, unit = t % {}, line = t / {};", plan().threads, units_across(), units_across()));
    lines_.add(fmt::format("const int row = tile_row + line, column = tile_column + unit * {};", side()));
    lines_.open("if (row < rows && column < columns)");
    lines_.add("const i64 at = (i64)row * columns + column;");
    lines_.add(fmt::format("const Vec<16> {} = ld_shared<Vec<16>>(shared + line * {} + (unit ^ line / {} % 8) * 16);", vectors(turned().name), row_bytes(), side()));
    for (const Operand& one : computation().operands)
      if (!one.is_written && one.reach == Reach::every) lines_.add(fmt::format("const Vec<16> {} = {};", vectors(one.name), load(one, "at")));
    for (const Output& output : computation().outputs) store_vector(output, "at");
    lines_.close();
    lines_.close();
  }

  std::string argument(const Expression& leaf) override {
    if (leaf.op == Op::parameter) return scalar(leaf.name);
    if (leaf.op == Op::load) return lane(*computation().find_operand(leaf.name), "");
    if (leaf.name == "axis0") return leaf.op == Op::extent ? "columns" : "column + i";
    return leaf.op == Op::extent ? "rows" : "row";
  }
};

}  // namespace

KernelText emit_turned(const StreamPlan& plan, const std::string& name) { return TurnedKernel(plan, name).emit(); }

}  // namespace kiln::generators::cuda
