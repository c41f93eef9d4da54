// A generator as Halide's users write them, knowing nothing of Kiln: an exposure and a histogram of a picture, with its author's schedule.
#include <Halide.h>

namespace {

class Exposure : public Halide::Generator<Exposure> {
 public:
  GeneratorParam<int> bins{"bins", 64, 2, 1024};
  GeneratorParam<bool> clip{"clip", true};
  GeneratorParam<int> vector_size{"vector_size", 8};

  Input<Buffer<uint8_t, 3>> input{"input"};
  Input<float> gain{"gain", 1.5f, 0.0f, 16.0f};
  Output<Buffer<float, 3>> bright{"bright"};
  Output<Buffer<uint32_t, 1>> histogram{"histogram"};

  void generate() {
    scaled(x, y, c) = cast<float>(input(x, y, c)) / 255.0f * gain;
    bright(x, y, c) = clip ? min(scaled(x, y, c), 1.0f) : scaled(x, y, c);

    luma(x, y) = cast<uint8_t>((cast<uint16_t>(input(x, y, 0)) + 2 * cast<uint16_t>(input(x, y, 1)) + cast<uint16_t>(input(x, y, 2))) / 4);
    RDom r(0, input.width(), 0, input.height());
    r.where(luma(r.x, r.y) > 0);  // black is the frame, not the picture
    histogram(b) = cast<uint32_t>(0);
    histogram(clamp(cast<int>(luma(r.x, r.y)) * bins / 256, 0, bins - 1)) += cast<uint32_t>(1);
  }

  void schedule() {
    input.set_estimates({{0, 640}, {0, 480}, {0, 3}});
    gain.set_estimate(1.5f);
    bright.set_estimates({{0, 640}, {0, 480}, {0, 3}});
    histogram.set_estimates({{0, 64}});
    if (!using_autoscheduler()) {
      bright.parallel(y).vectorize(x, vector_size, TailStrategy::GuardWithIf);
      luma.compute_root().parallel(y).vectorize(x, 16, TailStrategy::GuardWithIf);
    }
  }

 private:
  Var x{"x"}, y{"y"}, c{"c"}, b{"b"};
  Func scaled{"scaled"}, luma{"luma"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Exposure, exposure)
