// Smooths a picture but not its edges, through a coarse grid of place and brightness (Chen, Paris, Durand 2007): pixels are counted and summed in
// cells, both are blurred along the grid's three axes, and each pixel reads their quotient at its own place and brightness, interpolated.

#include <Halide.h>

#include "dsl/registration.h"

namespace {

using Halide::Tuple;

class BilateralGrid : public Halide::Generator<BilateralGrid> {
 public:
  GeneratorParam<int> cell_size{"cell_size", 8, 2, 64};

  Input<Buffer<float, 2>> input{"input"};
  Input<float> range_sigma{"range_sigma", 0.125f};  // of brightness, the depth of a cell; a power of two makes the choice of a cell exact
  Output<Buffer<float, 2>> output{"output"};

  void generate() {
    const int side = cell_size;
    const Func clamped = Halide::BoundaryConditions::repeat_edge(input, {{0, input.dim(0).extent()}, {0, input.dim(1).extent()}});
    const Expr deepest = cast<int>(1.0f / range_sigma);

    pixel = RDom(0, side, 0, side, "pixel");
    const Expr value = clamp(clamped(x * side + pixel.x, y * side + pixel.y), 0.0f, 1.0f);
    const Expr cell = clamp(cast<int>(value / range_sigma), 0, deepest);
    grid(x, y, z) = Tuple(0.0f, 0.0f);
    grid(x, y, cell) = Tuple(grid(x, y, cell)[0] + value, grid(x, y, cell)[1] + 1.0f);

    blur(blurred_z, grid, [&](int i) { return std::vector<Expr>{x, y, z + i}; });
    blur(blurred_x, blurred_z, [&](int i) { return std::vector<Expr>{x + i, y, z}; });
    blur(blurred_y, blurred_x, [&](int i) { return std::vector<Expr>{x, y + i, z}; });

    // A cell speaks for its centre, half a cell from its corner.
    const Expr depth = clamp(input(x, y), 0.0f, 1.0f) / range_sigma - 0.5f;
    const Expr cell_z = clamp(cast<int>(floor(depth)), -1, deepest);
    const Expr along_x = (cast<float>(x) + 0.5f) / static_cast<float>(side) - 0.5f, along_y = (cast<float>(y) + 0.5f) / static_cast<float>(side) - 0.5f;
    const Expr cell_x = (2 * x + 1 - side) / (2 * side), cell_y = (2 * y + 1 - side) / (2 * side);
    const Expr fx = along_x - cast<float>(cell_x), fy = along_y - cast<float>(cell_y), fz = depth - cast<float>(cell_z);
    const auto interpolated = [&](int component) {
      const auto at = [&](int dx, int dy, int dz) { return Expr(blurred_y(cell_x + dx, cell_y + dy, cell_z + dz)[component]); };
      const auto row = [&](int dy, int dz) { return lerp(at(0, dy, dz), at(1, dy, dz), fx); };
      const auto plane = [&](int dz) { return lerp(row(0, dz), row(1, dz), fy); };
      return lerp(plane(0), plane(1), fz);
    };
    output(x, y) = interpolated(0) / interpolated(1);
  }

  void schedule() {
    input.set_estimates({{0, 1536}, {0, 2560}});
    range_sigma.set_estimate(0.125f);
    output.set_estimates({{0, 1536}, {0, 2560}});
    if (using_autoscheduler()) return;
    // Rows of cells in parallel: each is filled and blurred in depth while it is in cache; the two other blurs share planes.
    const int lanes = natural_vector_size<float>();
    blurred_z.compute_root().reorder(x, z, y).parallel(y).vectorize(x, lanes);
    grid.compute_at(blurred_z, y).vectorize(x, lanes);
    grid.update().reorder(pixel.x, pixel.y, x, y).unroll(pixel.x);
    blurred_y.compute_root().parallel(z).vectorize(x, lanes);
    blurred_x.store_at(blurred_y, z).compute_at(blurred_y, y).vectorize(x, lanes);
    output.vectorize(x, lanes / 2).parallel(y);
  }

 private:
  // 1-4-6-4-1 along one axis, both components.
  template <typename Place>
  void blur(Func& blurred, const Func& from, const Place& place) {
    const auto sum = [&](int component) {
      const auto at = [&](int i) { return Expr(from(place(i))[component]); };
      return at(-2) + at(2) + 4.0f * (at(-1) + at(1)) + 6.0f * at(0);
    };
    blurred(x, y, z) = Tuple(sum(0), sum(1));
  }

  Var x{"x"}, y{"y"}, z{"z"};
  RDom pixel;
  Func grid{"grid"}, blurred_z{"blurred_z"}, blurred_x{"blurred_x"}, blurred_y{"blurred_y"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(BilateralGrid, bilateral_grid)

KILN_REGISTER(bilateral_grid).symbol("w", "input.0 output.0").symbol("h", "input.1 output.1").range("input", 0.0, 1.0);
