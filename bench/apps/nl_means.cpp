// Denoising by non-local means (Buades, Coll, Morel 2005): every pixel becomes the mean of the pixels around it, each weighted by how little its
// patch differs from the pixel's own. Planes of x, y, channel; edges repeat.

#include <Halide.h>

#include "dsl/registration.h"

namespace {

class NlMeans : public Halide::Generator<NlMeans> {
 public:
  GeneratorParam<int> patch_size{"patch_size", 7, 1, 15};
  GeneratorParam<int> search_area{"search_area", 7, 1, 31};

  Input<Buffer<float, 3>> input{"input"};
  Input<float> sigma{"sigma", 0.12f};
  Output<Buffer<float, 3>> output{"output"};

  void generate() {
    const int patch = patch_size, area = search_area;
    clamped = Halide::BoundaryConditions::repeat_edge(input, {{0, input.dim(0).extent()}, {0, input.dim(1).extent()}, {Expr(), Expr()}});
    RDom channel(0, kChannels, "channel"), across(-(patch / 2), patch, "across"), down(-(patch / 2), patch, "down");
    const Expr apart = clamped(x, y, channel) - clamped(x + dx, y + dy, channel);
    distance(x, y, dx, dy) += apart * apart;
    rows_apart(x, y, dx, dy) += distance(x, y + down, dx, dy);
    patches_apart(x, y, dx, dy) += rows_apart(x + across, y, dx, dy);
    weight(x, y, dx, dy) = exp(-patches_apart(x, y, dx, dy) / (sigma * sigma * static_cast<float>(patch * patch)));

    around = RDom(-(area / 2), area, -(area / 2), area, "around");
    // Three weighted channels, and the weights themselves.
    total(x, y) = Halide::Tuple(0.0f, 0.0f, 0.0f, 0.0f);
    const Expr w = weight(x, y, around.x, around.y);
    const auto added = [&](int i) { return total(x, y)[i] + w * clamped(x + around.x, y + around.y, i); };
    total(x, y) = Halide::Tuple(added(0), added(1), added(2), total(x, y)[3] + w);
    output(x, y, c) = clamp(mux(c, {total(x, y)[0], total(x, y)[1], total(x, y)[2]}) / total(x, y)[3], 0.0f, 1.0f);
  }

  void schedule() {
    input.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
    sigma.set_estimate(0.12f);
    output.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
    if (using_autoscheduler()) return;
    // One offset at a time over a tile: its distances, their sums over patches and the weights stay in the first two caches.
    const int lanes = natural_vector_size<float>();
    Var tx("tx"), ty("ty"), xi("xi"), yi("yi");
    output.tile(x, y, tx, ty, xi, yi, 8 * lanes, 16, TailStrategy::GuardWithIf).reorder(c, xi, yi, tx, ty);
    output.bound(c, 0, kChannels).unroll(c).vectorize(xi, lanes).parallel(ty);
    total.compute_at(output, tx).vectorize(x, lanes);
    total.update().reorder(x, y, around.x, around.y).vectorize(x, lanes);
    weight.compute_at(total, around.x).vectorize(x, lanes);
    for (Func* sum : {&patches_apart, &rows_apart, &distance}) {
      const RVar term(sum->rvars(0)[0]);
      sum->vectorize(x, lanes);
      sum->update().reorder(term, x, y).vectorize(x, lanes).unroll(term);
    }
    patches_apart.compute_at(weight, x);
    rows_apart.compute_at(weight, y);
    distance.compute_at(total, around.x);
  }

 private:
  static constexpr int kChannels = 3;

  Var x{"x"}, y{"y"}, c{"c"}, dx{"dx"}, dy{"dy"};
  RDom around;
  Func clamped, distance{"distance"}, rows_apart{"rows_apart"}, patches_apart{"patches_apart"}, weight{"weight"}, total{"total"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(NlMeans, nl_means)

KILN_REGISTER(nl_means).symbol("w", "input.0 output.0").symbol("h", "input.1 output.1").symbol("c", "input.2 output.2").range("input", 0.0, 1.0);
