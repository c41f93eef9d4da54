// Attention of one head without a mask, twice: over blocks of keys with a running maximum, and with all scores at once.
#include <Halide.h>

#include "dsl/registration.h"

namespace {

// A row of `state` is: the maximum before this block, the maximum so far, the sum of exp(score - maximum), and the weighted sums of the values.
// One update goes through a block in this order, so each element has what it needs when its turn comes.
class BookOnlineAttention : public Halide::Generator<BookOnlineAttention> {
 public:
  GeneratorParam<Halide::Type> type{"type", Halide::BFloat(16)};
  GeneratorParam<int> block{"block", 64};

  Input<Buffer<>> Q{"Q", 2};
  Input<Buffer<>> K{"K", 2};
  Input<Buffer<>> V{"V", 2};
  Output<Buffer<>> O{"O", 2};

  void configure() {
    for (auto* input : {&Q, &K, &V}) input->set_type(type);
    O.set_type(type);
  }

  void generate() {
    Var k("k"), q("q"), j("j"), e("e"), d("d");
    const int rows = block;
    const Expr depth = Q.dim(0).extent(), blocks = (K.dim(1).extent() + rows - 1) / rows;
    RDom i(0, depth, "i"), r({{0, rows}, {0, depth + 3}, {0, blocks}}, "r");
    Func scores("scores"), state("state"), result("o");
    scores(k, q, j) = 0.0f;
    scores(k, q, j) += cast<float>(Q(i, q)) * cast<float>(K(i, j * rows + k));
    state(e, q) = select(e < 2, Halide::Float(32).min(), 0.0f);
    const Expr score = scores(r.x, q, r.z), weight = exp(score - state(1, q));
    const Expr rescale = select(r.x == 0, exp(state(0, q) - state(1, q)), 1.0f);
    const Expr value = cast<float>(V(clamp(r.y - 3, 0, depth - 1), r.z * rows + r.x));
    state(r.y, q) = select(r.y == 0, select(r.x == 0, state(1, q), state(0, q)),
                           r.y == 1, max(state(1, q), score),
                           state(r.y, q) * rescale + weight * select(r.y == 2, 1.0f, value));
    result(d, q) = cast(type, state(d + 3, q) / state(2, q));
    O = result;
  }

  void schedule() {
    for (auto* input : {&Q, &K, &V}) input->set_estimates({{0, 128}, {0, 8192}});
    O.set_estimates({{0, 128}, {0, 8192}});
  }
};

class BookFullAttention : public Halide::Generator<BookFullAttention> {
 public:
  Input<Buffer<>> Q{"Q", Halide::BFloat(16), 2};
  Input<Buffer<>> K{"K", Halide::BFloat(16), 2};
  Input<Buffer<>> V{"V", Halide::BFloat(16), 2};
  Output<Buffer<>> O{"O", Halide::BFloat(16), 2};

  void generate() {
    Var k("k"), q("q"), d("d");
    RDom i(0, Q.dim(0).extent(), "i"), all(0, K.dim(1).extent(), "all");
    Func dot("dot"), s("s"), row_max("row_max"), p("p"), row_sum("row_sum"), sums("sums"), result("o");
    dot(k, q) = 0.0f;
    dot(k, q) += cast<float>(Q(i, q)) * cast<float>(K(i, k));
    s(k, q) = dot(k, q);
    row_max(q) = Halide::Float(32).min();
    row_max(q) = max(row_max(q), s(all, q));
    p(k, q) = exp(s(k, q) - row_max(q));
    row_sum(q) = 0.0f;
    row_sum(q) += p(all, q);
    sums(d, q) = 0.0f;
    sums(d, q) += p(all, q) * cast<float>(V(d, all));
    result(d, q) = cast(Halide::BFloat(16), sums(d, q) / row_sum(q));
    O = result;
  }

  void schedule() {
    for (auto* input : {&Q, &K, &V}) input->set_estimates({{0, 128}, {0, 8192}});
    O.set_estimates({{0, 128}, {0, 8192}});
  }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(BookOnlineAttention, book_online_attention)
HALIDE_REGISTER_GENERATOR(BookFullAttention, book_full_attention)

KILN_REGISTER(book_online_attention)
    .symbol("l", "Q.1 K.1 V.1 O.1")
    .symbol("d", "Q.0 K.0 V.0 O.0")
    .type_param("type")
    .contract(kiln::Contract::bounded);
KILN_REGISTER(book_full_attention).symbol("l", "Q.1 K.1 V.1 O.1").symbol("d", "Q.0 K.0 V.0 O.0").contract(kiln::Contract::bounded);
