// C(n, m) = (sum over k of A(k, m) * Bt(k, n)) * row_scale(m) * column_scale(n): a product of matrices of E4M3 codes, UInt(8), whose terms are neighbours in
// both, as the tensor cores take them. Summed in f32, scaled in f32, rounded once.
//
// accumulation=plain lets the tensor cores keep the whole sum, of which they cut off what is below 14 bits in every step: the contract is then `free`, and the
// error may grow with the number of terms. 24 % of a sum of 16384 positive terms are lost so (an H200); by default sums of 128 terms are added up outside.

#include <Halide.h>

#include "dsl/float8_halide.h"
#include "dsl/registration.h"
#include "generators/operators/short_floats.h"

namespace {

enum class Accumulation { promoted, plain };

class MatMulFp8 : public Halide::Generator<MatMulFp8> {
 public:
  GeneratorParam<Halide::Type> type{"type", Halide::BFloat(16)};  // of the result
  // Of what a schedule may do, not of what is computed: the contract below asks for it.
  GeneratorParam<Accumulation> accumulation{"accumulation", Accumulation::promoted, {{"promoted", Accumulation::promoted}, {"plain", Accumulation::plain}}};

  Input<Buffer<std::uint8_t, 2>> A{"A"};
  Input<Buffer<std::uint8_t, 2>> Bt{"Bt"};
  Input<Buffer<float, 1>> row_scale{"row_scale"};
  Input<Buffer<float, 1>> column_scale{"column_scale"};
  Output<Buffer<>> C{"C", 2};

  void configure() {
    kiln::generators::require_short_float("matmul_fp8", type);
    C.set_type(type);
  }

  void generate() {
    Var n("n"), m("m");
    RDom k(0, A.dim(0).extent(), "k");
    Func c("c"), y("y");
    c(n, m) = 0.0f;
    c(n, m) += kiln::decode_float8(kiln::kE4M3FN, A(k, m)) * kiln::decode_float8(kiln::kE4M3FN, Bt(k, n));
    y(n, m) = cast(type, c(n, m) * row_scale(m) * column_scale(n));
    C = y;
  }

  void schedule() {
    A.set_estimates({{0, 4096}, {0, 1024}});
    Bt.set_estimates({{0, 4096}, {0, 4096}});
    row_scale.set_estimates({{0, 1024}});
    column_scale.set_estimates({{0, 4096}});
    C.set_estimates({{0, 4096}, {0, 1024}});
  }
};

// What quantising rows of 1,000 to 16,000 normal numbers gives: their largest magnitude is 3.2 to 4.2, and the largest code stands for 448.
constexpr double kLeastScale = 0.007, kLargestScale = 0.0095;

}  // namespace

HALIDE_REGISTER_GENERATOR(MatMulFp8, matmul_fp8)

KILN_REGISTER(matmul_fp8)
    .symbol("m", "A.1 row_scale.0 C.1")
    .symbol("n", "Bt.1 column_scale.0 C.0")
    .symbol("k", "A.0 Bt.0")
    .values("A", kiln::normal_codes(kiln::kE4M3FN))
    .values("Bt", kiln::normal_codes(kiln::kE4M3FN))
    .range("row_scale", kLeastScale, kLargestScale)
    .range("column_scale", kLeastScale, kLargestScale)
    .type_param("type")
    .contract(kiln::Contract::bounded)
    .contract_where("accumulation", "plain", kiln::Contract::free);
