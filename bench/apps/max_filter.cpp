// The largest value within a disc around each pixel. Maxima of 2, 4, 8, … rows are built by doubling; each column of the disc is then covered by
// two of them that overlap. Planes of x, y, channel; edges repeat.

#include <Halide.h>

#include <cmath>
#include <vector>

#include "dsl/registration.h"

namespace {

class MaxFilter : public Halide::Generator<MaxFilter> {
 public:
  GeneratorParam<int> radius{"radius", 26, 1, 64};

  Input<Buffer<float, 3>> input{"input"};
  Output<Buffer<float, 3>> output{"output"};

  void generate() {
    const int r = radius;
    clamped = Halide::BoundaryConditions::repeat_edge(input, {{0, input.dim(0).extent()}, {0, input.dim(1).extent()}, {Expr(), Expr()}});
    // rows_k(x, y) is the largest of the 2^k values from (x, y) downwards.
    std::vector<Func> doubled{clamped};
    for (int k = 1; 1 << k <= 2 * r + 1; ++k) {
      const Func& half = doubled.back();
      Func rows("rows_" + std::to_string(1 << k));
      rows(x, y, c) = max(half(x, y, c), half(x, y + (1 << (k - 1)), c));
      doubled.push_back(rows);
    }
    Expr largest = clamped(x, y, c);
    for (int dx = -r; dx <= r; ++dx) {
      const int reach = static_cast<int>(std::sqrt(r * r + 0.25 - dx * dx)), height = 2 * reach + 1;
      std::size_t k = 0;
      while (2 << k <= height) ++k;
      const Func& rows = doubled[k];
      largest = max(largest, max(rows(x + dx, y - reach, c), rows(x + dx, y + reach + 1 - (1 << k), c)));
    }
    output(x, y, c) = largest;
    rows_max.assign(doubled.begin() + 1, doubled.end());
  }

  void schedule() {
    input.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
    output.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
    if (using_autoscheduler()) return;
    // Tiles whose rows of maxima, a halo of a radius around them, fit the second cache.
    const int lanes = natural_vector_size<float>();
    Var xi("xi"), yi("yi");
    output.tile(x, y, xi, yi, 16 * lanes, 64, TailStrategy::GuardWithIf).vectorize(xi, lanes).parallel(y).parallel(c);
    for (Func& rows : rows_max) rows.compute_at(output, x).vectorize(x, lanes);
    clamped.compute_at(output, x).vectorize(clamped.args()[0], lanes);
  }

 private:
  Var x{"x"}, y{"y"}, c{"c"};
  Func clamped;
  std::vector<Func> rows_max;
};

}  // namespace

HALIDE_REGISTER_GENERATOR(MaxFilter, max_filter)

KILN_REGISTER(max_filter).symbol("w", "input.0 output.0").symbol("h", "input.1 output.1").symbol("c", "input.2 output.2");
