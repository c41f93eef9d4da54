// Each row of x divided by the root of its mean square, then scaled by gamma: y(n, m) = x(n, m) * gamma(n) / sqrt(mean(x(·, m)²) + eps).

#include <Halide.h>

#include "dsl/registration.h"

namespace {

class RmsNorm : public Halide::Generator<RmsNorm> {
 public:
  Input<Buffer<float, 2>> x{"x"};
  Input<Buffer<float, 1>> gamma{"gamma"};
  Input<float> eps{"eps", 1e-5f};
  Output<Buffer<float, 2>> y{"y"};

  void generate() {
    Var n("n"), m("m");
    const Expr width = x.dim(0).extent();
    RDom k(0, width, "k");
    Func squares("squares"), scale("scale");
    squares(m) = 0.0f;
    squares(m) += x(k, m) * x(k, m);
    scale(m) = 1.0f / sqrt(squares(m) / cast<float>(width) + eps);
    y(n, m) = x(n, m) * scale(m) * gamma(n);
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

KILN_REGISTER(rmsnorm).symbol("m", "x.1 y.1").symbol("n", "x.0 gamma.0 y.0").contract(kiln::Contract::bounded);
