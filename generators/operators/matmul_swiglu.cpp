// y(n, m) = silu(gate) * up: the gated half of a feed-forward layer, with gate(n, m) = sum over k of x(k, m) * Wg(n, k) and up(n, m) the same of Wu. Row-major
// matrices, the innermost dimension first. Products of 16-bit floats are summed in f32. With products=same both are rounded to the type of the inputs, as two
// matrix products of their own would store them, and with products=f32 they are not; what is made of them is f32, rounded once. Whoever computes both in one
// kernel rounds where the algorithm does. The weights lie in one of two orders: weights=nk, or weights=kn, each n's side by side, as Wgt(k, n) and Wut(k, n).

#include <Halide.h>

#include "dsl/registration.h"
#include "generators/operators/short_floats.h"

namespace {

enum class Products { same, f32 };
enum class Weights { nk, kn };

class MatMulSwiGlu : public Halide::Generator<MatMulSwiGlu> {
 public:
  GeneratorParam<Halide::Type> type{"type", Float(32)};
  GeneratorParam<Products> products{"products", Products::same, {{"same", Products::same}, {"f32", Products::f32}}};
  GeneratorParam<Weights> weights{"weights", Weights::nk, {{"nk", Weights::nk}, {"kn", Weights::kn}}};

  Input<Buffer<>> x{"x", 2};
  Output<Buffer<>> y{"y", 2};

  void configure() {
    kiln::generators::require_short_float("matmul_swiglu", type);
    x.set_type(type);
    gate_weights_ = add_input<Buffer<>>(weights == Weights::nk ? "Wg" : "Wgt", type, 2);
    up_weights_ = add_input<Buffer<>>(weights == Weights::nk ? "Wu" : "Wut", type, 2);
    y.set_type(type);
  }

  void generate() {
    const Func gate = product("gate", *gate_weights_), up = product("up", *up_weights_);
    Func silu("silu");
    const Expr g = cast<float>(gate(n_, m_));
    silu(n_, m_) = g / (1.0f + exp(-g));
    y(n_, m_) = cast(type, silu(n_, m_) * cast<float>(up(n_, m_)));
  }

  void schedule() {
    for (Input<Buffer<>>* matrix : {&x, gate_weights_, up_weights_}) matrix->set_estimates({{0, 1024}, {0, 1024}});
    y.set_estimates({{0, 1024}, {0, 1024}});
  }

 private:
  // A product as a kernel of its own would store it.
  Func product(const std::string& name, const Input<Buffer<>>& matrix) {
    Func sum(name + "_sum"), whole(name);
    RDom k(0, x.dim(0).extent(), "k");
    sum(n_, m_) = 0.0f;
    sum(n_, m_) += cast<float>(x(k, m_)) * cast<float>(weights == Weights::nk ? matrix(n_, k) : matrix(k, n_));
    whole(n_, m_) = cast(products == Products::f32 ? Float(32) : Halide::Type(type), sum(n_, m_));
    return whole;
  }

  Var n_{"n"}, m_{"m"};
  Input<Buffer<>>* gate_weights_ = nullptr;
  Input<Buffer<>>* up_weights_ = nullptr;
};

}  // namespace

HALIDE_REGISTER_GENERATOR(MatMulSwiGlu, matmul_swiglu)

KILN_REGISTER(matmul_swiglu)
    .symbol("m", "x.1 y.1")
    .symbol("n", "Wg.0 Wgt.1 Wu.0 Wut.1 y.0")
    .symbol("k", "x.0 Wg.1 Wgt.0 Wu.1 Wut.0")
    .type_param("type")
    .contract(kiln::Contract::bounded);
