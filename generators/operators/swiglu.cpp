// y = silu(g) * u, element by element: the gate of a feed-forward layer. Strict: every schedule gives the same bits.

#include <Halide.h>

#include "dsl/registration.h"

namespace {

class SwiGlu : public Halide::Generator<SwiGlu> {
 public:
  Input<Buffer<float, 2>> g{"g"};
  Input<Buffer<float, 2>> u{"u"};
  Output<Buffer<float, 2>> y{"y"};

  void generate() {
    Var n("n"), m("m");
    Func gate("gate");
    gate(n, m) = g(n, m) / (1.0f + exp(-g(n, m)));
    y(n, m) = gate(n, m) * u(n, m);
  }

  void schedule() {
    g.set_estimates({{0, 4096}, {0, 256}});
    u.set_estimates({{0, 4096}, {0, 256}});
    y.set_estimates({{0, 4096}, {0, 256}});
  }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(SwiGlu, swiglu)

KILN_REGISTER(swiglu).symbol("m", "g.1 u.1 y.1").symbol("n", "g.0 u.0 y.0").contract(kiln::Contract::strict);
