// Each row of x divided by the root of its mean square, then scaled by gamma: y(n, m) = x(n, m) * gamma(n) / sqrt(mean(x(·, m)²) + eps). In f32, rounded
// once to the type of the inputs.

#include <Halide.h>

#include "dsl/registration.h"
#include "generators/operators/short_floats.h"

namespace {

class RmsNorm : public Halide::Generator<RmsNorm> {
 public:
  GeneratorParam<Halide::Type> type{"type", Float(32)};

  Input<Buffer<>> x{"x", 2};
  Input<Buffer<>> gamma{"gamma", 1};
  Input<float> eps{"eps", 1e-5f};
  Output<Buffer<>> y{"y", 2};

  void configure() {
    kiln::generators::require_short_float("rmsnorm", type);
    x.set_type(type);
    gamma.set_type(type);
    y.set_type(type);
  }

  void generate() {
    Var n("n"), m("m");
    const Expr width = x.dim(0).extent();
    RDom k(0, width, "k");
    Func squares("squares"), scale("scale");
    squares(m) = 0.0f;
    squares(m) += cast<float>(x(k, m)) * cast<float>(x(k, m));
    scale(m) = 1.0f / sqrt(squares(m) / cast<float>(width) + eps);
    y(n, m) = cast(type, cast<float>(x(n, m)) * scale(m) * cast<float>(gamma(n)));
  }

  void schedule() {
    x.set_estimates({{0, 4096}, {0, 256}});
    gamma.set_estimates({{0, 4096}});
    eps.set_estimate(1e-5f);
    y.set_estimates({{0, 4096}, {0, 256}});
  }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(RmsNorm, rmsnorm)

KILN_REGISTER(rmsnorm).symbol("m", "x.1 y.1").symbol("n", "x.0 gamma.0 y.0").optional_type_param("type").contract(kiln::Contract::bounded);
