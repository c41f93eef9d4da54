// C(n, m) = epilogue(sum over k of A(k, m) * B(n, k) + bias(n)) + residual(n, m): row-major matrices, the innermost dimension first. Products of 16-bit floats
// are summed in f32; the epilogue works on the sum, and what it gives is rounded once, to the type of the inputs or with output=f32 not at all. The weights lie
// in one of two orders: weights=nk, or weights=kn, each n's side by side, as Bt(k, n).

#include <Halide.h>

#include <numbers>
#include <stdexcept>

#include "dsl/registration.h"

namespace {

enum class Epilogue { none, relu, silu, gelu, gelu_tanh };
enum class OutputType { same, f32 };
enum class Weights { nk, kn };

class MatMul : public Halide::Generator<MatMul> {
 public:
  GeneratorParam<Halide::Type> type{"type", Float(32)};
  GeneratorParam<bool> has_bias{"has_bias", false};
  GeneratorParam<Epilogue> epilogue{
      "epilogue",
      Epilogue::none,
      {{"none", Epilogue::none}, {"relu", Epilogue::relu}, {"silu", Epilogue::silu}, {"gelu", Epilogue::gelu}, {"gelu_tanh", Epilogue::gelu_tanh}}};
  GeneratorParam<OutputType> output{"output", OutputType::same, {{"same", OutputType::same}, {"f32", OutputType::f32}}};
  GeneratorParam<Weights> weights{"weights", Weights::nk, {{"nk", Weights::nk}, {"kn", Weights::kn}}};
  GeneratorParam<bool> has_residual{"has_residual", false};
  // bf16 only: the terms of two neighbouring k are summed in one step, as the dot products of AVX512_BF16 do. K must be even.
  GeneratorParam<bool> pairs{"pairs", false};

  Input<Buffer<>> A{"A", 2};
  Output<Buffer<>> C{"C", 2};

  void configure() {
    const Halide::Type element = type;
    if (!element.is_float()) throw std::invalid_argument("matmul multiplies floats");
    if (pairs && !element.is_bfloat()) throw std::invalid_argument("pairs=true is for bf16: of no other type are two products summed in one step");
    if (epilogue == Epilogue::gelu && element.bits() > 32) throw std::invalid_argument("gelu needs erf, which Halide has for f32 alone; use gelu_tanh for f64");
    A.set_type(element);
    B_ = add_input<Buffer<>>(weights == Weights::nk ? "B" : "Bt", element, 2);
    C.set_type(output == OutputType::f32 ? Float(32) : element);
    if (has_bias) bias_ = add_input<Buffer<>>("bias", element, 1);
    if (has_residual) residual_ = add_input<Buffer<>>("residual", element, 2);
  }

  void generate() {
    const Halide::Type element = type;
    const Halide::Type sum = element.bits() < 32 ? Float(32) : element;
    Var n("n"), m("m");
    Func c("c"), y("y");
    c(n, m) = cast(sum, 0);
    if (pairs) {
      add_requirement(A.dim(0).extent() % 2 == 0, "pairs=true needs an even k, found", A.dim(0).extent());
      // Two neighbouring k side by side for each n: what one dot product takes of B. Where it is computed, and how wide, is the schedule's.
      Var p("p"), half("half");
      Func packed("packed");
      packed(p, n, half) = weight(n, 2 * half + p);
      RDom k({{0, 2}, {0, A.dim(0).extent() / 2}}, "k");
      c(n, m) += cast(sum, A(2 * k.y + k.x, m)) * cast(sum, packed(k.x, n, k.y));
    } else {
      RDom k(0, A.dim(0).extent(), "k");
      c(n, m) += cast(sum, A(k, m)) * cast(sum, weight(n, k));
    }
    const Expr biased = has_bias ? c(n, m) + cast(sum, (*bias_)(n)) : Expr(c(n, m));
    const Expr whole = has_residual ? finished(biased) + cast(sum, (*residual_)(n, m)) : finished(biased);
    y(n, m) = cast(C.type(), whole);
    C = y;
  }

  void schedule() {
    A.set_estimates({{0, 1024}, {0, 1024}});
    B_->set_estimates({{0, 1024}, {0, 1024}});
    C.set_estimates({{0, 1024}, {0, 1024}});
    if (has_bias) bias_->set_estimates({{0, 1024}});
    if (has_residual) residual_->set_estimates({{0, 1024}, {0, 1024}});
  }

 private:
  Expr weight(const Expr& n, const Expr& k) const { return weights == Weights::nk ? (*B_)(n, k) : (*B_)(k, n); }

  Expr finished(const Expr& x) const {
    const auto number = [&](double value) { return cast(x.type(), Expr(value)); };
    switch (epilogue) {
      case Epilogue::relu: return max(x, number(0));
      case Epilogue::silu: return x / (number(1) + exp(-x));
      case Epilogue::gelu: return number(0.5) * x * (number(1) + erf(x * number(std::numbers::sqrt2 / 2)));
      case Epilogue::gelu_tanh: {
        // Halide has exp in vectors and tanh not: (1 + tanh(u)) / 2 = 1 / (1 + exp(-2 u)).
        const Expr u = number(std::numbers::sqrt2 * std::numbers::inv_sqrtpi) * (x + number(0.044715) * x * x * x);
        return x / (number(1) + exp(number(-2) * u));
      }
      default: return x;
    }
  }

  Input<Buffer<>>* B_ = nullptr;
  Input<Buffer<>>* bias_ = nullptr;
  Input<Buffer<>>* residual_ = nullptr;
};

}  // namespace

HALIDE_REGISTER_GENERATOR(MatMul, matmul)

KILN_REGISTER(matmul)
    .symbol("m", "A.1 C.1 residual.1")
    .symbol("n", "B.0 Bt.1 C.0 bias.0 residual.0")
    .symbol("k", "A.0 B.1 Bt.0")
    .type_param("type")
    .contract(kiln::Contract::bounded);
