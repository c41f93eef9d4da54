// A convolution in two cheap steps: 3x3 within each channel, then over the channels of each pixel, with bias and ReLU; zeros around the pictures.
// Channels innermost, then x, y, picture.

#include <Halide.h>

#include "dsl/registration.h"

namespace {

class DepthwiseSeparableConv : public Halide::Generator<DepthwiseSeparableConv> {
 public:
  Input<Buffer<float, 4>> input{"input"};          // ci, x, y, n
  Input<Buffer<float, 3>> depthwise{"depthwise"};  // ci, x, y
  Input<Buffer<float, 2>> pointwise{"pointwise"};  // co, ci
  Input<Buffer<float, 1>> bias{"bias"};
  Output<Buffer<float, 4>> output{"output"};       // co, x, y, n

  void generate() {
    const Expr width = input.dim(1).extent(), height = input.dim(2).extent();
    const Expr inside = x >= 0 && x < width && y >= 0 && y < height;
    padded(ci, x, y, n) = select(inside, input(ci, clamp(x, 0, width - 1), clamp(y, 0, height - 1), n), 0.0f);
    tap = RDom(0, 3, 0, 3, "tap");
    filtered(ci, x, y, n) += depthwise(ci, tap.x, tap.y) * padded(ci, x + tap.x - 1, y + tap.y - 1, n);
    channel = RDom(0, pointwise.dim(1).extent(), "channel");
    sum(co, x, y, n) = bias(co);
    sum(co, x, y, n) += pointwise(co, channel) * filtered(channel, x, y, n);
    output(co, x, y, n) = max(sum(co, x, y, n), 0.0f);
  }

  void schedule() {
    input.set_estimates({{0, 32}, {0, 112}, {0, 112}, {0, 4}});
    depthwise.set_estimates({{0, 32}, {0, 3}, {0, 3}});
    pointwise.set_estimates({{0, 16}, {0, 32}});
    bias.set_estimates({{0, 16}});
    output.set_estimates({{0, 16}, {0, 112}, {0, 112}, {0, 4}});
    if (using_autoscheduler()) return;
    // Strips of rows, whose padded rows are copied once. A row goes through the first step channel by channel, its nine weights in registers; then
    // runs of pixels through the second, a vector of channels by fourteen pixels in registers.
    const int lanes = natural_vector_size<float>();
    Var strip("strip"), row("row"), run("run"), pixel("pixel"), block("block"), lane("lane");
    output.split(co, block, lane, lanes).split(y, strip, row, 8, TailStrategy::GuardWithIf).split(x, run, pixel, 14);
    output.reorder(lane, pixel, block, run, row, strip, n).vectorize(lane).unroll(pixel).parallel(strip).parallel(n);
    padded.compute_at(output, strip).vectorize(ci, lanes);
    filtered.compute_at(output, row).vectorize(ci, lanes);
    filtered.update().reorder(tap.x, tap.y, x, ci, y).vectorize(ci, lanes).unroll(tap.x).unroll(tap.y).unroll(x, 4);
    sum.compute_at(output, block).vectorize(co).unroll(x);
    sum.update().reorder(co, x, channel, y).vectorize(co).unroll(x);
  }

 private:
  Var ci{"ci"}, co{"co"}, x{"x"}, y{"y"}, n{"n"};
  RDom tap, channel;
  Func padded{"padded"}, filtered{"filtered"}, sum{"sum"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(DepthwiseSeparableConv, depthwise_separable_conv)

KILN_REGISTER(depthwise_separable_conv)
    .symbol("ci", "input.0 depthwise.0 pointwise.1")
    .symbol("co", "pointwise.0 bias.0 output.0")
    .symbol("w", "input.1 output.1")
    .symbol("h", "input.2 output.2")
    .symbol("n", "input.3 output.3");
