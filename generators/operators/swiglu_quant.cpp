// silu(g) * u as E4M3 codes: the gate of a feed-forward layer whose next product is of 8-bit floats. scale=fixed: times `inv_scale`, an argument of the
// call. scale=row: each row divided by a scale of its own, which takes its largest element to 448 and is the second output.
// Computed in f32. Strict: every schedule gives the same bits.

#include <Halide.h>

#include "dsl/float8_halide.h"
#include "dsl/registration.h"
#include "generators/operators/short_floats.h"

namespace {

constexpr float kLargest = 448;  // that E4M3 holds
// A row of nothing larger than this is scaled as if it held it: a row of zeros has a scale to divide by.
constexpr float kLeastPeak = 1.0f / 512;

enum class Scale { fixed, row };

class SwiGluQuant : public Halide::Generator<SwiGluQuant> {
 public:
  GeneratorParam<Halide::Type> type{"type", Float(32)};
  GeneratorParam<Scale> scale{"scale", Scale::fixed, {{"fixed", Scale::fixed}, {"row", Scale::row}}};

  Input<Buffer<>> g{"g", 2};
  Input<Buffer<>> u{"u", 2};
  Output<Buffer<std::uint8_t, 2>> y{"y"};

  void configure() {
    kiln::generators::require_short_float("swiglu_quant", type);
    g.set_type(type);
    u.set_type(type);
    if (scale == Scale::row) {
      scales_ = add_output<Buffer<float, 1>>("scales");
    } else {
      inv_scale_ = add_input<float>("inv_scale");
    }
  }

  void generate() {
    Var n("n"), m("m");
    Func value("value"), scaled("scaled");
    const Expr x = cast<float>(g(n, m));
    value(n, m) = x / (1.0f + exp(-x)) * cast<float>(u(n, m));
    if (scale == Scale::row) {
      RDom k(0, g.dim(0).extent(), "k");
      Func peak("peak"), row("row");
      peak(m) = 0.0f;
      peak(m) = max(peak(m), abs(value(k, m)));
      row(m) = max(peak(m), kLeastPeak) / kLargest;
      scaled(n, m) = value(n, m) / row(m);
      (*scales_)(m) = row(m);
    } else {
      scaled(n, m) = value(n, m) * Expr(*inv_scale_);
    }
    y(n, m) = kiln::encode_float8(kiln::kE4M3FN, scaled(n, m));
  }

  void schedule() {
    g.set_estimates({{0, 4096}, {0, 256}});
    u.set_estimates({{0, 4096}, {0, 256}});
    y.set_estimates({{0, 4096}, {0, 256}});
    if (scale == Scale::row) {
      scales_->set_estimates({{0, 256}});
    } else {
      inv_scale_->set_estimate(16.0f);  // silu(g) * u of normal g and u stays below 448 / 16
    }
  }

 private:
  Input<float>* inv_scale_ = nullptr;
  Output<Buffer<float, 1>>* scales_ = nullptr;
};

}  // namespace

HALIDE_REGISTER_GENERATOR(SwiGluQuant, swiglu_quant)

KILN_REGISTER(swiglu_quant)
    .symbol("m", "g.1 u.1 y.1 scales.0")
    .symbol("n", "g.0 u.0 y.0")
    .type_param("type")
    .contract(kiln::Contract::strict);
