// A layer of a network: 3x3 convolution over channels with bias and ReLU for a batch of pictures that come with their border of one pixel.
// Channels innermost, then x, y, picture.

#include <Halide.h>

#include "dsl/registration.h"

namespace {

class ConvLayer : public Halide::Generator<ConvLayer> {
 public:
  Input<Buffer<float, 4>> input{"input"};    // ci, x, y, n
  Input<Buffer<float, 4>> filter{"filter"};  // co, ci, x, y
  Input<Buffer<float, 1>> bias{"bias"};
  Output<Buffer<float, 4>> output{"output"};  // co, x, y, n

  void generate() {
    tap = RDom({{0, filter.dim(1).extent()}, {0, filter.dim(2).extent()}, {0, filter.dim(3).extent()}}, "tap");
    sum(co, x, y, n) = bias(co);
    sum(co, x, y, n) += filter(co, tap.x, tap.y, tap.z) * input(tap.x, x + tap.y, y + tap.z, n);
    output(co, x, y, n) = max(sum(co, x, y, n), 0.0f);
  }

  void schedule() {
    input.set_estimates({{0, 128}, {0, 102}, {0, 82}, {0, 5}});
    filter.set_estimates({{0, 128}, {0, 128}, {0, 3}, {0, 3}});
    bias.set_estimates({{0, 128}});
    output.set_estimates({{0, 128}, {0, 100}, {0, 80}, {0, 5}});
    if (using_autoscheduler()) return;
    // A register tile of four vectors of channels by five pixels; a block of filters serves a row of pixels before the next block is read.
    const int lanes = natural_vector_size<float>();
    Var block("block"), channel("channel"), place("place"), pixel("pixel");
    output.split(co, block, channel, 4 * lanes).split(x, place, pixel, 5).reorder(channel, pixel, place, block, y, n);
    output.vectorize(channel, lanes).unroll(channel).unroll(pixel).parallel(y).parallel(n);
    sum.compute_at(output, place).vectorize(co, lanes).unroll(co).unroll(x);
    sum.update().reorder(co, x, tap.x, tap.y, tap.z).vectorize(co, lanes).unroll(co).unroll(x).unroll(tap.x, 2);
  }

 private:
  Var co{"co"}, x{"x"}, y{"y"}, n{"n"};
  RDom tap;
  Func sum{"sum"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(ConvLayer, conv_layer)

KILN_REGISTER(conv_layer)
    .symbol("co", "filter.0 bias.0 output.0")
    .symbol("ci", "input.0 filter.1")
    .symbol("taps", "filter.2 filter.3")
    .symbol("n", "input.3 output.3");
