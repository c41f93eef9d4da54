// RMSNorm in bf16 whose squares are summed by segments of a row: all of it can be one group a row, or a kernel of its own for the segments.
#include <Halide.h>

#include "dsl/registration.h"

namespace {

class BookRmsNorm : public Halide::Generator<BookRmsNorm> {
 public:
  GeneratorParam<int> segments{"segments", 8};

  Input<Buffer<>> x{"x", Halide::BFloat(16), 2};
  Input<Buffer<>> gamma{"gamma", Halide::BFloat(16), 1};
  Output<Buffer<>> y{"y", Halide::BFloat(16), 2};

  void generate() {
    Var n("n"), m("m"), s("s");
    const Expr width = x.dim(0).extent(), length = width / static_cast<int>(segments);
    RDom k(0, length, "k"), part(0, static_cast<int>(segments), "part");
    Func squares("squares"), segment("segment"), total("total"), scale("scale"), result("y");
    const Expr value = cast<float>(x(s * length + k, m));
    squares(s, m) = 0.0f;
    squares(s, m) += value * value;
    segment(s, m) = squares(s, m);
    total(m) = 0.0f;
    total(m) += segment(part, m);
    scale(m) = 1.0f / sqrt(total(m) / cast<float>(width) + 1e-5f);
    result(n, m) = cast(Halide::BFloat(16), cast<float>(x(n, m)) * scale(m) * cast<float>(gamma(n)));
    y = result;
  }

  void schedule() {
    x.set_estimates({{0, 4096}, {0, 1024}});
    gamma.set_estimates({{0, 4096}});
    y.set_estimates({{0, 4096}, {0, 1024}});
  }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(BookRmsNorm, book_rmsnorm)

KILN_REGISTER(book_rmsnorm).symbol("m", "x.1 y.1").symbol("n", "x.0 gamma.0 y.0").contract(kiln::Contract::bounded);
