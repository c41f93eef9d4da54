// All elements in one line: no thread needs another.
#include "generators/cuda/emit/stream_shapes.h"

#include <fmt/format.h>

#include "dsl/error.h"
#include "generators/cuda/emit/storage.h"

namespace kiln::generators::cuda {
namespace {

class FlatKernel : public StreamKernel {
 public:
  using StreamKernel::StreamKernel;

 private:
  void body() override {
    parameter(KernelParameter::Kind::elements, 0, "i64 elements");
    const std::int64_t span = std::int64_t{plan().threads} * plan().vector;
    wait_for_the_kernel_before();
    lines_.add(fmt::format("const i64 first = (i64)blockIdx.x * {} + threadIdx.x * {};", span * plan().accesses, plan().vector));
    for (const Operand& one : computation().operands)
      if (!one.is_written) declare_vectors(one, plan().accesses);
    each_access([&](const std::string& subscript, const std::string& at) {
      lines_.open(fmt::format("if ({} + {} <= elements)", at, plan().vector));
      for (const Operand& one : computation().operands)
        if (!one.is_written) load_vectors(one, subscript, at);
      lines_.close();
    });
    each_access([&](const std::string& subscript, const std::string& at) {
      subscript_ = subscript;
      lines_.open(fmt::format("if ({} + {} <= elements)", at, plan().vector));
      for (const Output& output : computation().outputs) store_vector(output, at);
      if (plan().vector > 1) rest(at);
      lines_.close();
    });
  }

  // The last elements, fewer than an access: one thread takes them one by one.
  void rest(const std::string& at) {
    is_one_by_one_ = true;
    lines_.reopen("else");
    lines_.open(fmt::format("for (i64 t = {}; t < elements; ++t)", at));
    for (const Output& output : computation().outputs) {
      const Operand& written = operand(static_cast<std::size_t>(output.operand));
      lines_.add(fmt::format("{}[t] = {};", pointer(written.name), stored_element(output, call(value_of(output).name))));
    }
    lines_.close();
    is_one_by_one_ = false;
  }

  template <typename Do>
  void each_access(const Do& what) {
    const std::int64_t span = std::int64_t{plan().threads} * plan().vector;
    if (plan().accesses == 1) return what("", "first");
    lines_.open_unrolled("v", plan().accesses);
    lines_.add(fmt::format("const i64 start = first + v * {};", span));
    what("[v]", "start");
    lines_.close();
  }

  std::string argument(const Expression& leaf) override {
    switch (leaf.op) {
      case Op::parameter: return scalar(leaf.name);
      case Op::load: {
        const Operand* one = computation().find_operand(leaf.name);
        KILN_CHECK(one != nullptr, "a flat kernel keeps no values: " + leaf.name);
        return is_one_by_one_ ? read_one(one->type, load_one(*one, "t")) : lane(*one, subscript_);
      }
      default:
        throw ScheduleError(fmt::format("{}: its value depends on where an element stands, which a line of elements does not say; write {}.rows(1, 256)",
                                        computation().name, computation().name));
    }
  }

  std::string subscript_;
  bool is_one_by_one_ = false;
};

}  // namespace

KernelText emit_flat(const StreamPlan& plan, const std::string& name) { return FlatKernel(plan, name).emit(); }

}  // namespace kiln::generators::cuda
