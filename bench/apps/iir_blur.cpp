// A recursive blur: along every column each value becomes alpha of itself and 1 - alpha of its neighbour, down and then up; the picture is turned on
// its diagonal, blurred so again, and turned back. Planes of x, y, channel.

#include <Halide.h>

#include "dsl/registration.h"

namespace {

class IirBlur : public Halide::Generator<IirBlur> {
 public:
  Input<Buffer<float, 3>> input{"input"};
  Input<float> alpha{"alpha", 0.5f, 0.0f, 1.0f};
  Output<Buffer<float, 3>> output{"output"};

  void generate() {
    const Expr width = input.dim(0).extent(), height = input.dim(1).extent();
    // Columns beyond the right edge are asked for by vectors only.
    const Func columns = Halide::BoundaryConditions::repeat_edge(input, {{0, width}, {0, height}, {Expr(), Expr()}});
    down_up(vertical, columns, height);
    turned(x, y, c) = vertical(y, x, c);
    const Func rows = Halide::BoundaryConditions::repeat_edge(turned, {{0, height}, {0, width}, {Expr(), Expr()}});
    down_up(horizontal, rows, width);
    output(x, y, c) = horizontal(y, x, c);
  }

  void schedule() {
    input.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
    alpha.set_estimate(0.5f);
    output.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
    if (using_autoscheduler()) return;
    schedule_pass(vertical, turned);
    schedule_pass(horizontal, output);
    turned.compute_root();
  }

 private:
  void down_up(Func& pass, const Func& from, const Expr& extent) {
    RDom down(1, extent - 1, "down"), up(1, extent - 1, "up");
    pass(x, y, c) = from(x, y, c);
    pass(x, down, c) = alpha * pass(x, down, c) + (1.0f - alpha) * pass(x, down - 1, c);
    const Expr from_below = extent - 1 - up;
    pass(x, from_below, c) = alpha * pass(x, from_below, c) + (1.0f - alpha) * pass(x, from_below + 1, c);
  }

  // Whole columns of a channel, two vectors wide, are a task: they stay in the second cache from the first scan to the turned store, and the two
  // vectors hide each other's latency.
  void schedule_pass(Func pass, Func turned_pass) {
    const int lanes = natural_vector_size<float>();
    Var columns("columns"), column("column"), across("across");
    turned_pass.split(y, columns, column, 2 * lanes).split(x, x, across, lanes).reorder(across, column, x, columns, c);
    turned_pass.vectorize(across).unroll(column, 4).parallel(columns).parallel(c);
    pass.compute_at(turned_pass, columns).vectorize(x, lanes).unroll(x);
    for (int scan = 0; scan < 2; ++scan) {
      const RVar along(pass.rvars(scan)[0]);
      pass.update(scan).reorder(x, along).vectorize(x, lanes).unroll(x);
    }
  }

  Var x{"x"}, y{"y"}, c{"c"};
  Func vertical{"vertical"}, turned{"turned"}, horizontal{"horizontal"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(IirBlur, iir_blur)

KILN_REGISTER(iir_blur).symbol("w", "input.0 output.0").symbol("h", "input.1 output.1").symbol("c", "input.2 output.2");
