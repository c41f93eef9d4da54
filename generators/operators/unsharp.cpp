// Sharpens a colour picture by its brightness: gray -> blur down -> blur across -> gray + amount * (gray - blur) -> each channel by the ratio.
// Planes of x, y, channel; edges repeat.

#include <Halide.h>

#include <array>
#include <cmath>

#include "dsl/registration.h"

namespace {

class Unsharp : public Halide::Generator<Unsharp> {
 public:
  GeneratorParam<float> sigma{"sigma", 1.5f, 0.25f, 4.0f};

  Input<Buffer<float, 3>> input{"input"};
  Input<float> amount{"amount", 1.0f};
  Output<Buffer<float, 3>> output{"output"};

  void generate() {
    const Func clamped = Halide::BoundaryConditions::repeat_edge(input, {{0, input.dim(0).extent()}, {0, input.dim(1).extent()}, {Expr(), Expr()}});
    gray(x, y) = 0.299f * clamped(x, y, 0) + 0.587f * clamped(x, y, 1) + 0.114f * clamped(x, y, 2);
    const std::array<float, 4> w = weights();
    blur_y(x, y) = w[0] * gray(x, y) + w[1] * (gray(x, y - 1) + gray(x, y + 1)) + w[2] * (gray(x, y - 2) + gray(x, y + 2)) +
                   w[3] * (gray(x, y - 3) + gray(x, y + 3));
    blur_x(x, y) = w[0] * blur_y(x, y) + w[1] * (blur_y(x - 1, y) + blur_y(x + 1, y)) + w[2] * (blur_y(x - 2, y) + blur_y(x + 2, y)) +
                   w[3] * (blur_y(x - 3, y) + blur_y(x + 3, y));
    sharpen(x, y) = gray(x, y) + amount * (gray(x, y) - blur_x(x, y));
    ratio(x, y) = sharpen(x, y) / max(gray(x, y), 1.0f / 256.0f);  // black stays black
    output(x, y, c) = ratio(x, y) * input(x, y, c);
  }

  void schedule() {
    input.set_estimates({{0, 1536}, {0, 1024}, {0, 3}});
    amount.set_estimate(1.0f);
    output.set_estimates({{0, 1536}, {0, 1024}, {0, 3}});
    if (using_autoscheduler()) return;
    // Strips of rows in parallel; each strip's brightness and vertical blur stay in cache.
    const int lanes = natural_vector_size<float>();
    Var strip("strip"), row("row");
    output.split(y, strip, row, 32, TailStrategy::GuardWithIf).reorder(x, c, row, strip).parallel(strip);
    output.vectorize(x, lanes, TailStrategy::GuardWithIf);
    ratio.compute_at(output, row).vectorize(x, lanes);
    gray.compute_at(output, strip).vectorize(x, lanes);
    blur_y.compute_at(output, row).vectorize(x, lanes);
  }

 private:
  // A Gaussian of radius 3, normalised.
  std::array<float, 4> weights() const {
    std::array<double, 4> bell{};
    double sum = 0;
    for (std::size_t i = 0; i < bell.size(); ++i) {
      const double distance = static_cast<double>(i) / static_cast<double>(static_cast<float>(sigma));
      bell[i] = std::exp(-0.5 * distance * distance);
      sum += i == 0 ? bell[i] : 2 * bell[i];
    }
    std::array<float, 4> result{};
    for (std::size_t i = 0; i < bell.size(); ++i) result[i] = static_cast<float>(bell[i] / sum);
    return result;
  }

  Var x{"x"}, y{"y"}, c{"c"};
  Func gray{"gray"}, blur_y{"blur_y"}, blur_x{"blur_x"}, sharpen{"sharpen"}, ratio{"ratio"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Unsharp, unsharp)

KILN_REGISTER(unsharp)
    .symbol("w", "input.0 output.0")
    .symbol("h", "input.1 output.1")
    .symbol("c", "input.2 output.2")
    .contract(kiln::Contract::bounded)
    .range("input", 0.05, 1.0);
