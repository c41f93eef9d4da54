// C(n, m) = epilogue(sum over k of A(k, m) * B(n, k) + bias(n)): row-major matrices, the innermost dimension first.

#include <Halide.h>

#include <stdexcept>

#include "dsl/registration.h"

namespace {

enum class Epilogue { none, relu, silu };

class MatMul : public Halide::Generator<MatMul> {
 public:
  GeneratorParam<Halide::Type> type{"type", Float(32)};
  GeneratorParam<bool> has_bias{"has_bias", false};
  GeneratorParam<Epilogue> epilogue{
      "epilogue", Epilogue::none, {{"none", Epilogue::none}, {"relu", Epilogue::relu}, {"silu", Epilogue::silu}}};

  Input<Buffer<>> A{"A", 2};
  Input<Buffer<>> B{"B", 2};
  Output<Buffer<>> C{"C", 2};

  void configure() {
    const Halide::Type element = type;
    if (!element.is_float()) throw std::invalid_argument("matmul multiplies floats");
    A.set_type(element);
    B.set_type(element);
    C.set_type(element);
    if (has_bias) bias_ = add_input<Buffer<>>("bias", element, 1);
  }

  void generate() {
    const Halide::Type element = type;
    const Halide::Type sum = element.bits() < 32 ? Float(32) : element;  // 16-bit products are summed in f32, rounded once at the end
    Var n("n"), m("m");
    RDom k(0, A.dim(0).extent(), "k");
    Func c("c"), y("y");
    c(n, m) = cast(sum, 0);
    c(n, m) += cast(sum, A(k, m)) * cast(sum, B(n, k));
    const Expr biased = has_bias ? c(n, m) + cast(sum, (*bias_)(n)) : Expr(c(n, m));
    y(n, m) = cast(element, finished(biased));
    C = y;
  }

  void schedule() {
    A.set_estimates({{0, 1024}, {0, 1024}});
    B.set_estimates({{0, 1024}, {0, 1024}});
    C.set_estimates({{0, 1024}, {0, 1024}});
    if (has_bias) bias_->set_estimates({{0, 1024}});
  }

 private:
  Expr finished(const Expr& x) const {
    switch (epilogue) {
      case Epilogue::relu: return max(x, cast(x.type(), 0));
      case Epilogue::silu: return x / (cast(x.type(), 1) + exp(-x));
      default: return x;
    }
  }

  Input<Buffer<>>* bias_ = nullptr;
};

}  // namespace

HALIDE_REGISTER_GENERATOR(MatMul, matmul)

KILN_REGISTER(matmul)
    .symbol("m", "A.1 C.1")
    .symbol("n", "B.0 C.0 bias.0")
    .symbol("k", "A.0 B.1")
    .type_param("type")
    .contract(kiln::Contract::bounded);
