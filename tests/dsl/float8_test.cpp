// The 8-bit floats, in C++ and in Halide, against tables that are worked out here from the formats' definition, in exact arithmetic: every code, every
// bfloat16 value, and what lies on and just beside the middle of two neighbours.
#include "dsl/float8.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "dsl/algorithm.h"
#include "dsl/float8_halide.h"
#include "dsl/read_algorithm.h"
#include "dsl/rebuild.h"
#include "tests/dsl/halide_runs.h"

namespace {

// Quantises rows by their own scale: what an algorithm does with the expressions.
class QuantisedRows : public Halide::Generator<QuantisedRows> {
 public:
  Input<Buffer<float, 2>> x{"x"};
  Output<Buffer<std::uint8_t, 2>> q{"q"};
  Output<Buffer<float, 2>> back{"back"};

  void generate() {
    Var n("n"), m("m");
    RDom k(0, x.dim(0).extent(), "k");
    Func peak("peak");
    peak(m) = 0.0f;
    peak(m) = max(peak(m), abs(x(k, m)));
    q(n, m) = kiln::encode_float8(kiln::kE4M3FN, x(n, m) * (448.0f / peak(m)));
    back(n, m) = kiln::decode_float8(kiln::kE4M3FN, q(n, m)) / (448.0f / peak(m));
  }

  void schedule() {
    x.set_estimates({{0, 64}, {0, 64}});
    q.set_estimates({{0, 64}, {0, 64}});
    back.set_estimates({{0, 64}, {0, 64}});
  }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(QuantisedRows, kiln_test_quantised_rows)

namespace kiln {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

// The definition: sign, exponent and mantissa fields by division, powers of two by repeated doubling. All doubles in it are exact.
double power_of_two(int exponent) {
  double value = 1;
  for (; exponent > 0; --exponent) value *= 2;
  for (; exponent < 0; ++exponent) value /= 2;
  return value;
}

double by_definition(int exponent_bits, int mantissa_bits, bool is_fn, int code) {
  const int mantissas = static_cast<int>(power_of_two(mantissa_bits)), exponents = static_cast<int>(power_of_two(exponent_bits));
  const int mantissa = code % mantissas, exponent = code / mantissas % exponents, bias = exponents / 2 - 1;
  const double sign = code / 128 == 1 ? -1 : 1;
  const bool is_last = exponent == exponents - 1;
  if (is_fn && is_last && mantissa == mantissas - 1) return kNan;
  if (!is_fn && is_last) return mantissa == 0 ? sign * kInfinity : kNan;
  if (exponent == 0) return sign * mantissa / mantissas * power_of_two(1 - bias);
  return sign * (1 + static_cast<double>(mantissa) / mantissas) * power_of_two(exponent - bias);
}

struct Format {
  Float8 format;
  int exponent_bits, mantissa_bits;
  bool is_fn;
  std::vector<double> magnitudes;  // of the finite codes from 0 up

  double value(int code) const { return by_definition(exponent_bits, mantissa_bits, is_fn, code); }
};
void PrintTo(const Format& f, std::ostream* out) { *out << f.format.name; }

Format made(const Float8& format, int exponent_bits, int mantissa_bits, bool is_fn) {
  Format f{format, exponent_bits, mantissa_bits, is_fn, {}};
  for (int code = 0; code < 128 && std::isfinite(f.value(code)); ++code) f.magnitudes.push_back(f.value(code));
  return f;
}

// The nearest of the table by comparing with the middles of neighbours, which are exact too.
int nearest_code(const Format& f, double value) {
  if (std::isnan(value)) return 0x7f;
  const double magnitude = std::abs(value);
  const int last = static_cast<int>(f.magnitudes.size()) - 1;
  int code = 0;
  while (code < last) {
    const double middle = (f.magnitudes[static_cast<std::size_t>(code)] + f.magnitudes[static_cast<std::size_t>(code) + 1]) / 2;
    if (magnitude < middle || (magnitude == middle && code % 2 == 0)) break;
    ++code;
  }
  return code + (std::signbit(value) ? 128 : 0);
}

std::vector<float> every_bfloat16() {
  std::vector<float> values;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) values.push_back(std::bit_cast<float>(bits << 16));
  return values;
}

// The codes themselves, the middles, and the f32 on either side of both, of both signs.
std::vector<float> borders(const Format& f) {
  std::vector<float> values;
  const auto add = [&](double value) {
    const auto v = static_cast<float>(value);
    for (const float near : {std::nextafter(v, 0.0f), v, std::nextafter(v, std::numeric_limits<float>::infinity())})
      for (const float sign : {1.0f, -1.0f}) values.push_back(sign * near);
  };
  for (std::size_t i = 0; i < f.magnitudes.size(); ++i) {
    add(f.magnitudes[i]);
    if (i > 0) add((f.magnitudes[i - 1] + f.magnitudes[i]) / 2);
  }
  const double largest = f.magnitudes.back();
  for (const double v : {largest + (largest - f.magnitudes[f.magnitudes.size() - 2]) / 2, largest * 2, 3e38, 1e-38, 1e-45}) add(v);
  return values;
}

std::vector<std::uint8_t> encode_in_halide(const Format& f, const std::vector<float>& values, const Halide::Type& type, const std::string& target, int lanes) {
  Halide::Buffer<float> input(const_cast<float*>(values.data()), static_cast<int>(values.size()));
  Halide::Var x("x");
  Halide::Func typed("typed"), codes("codes");
  typed(x) = Halide::cast(type, input(x));
  codes(x) = encode_float8(f.format, typed(x));
  if (lanes > 1) codes.vectorize(x, lanes, Halide::TailStrategy::GuardWithIf);
  const Halide::Buffer<std::uint8_t> got = codes.realize({static_cast<int>(values.size())}, Halide::Target(target));
  return {got.begin(), got.end()};
}

class Float8Test : public testing::TestWithParam<Format> {
 protected:
  void expect_nearest(const std::vector<float>& values, const std::vector<std::uint8_t>& codes) const {
    ASSERT_EQ(codes.size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(static_cast<int>(codes[i]), nearest_code(GetParam(), static_cast<double>(values[i]))) << values[i];
    }
  }
};

INSTANTIATE_TEST_SUITE_P(, Float8Test, testing::Values(made(kE4M3FN, 4, 3, true), made(kE5M2, 5, 2, false)),
                         [](const auto& test) { return std::string(test.param.format.name); });

TEST(Float8Tables, agree_with_the_figures_of_the_standard) {
  const Format e4m3fn = made(kE4M3FN, 4, 3, true), e5m2 = made(kE5M2, 5, 2, false);
  EXPECT_EQ(e4m3fn.magnitudes.size(), 127u);
  EXPECT_EQ(e4m3fn.magnitudes.back(), 448);
  EXPECT_EQ(e4m3fn.value(0x08), 0x1p-6);  // the smallest normal number
  EXPECT_EQ(e4m3fn.value(0x07), 0.875 * 0x1p-6);
  EXPECT_EQ(e4m3fn.value(0x01), 0x1p-9);
  EXPECT_TRUE(std::isnan(e4m3fn.value(0xff)));
  EXPECT_EQ(e5m2.magnitudes.size(), 124u);
  EXPECT_EQ(e5m2.magnitudes.back(), 57344);
  EXPECT_EQ(e5m2.value(0x04), 0x1p-14);
  EXPECT_EQ(e5m2.value(0x03), 0.75 * 0x1p-14);
  EXPECT_EQ(e5m2.value(0x01), 0x1p-16);
  EXPECT_EQ(e5m2.value(0xfc), -kInfinity);
  EXPECT_TRUE(std::isnan(e5m2.value(0x7d)));
}

TEST_P(Float8Test, every_code_decodes_to_what_the_definition_says) {
  const Format& f = GetParam();
  for (int code = 0; code < 256; ++code) {
    const double got = decode_float8(f.format, static_cast<std::uint8_t>(code)), expected = f.value(code);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(got)) << code;
    } else {
      EXPECT_EQ(got, expected) << code;
      EXPECT_EQ(std::signbit(got), code >= 128) << code;
    }
  }
}

TEST_P(Float8Test, every_code_of_a_number_encodes_to_itself_and_infinity_saturates) {
  const Format& f = GetParam();
  for (int code = 0; code < 256; ++code) {
    const double value = f.value(code);
    const int expected = std::isnan(value) ? 0x7f : std::isinf(value) ? (code & 0x80) | f.format.largest : code;
    EXPECT_EQ(encode_float8(f.format, value), expected) << code;
  }
}

TEST_P(Float8Test, every_bfloat16_value_encodes_to_the_nearest_code) {
  const std::vector<float> values = every_bfloat16();
  std::vector<std::uint8_t> codes;
  for (const float value : values) codes.push_back(encode_float8(GetParam().format, static_cast<double>(value)));
  expect_nearest(values, codes);
}

TEST_P(Float8Test, doubles_are_rounded_once) {
  const Format& f = GetParam();
  for (std::size_t i = 1; i < f.magnitudes.size(); ++i) {
    const double middle = (f.magnitudes[i - 1] + f.magnitudes[i]) / 2;
    // As f32 both of these would be the middle.
    EXPECT_EQ(encode_float8(f.format, std::nextafter(middle, 0.0)), i - 1) << middle;
    EXPECT_EQ(encode_float8(f.format, std::nextafter(middle, kInfinity)), i) << middle;
    EXPECT_EQ(encode_float8(f.format, middle), i % 2 == 0 ? i : i - 1) << middle;
  }
}

TEST_P(Float8Test, finite_codes_are_those_of_numbers) {
  const Format& f = GetParam();
  std::size_t finite = 0;
  for (const double code : finite_codes(f.format)) {
    EXPECT_TRUE(std::isfinite(f.value(static_cast<int>(code)))) << code;
    ++finite;
  }
  EXPECT_EQ(finite, 2 * f.magnitudes.size());
}

TEST_P(Float8Test, normal_codes_are_quantiles_of_normal_numbers) {
  const Format& f = GetParam();
  const std::vector<double> codes = normal_codes(f.format);
  ASSERT_EQ(codes.size(), 256u);
  double largest = 0, squares = 0, sum = 0;
  for (const double code : codes) {
    const double value = f.value(static_cast<int>(code));
    EXPECT_NE(value, 0) << code;
    largest = std::max(largest, value), squares += value * value, sum += value;
  }
  EXPECT_EQ(largest, f.magnitudes.back());
  EXPECT_EQ(sum, 0);
  // The 511th of 512 quantiles is 2.886 standard deviations away; the ends are cut off.
  EXPECT_NEAR(std::sqrt(squares / 256), largest / 2.886, 0.02 * largest / 2.886);
}

TEST_P(Float8Test, halide_encodes_every_bfloat16_value_under_every_flag_and_schedule) {
  const std::vector<float> values = every_bfloat16();
  const std::string strict = tests::test_target(), loose = strict.substr(0, strict.rfind("-strict_float"));
  for (const std::string& target : {strict, loose}) {
    expect_nearest(values, encode_in_halide(GetParam(), values, Halide::BFloat(16), target, 16));
    expect_nearest(values, encode_in_halide(GetParam(), values, Halide::Float(32), target, 16));
  }
  expect_nearest(values, encode_in_halide(GetParam(), values, Halide::BFloat(16), "x86-64-linux-sse41", 1));
}

TEST_P(Float8Test, halide_rounds_f32_exactly_on_and_beside_every_border) {
  const std::vector<float> values = borders(GetParam());
  ASSERT_GT(values.size(), 1400u);
  for (const int lanes : {1, 16}) expect_nearest(values, encode_in_halide(GetParam(), values, Halide::Float(32), tests::test_target(), lanes));
}

TEST_P(Float8Test, halide_decodes_every_code) {
  const Format& f = GetParam();
  Halide::Buffer<std::uint8_t> codes(256);
  for (int code = 0; code < 256; ++code) codes(code) = static_cast<std::uint8_t>(code);
  for (const int lanes : {1, 16}) {
    Halide::Var x("x");
    Halide::Func values("values");
    values(x) = decode_float8(f.format, codes(x));
    if (lanes > 1) values.vectorize(x, lanes);
    const Halide::Buffer<float> got = values.realize({256}, Halide::Target(tests::test_target()));
    for (int code = 0; code < 256; ++code) {
      const double expected = f.value(code);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(got(code))) << code;
      } else {
        EXPECT_EQ(static_cast<double>(got(code)), expected) << code;
        EXPECT_EQ(std::signbit(got(code)), code >= 128) << code;
      }
    }
  }
}

template <typename Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Float8Halide, refuses_types_that_it_would_get_wrong) {
  EXPECT_EQ(refusal([] { encode_float8(kE5M2, Halide::Expr(1.0)); }),
            "encode_float8 takes f32, f16 or bf16: what is wider would be rounded twice; cast it first");
  EXPECT_EQ(refusal([] { encode_float8(kE5M2, Halide::Expr(1)); }),
            "encode_float8 takes f32, f16 or bf16: what is wider would be rounded twice; cast it first");
  EXPECT_EQ(refusal([] { decode_float8(kE5M2, Halide::Expr(1)); }), "decode_float8 takes UInt(8)");
}

// Of a row whose largest element is 10 the scale is 44.8: 1 becomes 44.8, then 44, and 44 / 44.8 = 55/56.
TEST(Float8InAlgorithms, a_row_scale_of_ten_turns_one_into_55_of_56) {
  const double scale = 448.0 / 10;
  EXPECT_EQ(decode_float8(kE4M3FN, encode_float8(kE4M3FN, 1 * scale)), 44);
  EXPECT_DOUBLE_EQ(44 / scale, 55.0 / 56);
}

TEST(Float8InAlgorithms, are_read_rebuilt_and_judged_like_any_other) {
  const Algorithm algorithm = read_algorithm("kiln_test_quantised_rows", {}, tests::test_target());
  EXPECT_EQ(algorithm.arguments[1].type, (DType{TypeClass::unsigned_int, 8}));
  const auto made = tests::run(tests::original("kiln_test_quantised_rows", {}), algorithm);
  EXPECT_EQ(tests::bytes_of(tests::run(rebuild(algorithm), algorithm)), tests::bytes_of(made));
  // In f64 the scaled elements round to the same codes, but for those that f32 moved over a border; here there are none.
  const auto reference = tests::run(rebuild_reference(algorithm), algorithm);
  const Halide::Buffer<std::uint8_t> codes(made[0]), exact(reference[0]);
  int different = 0;
  for (int m = 0; m < codes.height(); ++m)
    for (int n = 0; n < codes.width(); ++n) different += codes(n, m) != exact(n, m);
  EXPECT_LE(different, 1);
}

}  // namespace
}  // namespace kiln
