// Sharpens a colour picture: its brightness is blurred by a Gaussian down and across, and each channel is scaled by what the brightness gains from
// being moved away from its blur. The Gaussian's weights are a stage of their own. Planes of x, y, channel; edges repeat.

#include <Halide.h>

#include "dsl/registration.h"

namespace {

class UnsharpMask : public Halide::Generator<UnsharpMask> {
 public:
  GeneratorParam<float> sigma{"sigma", 1.5f, 0.25f, 4.0f};

  Input<Buffer<float, 3>> input{"input"};
  Output<Buffer<float, 3>> output{"output"};

  void generate() {
    const Func clamped = Halide::BoundaryConditions::repeat_edge(input, {{0, input.dim(0).extent()}, {0, input.dim(1).extent()}, {Expr(), Expr()}});
    const auto bell = [&](const Expr& distance) { return exp(-distance * distance / (2.0f * sigma * sigma)); };
    Expr total = 1.0f;
    for (int i = 1; i <= kRadius; ++i) total += 2.0f * bell(static_cast<float>(i));
    weight(tap) = bell(cast<float>(tap)) / total;

    gray(x, y) = 0.299f * clamped(x, y, 0) + 0.587f * clamped(x, y, 1) + 0.114f * clamped(x, y, 2);
    Expr down = weight(0) * gray(x, y);
    for (int i = 1; i <= kRadius; ++i) down += weight(i) * (gray(x, y - i) + gray(x, y + i));
    blurred_down(x, y) = down;
    Expr across = weight(0) * blurred_down(x, y);
    for (int i = 1; i <= kRadius; ++i) across += weight(i) * (blurred_down(x - i, y) + blurred_down(x + i, y));
    blurred(x, y) = across;
    gain(x, y) = (2.0f * gray(x, y) - blurred(x, y)) / gray(x, y);
    output(x, y, c) = gain(x, y) * input(x, y, c);
  }

  void schedule() {
    input.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
    output.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
    if (using_autoscheduler()) return;
    // Strips of rows in parallel, brightness and vertical blur kept down a strip; the gain of two vectors stays in registers for the three channels.
    const int lanes = natural_vector_size<float>();
    Var strip("strip"), row("row"), block("block"), pixel("pixel");
    output.split(y, strip, row, 64, TailStrategy::GuardWithIf).split(x, block, pixel, 2 * lanes);
    output.reorder(pixel, c, block, row, strip).vectorize(pixel, lanes).unroll(pixel).parallel(strip);
    output.bound(c, 0, 3).unroll(c);
    weight.compute_root();
    gray.store_at(output, strip).compute_at(output, row).vectorize(x, lanes);
    blurred_down.compute_at(output, row).vectorize(x, lanes);
    gain.compute_at(output, block).vectorize(x, lanes).unroll(x);
  }

 private:
  static constexpr int kRadius = 3;

  Var x{"x"}, y{"y"}, c{"c"}, tap{"tap"};
  Func weight{"weight"}, gray{"gray"}, blurred_down{"blurred_down"}, blurred{"blurred"}, gain{"gain"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(UnsharpMask, unsharp_mask)

KILN_REGISTER(unsharp_mask)
    .symbol("w", "input.0 output.0")
    .symbol("h", "input.1 output.1")
    .symbol("c", "input.2 output.2")
    .range("input", 0.25, 1.0);
