// y(n, m) = x(m, n), of elements of any type.

#include <Halide.h>

#include "dsl/registration.h"

namespace {

class Transpose : public Halide::Generator<Transpose> {
 public:
  GeneratorParam<Halide::Type> type{"type", Float(32)};

  Input<Buffer<>> x{"x", 2};
  Output<Buffer<>> y{"y", 2};

  void configure() {
    x.set_type(type);
    y.set_type(type);
  }

  void generate() {
    Var n("n"), m("m");
    y(n, m) = x(m, n);
  }

  void schedule() {
    x.set_estimates({{0, 1024}, {0, 4096}});
    y.set_estimates({{0, 4096}, {0, 1024}});
  }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Transpose, transpose)

KILN_REGISTER(transpose).symbol("m", "x.0 y.1").symbol("n", "x.1 y.0").type_param("type").contract(kiln::Contract::strict);
