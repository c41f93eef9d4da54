// A row of A scaled so that its largest value is 448 and rounded to E4M3; then multiplied by an E4M3 matrix, or scaled back.
#include <Halide.h>

#include "dsl/float8_halide.h"
#include "dsl/registration.h"

namespace {

using Halide::Float;
using Halide::UInt;
using kiln::decode_float8;
using kiln::encode_float8;
using kiln::kE4M3FN;

// C(n, m) = sum over k of q(k, m) * W(n, k) / 448, q the quantised rows of A: in units of the row's largest value, which whoever reads C has.
class BookQuantiseMatMul : public Halide::Generator<BookQuantiseMatMul> {
 public:
  Input<Buffer<>> A{"A", Float(16), 2};
  Input<Buffer<>> W{"W", UInt(8), 2};
  Output<Buffer<>> C{"C", Float(16), 2};

  void generate() {
    Var n("n"), m("m"), i("i");
    RDom j(0, A.dim(0).extent(), "j"), k(0, A.dim(0).extent(), "k");
    Func row_max("row_max"), q("q"), c("c"), y("y");
    row_max(m) = 0.0f;
    row_max(m) = max(row_max(m), abs(cast<float>(A(j, m))));
    q(i, m) = encode_float8(kE4M3FN, cast<float>(A(i, m)) * (448.0f / row_max(m)));
    c(n, m) = 0.0f;
    c(n, m) += decode_float8(kE4M3FN, q(k, m)) * decode_float8(kE4M3FN, W(n, k));
    y(n, m) = cast(Float(16), c(n, m) / 448.0f);
    C = y;
  }

  void schedule() {
    A.set_estimates({{0, 4096}, {0, 4096}});
    W.set_estimates({{0, 1536}, {0, 4096}});
    C.set_estimates({{0, 1536}, {0, 4096}});
  }
};

// What is left of a row after it was quantised.
class BookQuantiseRow : public Halide::Generator<BookQuantiseRow> {
 public:
  Input<Buffer<float, 2>> x{"x"};
  Output<Buffer<float, 2>> y{"y"};

  void generate() {
    Var n("n"), m("m");
    RDom k(0, x.dim(0).extent(), "k");
    Func row_max("row_max"), q("q");
    row_max(m) = 0.0f;
    row_max(m) = max(row_max(m), abs(x(k, m)));
    q(n, m) = encode_float8(kE4M3FN, x(n, m) * (448.0f / row_max(m)));
    y(n, m) = decode_float8(kE4M3FN, q(n, m)) * (row_max(m) / 448.0f);
  }

  void schedule() {
    x.set_estimates({{0, 2}, {0, 1}});
    y.set_estimates({{0, 2}, {0, 1}});
  }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(BookQuantiseMatMul, book_quantise_matmul)
HALIDE_REGISTER_GENERATOR(BookQuantiseRow, book_quantise_row)

KILN_REGISTER(book_quantise_matmul)
    .symbol("m", "A.1 C.1")
    .symbol("n", "W.0 C.0")
    .symbol("k", "A.0 W.1")
    .contract(kiln::Contract::bounded);
KILN_REGISTER(book_quantise_row).symbol("m", "x.1 y.1").symbol("n", "x.0 y.0").contract(kiln::Contract::strict);
