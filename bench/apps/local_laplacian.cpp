// Tone mapping by local Laplacian filters (Paris, Hasinoff, Kautz 2011): brightness is remapped around each of a few levels, a pyramid is made of
// every remapped picture, and each coefficient of the result comes from the two pyramids whose levels enclose the brightness there.
// 16-bit planes of x, y, channel in, floats out; edges repeat.

#include <Halide.h>

#include <string>
#include <vector>

#include "dsl/registration.h"

namespace {

class LocalLaplacian : public Halide::Generator<LocalLaplacian> {
 public:
  GeneratorParam<int> octaves{"octaves", 8, 2, 10};
  GeneratorParam<int> levels{"levels", 8, 2, 32};

  Input<Buffer<uint16_t, 3>> input{"input"};
  Input<float> detail{"detail", 1.0f / 7};  // how much of what differs from a level is added to it
  Input<float> contrast{"contrast", 1.0f};  // of levels among each other
  Output<Buffer<float, 3>> output{"output"};

  void generate() {
    const int steps = levels - 1;
    const auto top = static_cast<std::size_t>(octaves - 1);
    const Func clamped = Halide::BoundaryConditions::repeat_edge(input, {{0, input.dim(0).extent()}, {0, input.dim(1).extent()}, {Expr(), Expr()}});
    const auto channel = [&](int i) { return cast<uint32_t>(clamped(x, y, i)); };
    // Whole numbers choose the table's entry: no rounding can choose its neighbour.
    luma(x, y) = cast<uint16_t>((19595 * channel(0) + 38470 * channel(1) + 7471 * channel(2) + 32768) / 65536);
    const Expr gray = cast<float>(luma(x, y)) / 65535.0f;
    const Expr entry = clamp(cast<int>(cast<uint32_t>(luma(x, y)) * (steps * kEntries) / 65535), 0, steps * kEntries);
    const Expr distance = cast<float>(step) / static_cast<float>(kEntries);
    remap(step) = detail * distance * exp(-distance * distance / 2.0f);

    for (std::size_t j = 0; j <= top; ++j) {
      remapped.emplace_back("remapped_" + std::to_string(j));
      plain.emplace_back("plain_" + std::to_string(j));
      result.emplace_back("result_" + std::to_string(j));
      across.emplace_back("across_" + std::to_string(j));
    }
    const Expr level = cast<float>(k) / static_cast<float>(steps);
    remapped[0](x, y, k) = contrast * (gray - level) + level + remap(entry - kEntries * k);
    plain[0](x, y) = gray;
    for (std::size_t j = 1; j <= top; ++j) {
      remapped[j](x, y, k) = halved(remapped[j - 1], across[j], {k});
      plain[j](x, y) = halved(plain[j - 1], Func("across_plain_" + std::to_string(j)), {});
    }
    for (std::size_t j = top + 1; j-- > 0;) {
      const Expr place = plain[j](x, y) * static_cast<float>(steps), below = clamp(cast<int>(place), 0, steps - 1);
      const auto coefficient = [&](const Expr& at) {
        return j == top ? Expr(remapped[j](x, y, at)) : remapped[j](x, y, at) - doubled(remapped[j + 1], {at});
      };
      const Expr mixed = lerp(coefficient(below), coefficient(below + 1), clamp(place - cast<float>(below), 0.0f, 1.0f));
      result[j](x, y) = j == top ? mixed : mixed + doubled(result[j + 1], {});
    }
    // Colours keep their proportions; the small number keeps black from being divided by.
    constexpr float kBlack = 0.01f;
    output(x, y, c) = result[0](x, y) * (cast<float>(input(x, y, c)) / 65535.0f + kBlack) / (gray + kBlack);
  }

  void schedule() {
    input.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
    detail.set_estimate(1.0f / 7);
    contrast.set_estimate(1.0f);
    output.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
    if (using_autoscheduler()) return;
    const int lanes = natural_vector_size<float>();
    Var strip("strip"), row("row");
    remap.compute_root().vectorize(step, lanes);
    luma.compute_root().split(y, strip, row, 16, TailStrategy::GuardWithIf).parallel(strip).vectorize(x, lanes);
    // Each octave at root, in strips; the finest remapped pictures are not kept, their rows are made again where they are read. Small ones serially.
    for (std::size_t j = 1; j < remapped.size(); ++j) {
      Func& pictures = remapped[j];
      pictures.compute_root().split(y, strip, row, 8, TailStrategy::GuardWithIf).reorder(x, row, k, strip).vectorize(x, lanes);
      plain[j].compute_root().vectorize(x, lanes);
      result[j].compute_root().vectorize(x, lanes);
      across[j].compute_at(pictures, k).vectorize(x, lanes);
      if (j < kSerialFrom) {
        pictures.parallel(strip);
        plain[j].parallel(y, 8);
        result[j].parallel(y, 8);
      }
    }
    output.split(y, strip, row, 8, TailStrategy::GuardWithIf).reorder(x, c, row, strip).parallel(strip).vectorize(x, lanes);
    result[0].compute_at(output, row).vectorize(x, lanes);
  }

 private:
  static constexpr int kEntries = 256;        // of the table, between two levels
  static constexpr std::size_t kSerialFrom = 5;  // octaves this small are done before a worker wakes

  // 1-3-3-1 over both directions, every second pixel. `narrow` becomes the stage that is halved across only.
  Expr halved(const Func& from, Func narrow, const std::vector<Var>& rest) const {
    const auto weighted = [](const Expr& p, const Expr& q, const Expr& r, const Expr& s) { return (p + 3.0f * (q + r) + s) / 8.0f; };
    const auto at = [&](const Func& f, const Expr& column, const Expr& line) {
      std::vector<Expr> place{column, line};
      place.insert(place.end(), rest.begin(), rest.end());
      return Expr(f(place));
    };
    std::vector<Var> loops{x, y};
    loops.insert(loops.end(), rest.begin(), rest.end());
    narrow(loops) = weighted(at(from, 2 * x - 1, y), at(from, 2 * x, y), at(from, 2 * x + 1, y), at(from, 2 * x + 2, y));
    return weighted(at(narrow, x, 2 * y - 1), at(narrow, x, 2 * y), at(narrow, x, 2 * y + 1), at(narrow, x, 2 * y + 2));
  }

  // Twice as large in both directions: each pixel is 3/4 of the nearest and 1/4 of the next.
  Expr doubled(const Func& from, const std::vector<Expr>& rest) const {
    const auto at = [&](const Expr& column, const Expr& line) {
      std::vector<Expr> place{column, line};
      place.insert(place.end(), rest.begin(), rest.end());
      return Expr(from(place));
    };
    const Expr next_x = x / 2 - 1 + 2 * (x % 2), next_y = y / 2 - 1 + 2 * (y % 2);
    const auto line = [&](const Expr& at_y) { return 0.25f * at(next_x, at_y) + 0.75f * at(x / 2, at_y); };
    return 0.25f * line(next_y) + 0.75f * line(y / 2);
  }

  Var x{"x"}, y{"y"}, c{"c"}, k{"k"}, step{"step"};
  Func luma{"luma"}, remap{"remap"};
  std::vector<Func> remapped, plain, result, across;
};

}  // namespace

HALIDE_REGISTER_GENERATOR(LocalLaplacian, local_laplacian)

// Coefficients are differences of pictures that nearly agree, and dark pixels multiply what rounding leaves of them: 14 of 100,000 elements of noise are
// beyond the budget for it. A wrong row would be 39.
KILN_REGISTER(local_laplacian)
    .symbol("w", "input.0 output.0")
    .symbol("h", "input.1 output.1")
    .symbol("c", "input.2 output.2")
    .outlier_fraction(3e-4);
