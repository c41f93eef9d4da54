// A generator that knows nothing of Kiln: three neighbours added up, twice.
#include <Halide.h>

namespace {

class Smooth : public Halide::Generator<Smooth> {
 public:
  Input<Buffer<float, 2>> input{"input"};
  Output<Buffer<float, 2>> output{"output"};

  void generate() {
    Halide::Func bounded = Halide::BoundaryConditions::repeat_edge(input);
    across(x, y) = bounded(x - 1, y) + bounded(x, y) + bounded(x + 1, y);
    output(x, y) = across(x, y - 1) + across(x, y) + across(x, y + 1);
  }

  void schedule() {
    input.set_estimates({{0, 512}, {0, 256}});
    output.set_estimates({{0, 512}, {0, 256}});
  }

 private:
  Halide::Var x{"x"}, y{"y"};
  Halide::Func across{"across"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Smooth, smooth)
