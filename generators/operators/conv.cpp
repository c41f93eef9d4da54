// A 3x3 convolution over channels with zeros around the image: y(co, x, y) = bias(co) + sum of filter(co, ci, dx, dy) * input(ci, x+dx-1, y+dy-1),
// channels innermost, ReLU unless told otherwise.

#include <Halide.h>

#include "dsl/registration.h"

namespace {

class Conv : public Halide::Generator<Conv> {
 public:
  GeneratorParam<bool> relu{"relu", true};

  Input<Buffer<float, 3>> input{"input"};
  Input<Buffer<float, 4>> filter{"filter"};
  Input<Buffer<float, 1>> bias{"bias"};
  Output<Buffer<float, 3>> output{"output"};

  void generate() {
    Var ci("ci"), co("co"), x("x"), y("y");
    const Expr width = input.dim(1).extent(), height = input.dim(2).extent();
    Func padded("padded"), c("c"), result("y");
    const Expr inside = x >= 0 && x < width && y >= 0 && y < height;
    padded(ci, x, y) = select(inside, input(ci, clamp(x, 0, width - 1), clamp(y, 0, height - 1)), 0.0f);
    RDom r({{0, input.dim(0).extent()}, {0, 3}, {0, 3}}, "r");
    c(co, x, y) = bias(co);
    c(co, x, y) += filter(co, r.x, r.y, r.z) * padded(r.x, x + r.y - 1, y + r.z - 1);
    result(co, x, y) = relu ? max(c(co, x, y), 0.0f) : Expr(c(co, x, y));
    output = result;
  }

  void schedule() {
    input.set_estimates({{0, 64}, {0, 96}, {0, 64}});
    filter.set_estimates({{0, 64}, {0, 64}, {0, 3}, {0, 3}});
    bias.set_estimates({{0, 64}});
    output.set_estimates({{0, 64}, {0, 96}, {0, 64}});
  }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Conv, conv)

KILN_REGISTER(conv)
    .symbol("co", "filter.0 bias.0 output.0")
    .symbol("ci", "input.0 filter.1")
    .symbol("w", "input.1 output.1")
    .symbol("h", "input.2 output.2")
    .symbol("taps", "filter.2 filter.3")
    .contract(kiln::Contract::bounded);
