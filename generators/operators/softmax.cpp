// Each row's exponentials divided by their sum: y(n, m) = e(n, m) / sum of e(·, m), e(n, m) = exp(x(n, m) - max of x(·, m)). Taking the largest away changes
// no quotient and keeps exp from overflowing above 88. An element of -infinity becomes 0; a row of nothing else is NaN. In f32, rounded once to the type
// of the input.

#include <Halide.h>

#include <limits>

#include "dsl/registration.h"
#include "generators/operators/short_floats.h"

namespace {

class SoftMax : public Halide::Generator<SoftMax> {
 public:
  GeneratorParam<Halide::Type> type{"type", Float(32)};

  Input<Buffer<>> x{"x", 2};
  Output<Buffer<>> y{"y", 2};

  void configure() {
    kiln::generators::require_short_float("softmax", type);
    x.set_type(type);
    y.set_type(type);
  }

  void generate() {
    Var n("n"), m("m");
    RDom k(0, x.dim(0).extent(), "k");
    Func peak("peak"), e("e"), sum("sum"), scale("scale");
    peak(m) = std::numeric_limits<float>::lowest();
    peak(m) = max(peak(m), cast<float>(x(k, m)));
    e(n, m) = exp(cast<float>(x(n, m)) - peak(m));
    sum(m) = 0.0f;
    sum(m) += e(k, m);
    scale(m) = 1.0f / sum(m);
    y(n, m) = cast(type, e(n, m) * scale(m));
  }

  void schedule() {
    x.set_estimates({{0, 4096}, {0, 256}});
    y.set_estimates({{0, 4096}, {0, 256}});
  }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(SoftMax, softmax)

KILN_REGISTER(softmax).symbol("m", "x.1 y.1").symbol("n", "x.0 y.0").optional_type_param("type").contract(kiln::Contract::bounded);
