// y(n, m) = sum over k of x(k, m) * W(n, k), for few rows of x, 1 to 8: what one step of generating text multiplies. All the work is reading the weights
// once. They lie in one of two orders, innermost first as everywhere: weights=nk, as matmul's B, or weights=kn, each n's weights side by side, as Wt(k, n).
// Summed in f32, rounded once to the type of the inputs. More rows are right too, but a matmul.

#include <Halide.h>

#include "dsl/registration.h"
#include "generators/operators/short_floats.h"

namespace {

enum class Weights { nk, kn };

class MatVec : public Halide::Generator<MatVec> {
 public:
  GeneratorParam<Halide::Type> type{"type", Float(32)};
  GeneratorParam<Weights> weights{"weights", Weights::nk, {{"nk", Weights::nk}, {"kn", Weights::kn}}};

  Input<Buffer<>> x{"x", 2};
  Output<Buffer<>> y{"y", 2};

  void configure() {
    kiln::generators::require_short_float("matvec", type);
    x.set_type(type);
    y.set_type(type);
    weights_ = add_input<Buffer<>>(weights == Weights::nk ? "W" : "Wt", type, 2);
  }

  void generate() {
    Var n("n"), m("m");
    RDom k(0, x.dim(0).extent(), "k");
    Func c("c");
    const Expr weight = weights == Weights::nk ? (*weights_)(n, k) : (*weights_)(k, n);
    c(n, m) = 0.0f;
    c(n, m) += cast<float>(x(k, m)) * cast<float>(weight);
    y(n, m) = cast(type, c(n, m));
  }

  void schedule() {
    x.set_estimates({{0, 4096}, {0, 1}});
    weights_->set_estimates({{0, 4096}, {0, 4096}});
    y.set_estimates({{0, 4096}, {0, 1}});
  }

 private:
  Input<Buffer<>>* weights_ = nullptr;
};

}  // namespace

HALIDE_REGISTER_GENERATOR(MatVec, matvec)

KILN_REGISTER(matvec)
    .symbol("m", "x.1 y.1")
    .symbol("n", "W.0 Wt.1 y.0")
    .symbol("k", "x.0 W.1 Wt.0")
    .type_param("type")
    .contract(kiln::Contract::bounded);
