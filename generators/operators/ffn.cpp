// y(h, m) = sum over n of hidden(n, m) * Wd(h, n), hidden(n, m) = silu(gate) * up, gate(n, m) = sum over k of x(k, m) * Wg(n, k), and up(n, m) the same of Wu: the
// feed-forward layer of a transformer as one algorithm, whose kernel boundaries a schedule chooses. Row-major matrices, the innermost dimension first. Products of
// 16-bit floats are summed in f32; gate, up, hidden and y are rounded to the type of the inputs, as kernels of their own would store them, wherever they are
// computed. The weights lie in one of two orders: weights=nk, or weights=kn, each result's terms side by side, as Wgt(k, n), Wut(k, n) and Wdt(n, h).

#include <Halide.h>

#include "dsl/registration.h"
#include "generators/operators/short_floats.h"

namespace {

enum class Weights { nk, kn };

class Ffn : public Halide::Generator<Ffn> {
 public:
  GeneratorParam<Halide::Type> type{"type", Float(32)};
  GeneratorParam<Weights> weights{"weights", Weights::nk, {{"nk", Weights::nk}, {"kn", Weights::kn}}};

  Input<Buffer<>> x{"x", 2};
  Output<Buffer<>> y{"y", 2};

  void configure() {
    kiln::generators::require_short_float("ffn", type);
    x.set_type(type);
    gate_weights_ = add_weights("Wg");
    up_weights_ = add_weights("Wu");
    down_weights_ = add_weights("Wd");
    y.set_type(type);
  }

  void generate() {
    const Expr k = x.dim(0).extent(), n = down_weights_->dim(weights == Weights::nk ? 1 : 0).extent();
    const Func gate = product("gate", n_, x, *gate_weights_, "k", k), up = product("up", n_, x, *up_weights_, "k", k);
    Func silu("silu"), hidden("hidden");
    const Expr g = cast<float>(gate(n_, m_));
    silu(n_, m_) = g / (1.0f + exp(-g));
    hidden(n_, m_) = cast(type, silu(n_, m_) * cast<float>(up(n_, m_)));
    y(h_, m_) = product("down", h_, hidden, *down_weights_, "n", n)(h_, m_);
  }

  void schedule() {
    for (Input<Buffer<>>* matrix : {&x, gate_weights_, up_weights_, down_weights_}) matrix->set_estimates({{0, 1024}, {0, 1024}});
    y.set_estimates({{0, 1024}, {0, 1024}});
  }

 private:
  Input<Buffer<>>* add_weights(const std::string& name) { return add_input<Buffer<>>(weights == Weights::nk ? name : name + "t", type, 2); }

  // Of the rows of `rows` by the columns of `matrix`, as a kernel of its own would store it.
  template <typename Rows>
  Func product(const std::string& name, const Var& column, const Rows& rows, const Input<Buffer<>>& matrix, const std::string& terms_name, const Expr& terms) {
    Func sum(name + "_sum"), whole(name);
    RDom k(0, terms, terms_name);
    sum(column, m_) = 0.0f;
    sum(column, m_) += cast<float>(rows(k, m_)) * cast<float>(weights == Weights::nk ? matrix(column, k) : matrix(k, column));
    whole(column, m_) = cast(type, sum(column, m_));
    return whole;
  }

  Var h_{"h"}, n_{"n"}, m_{"m"};
  Input<Buffer<>>* gate_weights_ = nullptr;
  Input<Buffer<>>* up_weights_ = nullptr;
  Input<Buffer<>>* down_weights_ = nullptr;
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Ffn, ffn)

KILN_REGISTER(ffn)
    .symbol("m", "x.1 y.1")
    .symbol("h", "Wd.0 Wdt.1 y.0")
    .symbol("n", "Wg.0 Wgt.1 Wu.0 Wut.1 Wd.1 Wdt.0")
    .symbol("k", "x.0 Wg.1 Wgt.0 Wu.1 Wut.0")
    .type_param("type")
    .contract(kiln::Contract::bounded);
