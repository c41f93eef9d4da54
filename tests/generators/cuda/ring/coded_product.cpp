#include "tests/generators/cuda/ring/coded_product.h"

#include <Halide.h>

#include "dsl/float8_halide.h"
#include "dsl/registration.h"

namespace {

using Halide::BFloat;
using Halide::UInt;

class CodedProduct : public Halide::Generator<CodedProduct> {
 public:
  Input<Buffer<>> A{"A", BFloat(16), 2};
  Input<Buffer<>> Bt{"Bt", BFloat(16), 2};
  Input<float> inv_scale{"inv_scale"};
  Output<Buffer<>> C{"C", UInt(8), 2};

  void generate() {
    Var n("n"), m("m");
    RDom k(0, A.dim(0).extent(), "k");
    Func c("c"), y("y");
    c(n, m) = 0.0f;
    c(n, m) += cast<float>(A(k, m)) * cast<float>(Bt(k, n));
    y(n, m) = kiln::encode_float8(kiln::kE4M3FN, c(n, m) * inv_scale);
    C = y;
  }

  void schedule() {
    A.set_estimates({{0, 1024}, {0, 1024}});
    Bt.set_estimates({{0, 1024}, {0, 1024}});
    C.set_estimates({{0, 1024}, {0, 1024}});
    inv_scale.set_estimate(2.0f);
  }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(CodedProduct, coded_product)

KILN_REGISTER(coded_product)
    .symbol("m", "A.1 C.1")
    .symbol("n", "Bt.1 C.0")
    .symbol("k", "A.0 Bt.0")
    .outlier_fraction(1e-3)
    .contract(kiln::Contract::bounded);

namespace kiln::tests {

void register_coded_product() {}

}  // namespace kiln::tests
