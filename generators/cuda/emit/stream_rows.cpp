// Whole rows: each in the registers of its threads; what is one value a row is combined through shuffles, shared memory and, in a cluster, the shared
// memory of the other blocks, in an order that the plan fixes.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "dsl/error.h"
#include "generators/cuda/emit/storage.h"
#include "generators/cuda/emit/stream_shapes.h"

namespace kiln::generators::cuda {
namespace {

std::string_view word_of(Op combine) {
  switch (combine) {
    case Op::mul: return "product";
    case Op::min: return "least";
    case Op::max: return "largest";
    default: return "sum";
  }
}

// What changes nothing when it is combined.
std::string_view neutral(Op combine) {
  switch (combine) {
    case Op::mul: return "1.0f";
    case Op::min: return "__uint_as_float(0x7f800000u)";
    case Op::max: return "__uint_as_float(0xff800000u)";
    default: return "0.0f";
  }
}

std::string combined(Op combine, const std::string& a, const std::string& b) {
  switch (combine) {
    case Op::mul: return fmt::format("{} * {}", a, b);
    case Op::min: return fmt::format("fminf({}, {})", a, b);
    case Op::max: return fmt::format("fmaxf({}, {})", a, b);
    default: return fmt::format("{} + {}", a, b);
  }
}

// So many neighbouring lanes have a slot each, all slots or a whole warp.
int lanes_for(int slots) {
  int lanes = 2;
  while (lanes < slots && lanes < 32) lanes *= 2;
  return lanes;
}

class RowsKernel : public StreamKernel {
 public:
  using StreamKernel::StreamKernel;

 private:
  bool has_clusters() const { return plan().cluster > 1; }
  bool is_masked() const { return !plan().has_whole_rows(); }
  bool shares_memory() const { return plan().shared_bytes() > 0; }

  void body() override {
    if (!plan().has_fixed_columns) parameter(KernelParameter::Kind::columns, 0, "int columns");
    if (plan().rows_per_block > 1 || uses_length_of_rows()) parameter(KernelParameter::Kind::rows, 0, "int rows");
    if (shares_memory()) {
      lines_.add("extern __shared__ __align__(1024) char smem_raw[];");
      lines_.add("const u32 shared = smem_u32(smem_raw);");
    }
    if (plan().has_fixed_columns) lines_.add(fmt::format("constexpr int columns = {};", computation().columns()));
    place();
    wait_for_the_kernel_before();
    load();
    int reduction = 0;
    for (const Value& value : computation().values) {
      if (is_stored_element(value)) continue;
      switch (value.kind) {
        case Value::Kind::element: keep(value); break;
        case Value::Kind::row: lines_.add(fmt::format("const {} {} = {};", value_type(value.type), local(value.name), call(value.name))); break;
        case Value::Kind::reduction: reduce(value, reduction++); break;
        case Value::Kind::dot: KILN_CHECK(false, "a sum for each element in a kernel of rows");
      }
    }
    store();
  }

  bool uses_length_of_rows() const {
    bool uses = false;
    for (const Value& value : computation().values)
      for_each_node(*value.expression, [&](const Expression& e) { uses |= e.op == Op::extent && e.name == "axis1"; });
    return uses;
  }

  // Whose elements go straight to memory.
  bool is_stored_element(const Value& value) const { return value.kind == Value::Kind::element && !value.is_kept; }

  void place() {
    const std::string block = has_clusters() ? fmt::format("blockIdx.x / {}", plan().cluster) : "blockIdx.x";
    if (plan().rows_per_block == 1) {
      lines_.add("const int lane = threadIdx.x;");
      lines_.add(fmt::format("const int row = {};", block));
    } else {
      lines_.add(fmt::format("const int lane = threadIdx.x % {0}, team = threadIdx.x / {0};", plan().threads_per_row));
      lines_.add(fmt::format("const int row = {} * {} + team;", block, plan().rows_per_block));
      lines_.add("if (row >= rows) return;");
    }
    if (has_clusters()) lines_.add("const int part = cluster_rank();");
    if (has_clusters() && computation().has_reductions()) lines_.add("cluster_arrive();  // every block runs before its shared memory is written");
    lines_.add("const i64 start = (i64)row * columns;");
    if (plan().accesses == 1)
      lines_.add(fmt::format("const int column = {};", has_clusters() ? fmt::format("(part * {} + lane) * {}", plan().threads_per_row, plan().vector)
                                                                      : fmt::format("lane * {}", plan().vector)));
  }

  std::string column_of(const std::string& access) const {
    const std::string index = has_clusters() ? fmt::format("({} * {} + part)", access, plan().cluster) : access;
    return fmt::format("({} * {} + lane) * {}", index, plan().threads_per_row, plan().vector);
  }

  // Runs `what` for each access of this thread; `subscript` is that of arrays of accesses.
  template <typename Do>
  void each_access(const Do& what) {
    const bool is_one = plan().accesses == 1;
    if (!is_one) {
      lines_.open_unrolled("v", plan().accesses);
      lines_.add(fmt::format("const int column = {};", column_of("v")));
    }
    subscript_ = is_one ? "" : "[v]";
    if (is_masked()) lines_.open("if (column < columns)");
    what();
    if (is_masked()) lines_.close();
    if (!is_one) lines_.close();
  }

  void load() {
    for (const Operand& one : computation().operands)
      if (!one.is_written && one.reach != Reach::row) declare_vectors(one, plan().accesses);
    each_access([&] {
      for (const Operand& one : computation().operands)
        if (!one.is_written && one.reach != Reach::row) load_vectors(one, subscript_, one.reach == Reach::every ? "start + column" : "column");
    });
    for (const Operand& one : computation().operands)
      if (!one.is_written && one.reach == Reach::row)
        lines_.add(fmt::format("const {} {} = {};", value_type(one.type), vectors(one.name), read_one(one.type, load_one(one, "row"))));
  }

  void keep(const Value& value) {
    const std::string accesses = plan().accesses > 1 ? fmt::format("[{}]", plan().accesses) : "";
    lines_.add(fmt::format("{} {}{}[{}];", value_type(value.type), local(value.name), accesses, plan().vector));
    each_access([&] {
      lines_.add("#pragma unroll");
      lines_.add(fmt::format("for (int i = 0; i < {}; ++i) {}{}[i] = {};", plan().vector, local(value.name), subscript_, call(value.name)));
    });
  }

  void reduce(const Value& value, int reduction) {
    if (value.type != kFloat32) throw ScheduleError(fmt::format("{}: {} is a {} of {}; a row's are of f32", computation().name, value.name, word_of(value.combine), print(value.type)));
    const std::string name = local(value.name);
    lines_.add(fmt::format("float {} = {};", name, neutral(value.combine)));
    each_access([&] {
      lines_.add("#pragma unroll");
      lines_.add(fmt::format("for (int i = 0; i < {}; ++i) {} = {};", plan().vector, name, combined(value.combine, name, call(value.name))));
    });
    if (has_clusters() && reduction == 0) lines_.add("cluster_wait();");
    const int slots = plan().slots_per_row() * 4, offset = reduction * plan().rows_per_block * slots;
    std::string memory;
    if (plan().slots_per_row() > 1) {
      const std::string at = offset > 0 ? fmt::format("shared + {}", offset) : "shared";
      memory = plan().rows_per_block > 1 ? fmt::format(", {} + team * {}, lane, 1 + team", at, slots) : fmt::format(", {}, lane", at);
      if (has_clusters()) memory += ", part";
    }
    lines_.add(fmt::format("{} = {}_of_row({}{});", name, word_of(value.combine), name, memory));
    const std::string first = literal(*initial_of(value));
    if (first != neutral(value.combine)) lines_.add(fmt::format("{} = {};", name, combined(value.combine, first, name)));
  }

  ExpressionPtr initial_of(const Value& value) const {
    if (value.initial->op != Op::constant)
      throw ScheduleError(fmt::format("{}: {} starts from {}, and a row's {} from a constant", computation().name, value.name, print(*value.initial), word_of(value.combine)));
    return value.initial;
  }

  void store() {
    const auto is_element = [&](const Output& output) { return value_of(output).kind == Value::Kind::element; };
    if (std::any_of(computation().outputs.begin(), computation().outputs.end(), is_element))
      each_access([&] {
        for (const Output& output : computation().outputs)
          if (is_element(output)) store_vector(output, "start + column");
      });
    for (const Output& output : computation().outputs) {
      if (is_element(output)) continue;
      const Operand& written = operand(static_cast<std::size_t>(output.operand));
      lines_.add(fmt::format("if (lane == 0{}) {}[row] = {};", has_clusters() ? " && part == 0" : "", pointer(written.name), stored_one(written.type, local(value_of(output).name))));
    }
  }

  std::string argument(const Expression& leaf) override {
    if (leaf.op == Op::parameter) return scalar(leaf.name);
    if (leaf.op == Op::extent || leaf.op == Op::loop) return of_axis(leaf);
    if (const Value* value = computation().find_value(leaf.name))
      return value->kind == Value::Kind::element ? fmt::format("{}{}[i]", local(leaf.name), subscript_) : local(leaf.name);
    const Operand& one = *computation().find_operand(leaf.name);
    return one.reach == Reach::row ? vectors(one.name) : lane(one, subscript_);
  }

  std::string of_axis(const Expression& leaf) const {
    const bool is_length = leaf.op == Op::extent;
    if (leaf.name == "axis0") return is_length ? "columns" : "column + i";
    if (leaf.name == "axis1" && computation().axes.size() == 2) return is_length ? "rows" : "row";
    throw ScheduleError(fmt::format("{}: a value depends on '{}', which is one of several loops over rows; a kernel counts rows in one", computation().name,
                                    computation().axes[static_cast<std::size_t>(std::stoi(leaf.name.substr(4)))].loop));
  }

  // ---- one function for each way to combine that the kernel uses
  std::string header() const override {
    std::set<Op> ways;
    for (const Value& value : computation().values)
      if (value.kind == Value::Kind::reduction) ways.insert(value.combine);
    std::string text;
    for (const Op way : ways) text += combine_function(way);
    return text;
  }

  std::string combine_function(Op way) const {
    const int slots = plan().slots_per_row(), lanes = lanes_for(slots);
    Lines lines;
    lines.add(fmt::format("// Over the {} threads of a row, lanes of a warp first: each of them gets the same bits.", plan().threads_per_row * plan().cluster));
    std::string list = "float v";
    if (slots > 1) list += plan().rows_per_block > 1 ? ", u32 slots, int lane, int barrier" : ", u32 slots, int lane";
    if (slots > 1 && has_clusters()) list += ", int part";
    lines.open(fmt::format("DEV float {}_of_row({})", word_of(way), list));
    tree(lines, way, "v", 16);
    if (slots > 1) {
      exchange(lines);
      if (slots == lanes) {
        lines.add(fmt::format("v = ld_shared<float>(slots + lane % {} * 4);", lanes));
      } else if (slots <= 32) {
        lines.add(fmt::format("v = lane % {0} < {1} ? ld_shared<float>(slots + lane % {0} * 4) : {2};", lanes, slots, neutral(way)));
      } else {
        lines.add(fmt::format("v = {};", neutral(way)));
        lines.add(fmt::format("for (int slot = lane % 32; slot < {}; slot += 32) v = {};", slots, combined(way, "v", "ld_shared<float>(slots + slot * 4)")));
      }
      tree(lines, way, "v", lanes / 2);
    }
    lines.add("return v;");
    lines.close();
    return lines.text();
  }

  static void tree(Lines& lines, Op way, const std::string& v, int from) {
    lines.add("#pragma unroll");
    lines.add(fmt::format("for (int distance = {}; distance > 0; distance /= 2) {} = {};", from, v, combined(way, v, fmt::format("shfl_xor({}, distance)", v))));
  }

  // Each warp's result into its slot, of this block or of every block of the cluster.
  void exchange(Lines& lines) const {
    if (has_clusters()) {
      lines.add(fmt::format("if (lane % 32 < {}) st_cluster(mapa(slots + (part * {} + lane / 32) * 4, lane % 32), v);", plan().cluster, plan().warps_per_row()));
      lines.add("cluster_sync();");
      return;
    }
    lines.add("if (lane % 32 == 0) st_shared(slots + lane / 32 * 4, v);");
    if (plan().rows_per_block == 1) {
      lines.add("__syncthreads();");
    } else {
      lines.add(fmt::format("bar_sync(barrier, {});", plan().threads_per_row));
    }
  }

  std::string subscript_;
};

}  // namespace

KernelText emit_rows(const StreamPlan& plan, const std::string& name) { return RowsKernel(plan, name).emit(); }

}  // namespace kiln::generators::cuda
