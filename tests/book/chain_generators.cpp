// z = silu(g) * u in bf16, each value rounded where it is stored; then, unless told otherwise, z quantised to E4M3 under a fixed scale.
#include <Halide.h>

#include "dsl/float8_halide.h"
#include "dsl/registration.h"

namespace {

using Halide::BFloat;

class BookChain : public Halide::Generator<BookChain> {
 public:
  GeneratorParam<bool> quantised{"quantised", true};

  Input<Buffer<>> g{"g", BFloat(16), 2};
  Input<Buffer<>> u{"u", BFloat(16), 2};
  Output<Buffer<>> out{"out", 2};

  void configure() { out.set_type(quantised ? Halide::UInt(8) : BFloat(16)); }

  void generate() {
    Var n("n"), m("m");
    Func t("t"), z("z"), q("q");
    const Expr gate = cast<float>(g(n, m));
    t(n, m) = cast(BFloat(16), gate / (1.0f + exp(-gate)));
    z(n, m) = cast(BFloat(16), cast<float>(t(n, m)) * cast<float>(u(n, m)));
    q(n, m) = kiln::encode_float8(kiln::kE4M3FN, cast<float>(z(n, m)) * 16.0f);
    out = quantised ? q : z;
  }

  void schedule() {
    for (auto* matrix : {&g, &u}) matrix->set_estimates({{0, 12288}, {0, 1024}});
    out.set_estimates({{0, 12288}, {0, 1024}});
  }
};

// The same sum with SiLU after it and before it.
class BookSilu : public Halide::Generator<BookSilu> {
 public:
  GeneratorParam<bool> before{"before", false};

  Input<Buffer<float, 2>> x{"x"};
  Output<Buffer<float, 1>> y{"y"};

  void generate() {
    Var m("m");
    RDom k(0, x.dim(0).extent(), "k");
    Func sum("sum");
    sum(m) = 0.0f;
    sum(m) += before ? silu(x(k, m)) : Expr(x(k, m));
    y(m) = before ? Expr(sum(m)) : silu(sum(m));
  }

  void schedule() {
    x.set_estimates({{0, 2}, {0, 1}});
    y.set_estimates({{0, 1}});
  }

 private:
  static Expr silu(const Expr& v) { return v / (1.0f + exp(-v)); }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(BookChain, book_chain)
HALIDE_REGISTER_GENERATOR(BookSilu, book_silu)

KILN_REGISTER(book_chain).symbol("m", "g.1 u.1 out.1").symbol("n", "g.0 u.0 out.0").contract(kiln::Contract::strict);
KILN_REGISTER(book_silu).symbol("m", "x.1 y.0").symbol("k", "x.0").contract(kiln::Contract::strict);
