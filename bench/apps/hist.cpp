// Histogram equalisation of an 8-bit colour picture: every pixel is lifted by what its brightness gains when the brightnesses are spread evenly over
// 0..255; colour differences stay. Whole numbers throughout, so that every schedule gives the same bits. Planes of x, y, channel.

#include <Halide.h>

#include "dsl/registration.h"

namespace {

class Hist : public Halide::Generator<Hist> {
 public:
  Input<Buffer<uint8_t, 3>> input{"input"};
  Output<Buffer<uint8_t, 3>> output{"output"};

  void generate() {
    const Expr width = input.dim(0).extent(), height = input.dim(1).extent();
    const Func clamped = Halide::BoundaryConditions::repeat_edge(input, {{0, width}, {0, height}, {Expr(), Expr()}});
    const auto channel = [&](int i) { return cast<uint16_t>(clamped(x, y, i)); };
    luma(x, y) = cast<uint8_t>((77 * channel(0) + 150 * channel(1) + 29 * channel(2) + 128) / 256);

    pixel = RDom(0, width, 0, height, "pixel");
    counts(level) = cast<uint32_t>(0);
    counts(luma(pixel.x, pixel.y)) += cast<uint32_t>(1);
    RDom step(1, kLevels - 1, "step");
    at_most(level) = counts(level);
    at_most(step) += at_most(step - 1);
    // The product fits 32 bits up to 16 million pixels.
    const Expr pixels = cast<uint32_t>(width) * cast<uint32_t>(height);
    lift(level) = cast<int16_t>(at_most(level) * cast<uint32_t>(kLevels - 1) / pixels) - cast<int16_t>(level);

    lifted(x, y) = lift(luma(x, y));
    output(x, y, c) = cast<uint8_t>(clamp(cast<int16_t>(input(x, y, c)) + lifted(x, y), 0, kLevels - 1));
  }

  void schedule() {
    input.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
    output.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
    if (using_autoscheduler()) return;
    // Each strip of rows counts into a table of its own; the tables are added. In the second sweep a row looks its lifts up one by one, which is faster
    // than putting vectors of looked-up values together, and then serves the three channels.
    const int bytes = natural_vector_size<uint8_t>();
    Var strip("strip"), row("row"), part("part");
    RVar rows("rows"), line("line");
    luma.compute_root().split(y, strip, row, 32, TailStrategy::GuardWithIf).parallel(strip).vectorize(x, bytes);
    counts.update().split(pixel.y, rows, line, 64);
    Func partial = counts.update().rfactor(rows, part);
    partial.compute_root().parallel(part).vectorize(level, bytes / 4);
    partial.update().parallel(part);
    counts.compute_root().vectorize(level, bytes / 4);
    counts.update().reorder(level, rows).vectorize(level, bytes / 4);
    at_most.compute_root();
    lift.compute_root().vectorize(level, bytes / 4);
    lifted.compute_at(output, row).unroll(x, 8);
    output.split(y, strip, row, 32, TailStrategy::GuardWithIf).reorder(x, c, row, strip).vectorize(x, bytes).parallel(strip);
  }

 private:
  static constexpr int kLevels = 256;

  Var x{"x"}, y{"y"}, c{"c"}, level{"level"};
  RDom pixel;
  Func luma{"luma"}, counts{"counts"}, at_most{"at_most"}, lift{"lift"}, lifted{"lifted"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Hist, hist)

KILN_REGISTER(hist).symbol("w", "input.0 output.0").symbol("h", "input.1 output.1").symbol("c", "input.2 output.2").contract(kiln::Contract::strict);
