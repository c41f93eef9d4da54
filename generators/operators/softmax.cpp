// Each row's exponentials divided by their sum: y(n, m) = e(n, m) / sum of e(·, m), e(n, m) = exp(x(n, m) - max of x(·, m)). Taking the largest away changes
// no quotient and keeps exp from overflowing above 88. An element of -infinity becomes 0; a row of nothing else is NaN.

#include <Halide.h>

#include <limits>

#include "dsl/registration.h"

namespace {

class SoftMax : public Halide::Generator<SoftMax> {
 public:
  Input<Buffer<float, 2>> x{"x"};
  Output<Buffer<float, 2>> y{"y"};

  void generate() {
    Var n("n"), m("m");
    RDom k(0, x.dim(0).extent(), "k");
    Func peak("peak"), e("e"), sum("sum"), scale("scale");
    peak(m) = std::numeric_limits<float>::lowest();
    peak(m) = max(peak(m), x(k, m));
    e(n, m) = exp(x(n, m) - peak(m));
    sum(m) = 0.0f;
    sum(m) += e(k, m);
    scale(m) = 1.0f / sum(m);
    y(n, m) = e(n, m) * scale(m);
  }

  void schedule() {
    x.set_estimates({{0, 4096}, {0, 256}});
    y.set_estimates({{0, 4096}, {0, 256}});
  }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(SoftMax, softmax)

KILN_REGISTER(softmax).symbol("m", "x.1 y.1").symbol("n", "x.0 y.0").contract(kiln::Contract::bounded);
