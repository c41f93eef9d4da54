// y = silu(g) * u, element by element: the gate of a feed-forward layer. In f32, rounded once to the type of the inputs. Strict: every schedule gives
// the same bits.

#include <Halide.h>

#include "dsl/registration.h"
#include "generators/operators/short_floats.h"

namespace {

class SwiGlu : public Halide::Generator<SwiGlu> {
 public:
  GeneratorParam<Halide::Type> type{"type", Float(32)};

  Input<Buffer<>> g{"g", 2};
  Input<Buffer<>> u{"u", 2};
  Output<Buffer<>> y{"y", 2};

  void configure() {
    kiln::generators::require_short_float("swiglu", type);
    g.set_type(type);
    u.set_type(type);
    y.set_type(type);
  }

  void generate() {
    Var n("n"), m("m");
    Func gate("gate");
    const Expr x = cast<float>(g(n, m));
    gate(n, m) = x / (1.0f + exp(-x));
    y(n, m) = cast(type, gate(n, m) * cast<float>(u(n, m)));
  }

  void schedule() {
    g.set_estimates({{0, 4096}, {0, 256}});
    u.set_estimates({{0, 4096}, {0, 256}});
    y.set_estimates({{0, 4096}, {0, 256}});
  }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(SwiGlu, swiglu)

KILN_REGISTER(swiglu).symbol("m", "g.1 u.1 y.1").symbol("n", "g.0 u.0 y.0").optional_type_param("type").contract(kiln::Contract::strict);
