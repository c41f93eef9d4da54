#include "subjects.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "generators/cuda/emulator/tensor_map.h"
#include "numbers.h"
#include "tests/support/tests_folder.h"

namespace kiln::generators::cuda::emulator {
namespace {

// An E4M3 wgmma aligns its 32 products and the accumulator to the largest and keeps 13 bits after its first: over 128 of k this far off.
constexpr double kTruncated = 0.05;

Outcome judged(const Report& report, const std::string& found, const std::string& text = {}) {
  if (!report.ok()) return {report.kind, report.text, report};
  return {found, text, report};
}

EncodedMap map_of(const void* base, int inner, int outer, int box_inner, int box_outer, Swizzle swizzle = Swizzle::b128) {
  return encode({.base = const_cast<void*>(base),
                 .inner = static_cast<std::uint64_t>(inner),
                 .outer = static_cast<std::uint64_t>(outer),
                 .pitch_bytes = static_cast<std::uint64_t>(inner) * 2,
                 .box_inner = static_cast<std::uint32_t>(box_inner),
                 .box_outer = static_cast<std::uint32_t>(box_outer),
                 .element_bytes = 2,
                 .swizzle = swizzle});
}

// X[rows, k] W[columns, k]
std::vector<double> product(const std::vector<std::uint16_t>& x, const std::vector<std::uint16_t>& w, int rows, int columns, int k) {
  std::vector<float> a(x.size()), b(w.size());
  std::transform(x.begin(), x.end(), a.begin(), from_bf16);
  std::transform(w.begin(), w.end(), b.begin(), from_bf16);
  std::vector<double> result(static_cast<std::size_t>(rows * columns));
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      double sum = 0;
      const float *p = &a[static_cast<std::size_t>(row * k)], *q = &b[static_cast<std::size_t>(column * k)];
      for (int i = 0; i < k; ++i) sum += static_cast<double>(p[i]) * q[i];
      result[static_cast<std::size_t>(row * columns + column)] = sum;
    }
  return result;
}

// The first element that differs by more than `tolerance` · (|wanted| + 0.5), in words; empty when there is none.
template <class Got>
std::string first_wrong(const std::vector<double>& wanted, int columns, double tolerance, Got got) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double error = std::fabs(got(i) - wanted[i]);
    if (error <= tolerance * (std::fabs(wanted[i]) + 0.5)) continue;
    const auto c = static_cast<std::size_t>(columns);
    return "[" + std::to_string(i / c) + "," + std::to_string(i % c) + "] is off by " + std::to_string(error);
  }
  return {};
}

Outcome compared(const Report& report, const Memory& memory, const void* buffer, std::size_t bytes, const std::string& wrong) {
  if (report.ok() && memory.first_unwritten(buffer) < bytes) return judged(report, "unwritten output", std::to_string(memory.first_unwritten(buffer)));
  return judged(report, wrong.empty() ? "right" : "wrong numbers", wrong);
}

// Two tiles along each axis, the second ragged, and K so long that every slot of the ring is used three times.
struct RingProblem {
  static constexpr int m = 100, n = 200, k = 7 * 64 + 8;
  std::vector<std::uint16_t> x = random_bf16(m * k, 1, 1), w = random_bf16(n * k, 1 / std::sqrt(float(k)), 2);
  std::vector<double> c = product(x, w, m, n, k);
};

Outcome run_ring(const Runner& run, const Launch& launch) {
  static const RingProblem problem;
  Memory memory;
  int m = RingProblem::m, n = RingProblem::n, k = RingProblem::k;
  const auto* x = input(memory, "X", problem.x);
  const auto* w = input(memory, "W", problem.w);
  const auto* c = output<std::uint16_t>(memory, "C", problem.c.size());
  EncodedMap map_x = map_of(x, k, m, 64, 64), map_w = map_of(w, k, n, 64, 128), map_c = map_of(c, n, m, 64, 64);
  void* arguments[] = {&map_x, &map_w, &map_c, &m, &n, &k};
  const Report report = run(launch, memory, arguments);
  const std::string wrong = report.ok() ? first_wrong(problem.c, n, 0.012, [&](std::size_t i) { return from_bf16(c[i]); }) : "";
  return compared(report, memory, c, problem.c.size() * 2, wrong);
}

Outcome run_multicast(const Runner& run, const Launch& launch) {
  constexpr int kDepth = 5 * 64 + 8;
  static const std::vector<std::uint16_t> x_values = random_bf16(128 * kDepth, 1, 3), w_values = random_bf16(64 * kDepth, 0.1f, 4);
  static const std::vector<double> wanted = product(x_values, w_values, 128, 64, kDepth);
  Memory memory;
  int k = kDepth;
  EncodedMap map_x = map_of(input(memory, "X", x_values), k, 128, 64, 64), map_w = map_of(input(memory, "W", w_values), k, 64, 64, 32);
  float* c = output<float>(memory, "C", wanted.size());
  void* arguments[] = {&map_x, &map_w, &c, &k};
  const Report report = run(launch, memory, arguments);
  const std::string wrong = report.ok() ? first_wrong(wanted, 64, 1e-4, [&](std::size_t i) { return c[i]; }) : "";
  return compared(report, memory, c, wanted.size() * 4, wrong);
}

// Twice over the same workspace: the counter must be left as it was found.
Outcome run_split(const Runner& run, const Launch& launch) {
  Memory memory;
  int parts = static_cast<int>(launch.grid);
  std::vector<float> values(launch.grid * 64);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * i % 97);
  std::vector<double> wanted(64);
  for (std::size_t i = 0; i < values.size(); ++i) wanted[i % 64] += values[i];
  const float* x = input(memory, "x", values);
  float *workspace = output<float>(memory, "workspace", values.size()), *y = output<float>(memory, "y", 64);
  unsigned* counter = output<unsigned>(memory, "counter", 1, Memory::Use::zeroed);
  void* arguments[] = {&x, &workspace, &counter, &y, &parts};
  Report report;
  for (int launches = 0; launches < 2 && report.ok(); ++launches) report = run(launch, memory, arguments);
  if (report.ok() && *counter != 0) return judged(report, "counter left over", std::to_string(*counter));
  const std::string wrong = report.ok() ? first_wrong(wanted, 64, 0, [&](std::size_t i) { return y[i]; }) : "";
  return compared(report, memory, y, 64 * 4, wrong);
}

Outcome run_turns(const Runner& run, const Launch& launch) {
  Memory memory;
  int rounds = 4;
  unsigned* out = output<unsigned>(memory, "out", 32);
  void* arguments[] = {&out, &rounds};
  const Report report = run(launch, memory, arguments);
  const std::vector<double> wanted(32, 0b01010101);
  return compared(report, memory, out, 32 * 4, report.ok() ? first_wrong(wanted, 32, 0, [&](std::size_t i) { return out[i]; }) : "");
}

Outcome run_dependent(const Runner& run, const Launch& launch) {
  Memory memory;
  const float* w = input(memory, "w", std::vector<float>(32, 1));
  const float* x = input(memory, "x", std::vector<float>(32, 2), Memory::Use::fresh);
  float* y = output<float>(memory, "y", 32);
  void* arguments[] = {&w, &x, &y};
  const Report report = run(launch, memory, arguments);
  return compared(report, memory, y, 32 * 4, report.ok() ? first_wrong(std::vector<double>(32, 3), 32, 0, [&](std::size_t i) { return y[i]; }) : "");
}

// Element (mn, k) of the operand as its layout has it in a 64 x 64 matrix, brought to K-major.
std::vector<std::uint16_t> k_major(const std::vector<std::uint16_t>& matrix, bool is_mn_major) {
  if (!is_mn_major) return matrix;
  std::vector<std::uint16_t> turned(matrix.size());
  for (std::size_t i = 0; i < 64; ++i)
    for (std::size_t j = 0; j < 64; ++j) turned[i * 64 + j] = matrix[j * 64 + i];
  return turned;
}

Outcome run_layouts(const Runner& run, const Launch& launch, int span, bool a_mn, bool b_mn) {
  Memory memory;
  const std::vector<std::uint16_t> a = random_bf16(64 * 64, 1, 5), b = random_bf16(64 * 64, 1, 6);
  const Swizzle swizzle = span == 128 ? Swizzle::b128 : span == 64 ? Swizzle::b64 : span == 32 ? Swizzle::b32 : Swizzle::none;
  EncodedMap map_a = map_of(input(memory, "A", a), 64, 64, span / 2, 64, swizzle), map_b = map_of(input(memory, "B", b), 64, 64, span / 2, 64, swizzle);
  float* d = output<float>(memory, "D", 64 * 64);
  void* arguments[] = {&map_a, &map_b, &d};
  const Report report = run(launch, memory, arguments);
  const std::vector<double> wanted = product(k_major(a, a_mn), k_major(b, b_mn), 64, 64, 64);
  return compared(report, memory, d, 64 * 64 * 4, report.ok() ? first_wrong(wanted, 64, 1e-4, [&](std::size_t i) { return d[i]; }) : "");
}

Outcome run_product_e4m3(const Runner& run, const Launch& launch) {
  Memory memory;
  std::mt19937 random(12);
  std::vector<std::uint8_t> a(64 * 128), b(64 * 128);
  for (auto* matrix : {&a, &b})
    for (std::uint8_t& value : *matrix) value = static_cast<std::uint8_t>(random() % 2 * 0x80 + random() % 0x48);  // up to 2 and subnormals
  const auto map = [](void* base) {
    return encode({.base = base, .inner = 128, .outer = 64, .pitch_bytes = 128, .box_inner = 128, .box_outer = 64, .element_bytes = 1, .swizzle = Swizzle::b128});
  };
  EncodedMap map_a = map(input(memory, "A", a)), map_b = map(input(memory, "B", b));
  float* d = output<float>(memory, "D", 64 * 64);
  void* arguments[] = {&map_a, &map_b, &d};
  const Report report = run(launch, memory, arguments);
  std::vector<double> wanted(64 * 64);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    for (std::size_t k = 0; k < 128; ++k) wanted[i] += static_cast<double>(from_e4m3(a[i / 64 * 128 + k])) * from_e4m3(b[i % 64 * 128 + k]);
  return compared(report, memory, d, wanted.size() * 4, report.ok() ? first_wrong(wanted, 64, kTruncated, [&](std::size_t i) { return d[i]; }) : "");
}

std::string hex(std::uint32_t bits) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", bits);
  return text;
}

// The four results of moves.cu, for rows of 256 values.
std::string wrong_moves(const std::vector<std::uint16_t>& x, const float* sums, const float* neighbour, const std::uint16_t* transposed, const std::uint8_t* e4m3) {
  const std::size_t rows = x.size() / 256;
  std::vector<double> totals(rows);
  for (std::size_t i = 0; i < x.size(); ++i) totals[i / 256] += from_bf16(x[i]);
  for (std::size_t row = 0; row < rows; ++row) {
    if (std::fabs(sums[row] - totals[row]) > 1e-2) return "sum of row " + std::to_string(row);
    if (std::fabs(neighbour[row] - totals[row ^ 1]) > 1e-2) return "neighbour of row " + std::to_string(row);
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t turned = i / 64 * 64 + i % 8 * 8 + i / 8 % 8;
    if (transposed[i] != x[turned]) return "transposed " + std::to_string(i);
    const float value = from_bf16(x[i]);
    if (std::fabs(from_e4m3(e4m3[i]) - value) > std::max(std::fabs(value) / 16, 1.f / 1024)) return "E4M3 " + std::to_string(i);
  }
  return {};
}

Outcome run_moves(const Runner& run, const Launch& launch) {
  Memory memory;
  const std::size_t rows = launch.grid;
  const std::vector<std::uint16_t> values = random_bf16(rows * 256, 8, 7);
  const std::uint16_t* x = input(memory, "x", values);
  float *sums = output<float>(memory, "sums", rows), *neighbour = output<float>(memory, "neighbour", rows);
  std::uint16_t *transposed = output<std::uint16_t>(memory, "transposed", rows * 256), *quantised = output<std::uint16_t>(memory, "quantised", rows * 128);
  void* arguments[] = {&x, &sums, &transposed, &quantised, &neighbour};
  const Report report = run(launch, memory, arguments);
  std::vector<std::uint8_t> e4m3(rows * 256);
  std::memcpy(e4m3.data(), quantised, e4m3.size());
  return compared(report, memory, quantised, e4m3.size(), report.ok() ? wrong_moves(values, sums, neighbour, transposed, e4m3.data()) : "");
}

Outcome run_turnstile(const Runner& run, const Launch& launch) {
  Memory memory;
  unsigned* turn = output<unsigned>(memory, "turn", 1, Memory::Use::zeroed);
  float* total = output<float>(memory, "total", 1, Memory::Use::zeroed);
  void* arguments[] = {&turn, &total};
  const Report report = run(launch, memory, arguments);
  double wanted = 0;
  for (unsigned block = 0; block < launch.grid; ++block) wanted += 1. / (block + 1);
  return judged(report, std::fabs(*total - wanted) < 1e-6 ? "right" : "wrong numbers");
}

Outcome run_map_ring(const Runner& run, const Launch& launch) {
  Memory memory;
  int n = 512 * 13;
  const std::vector<std::uint16_t> values = random_bf16(static_cast<std::size_t>(n), 1, 8);
  const std::uint16_t* x = input(memory, "x", values);
  std::uint16_t* out = output<std::uint16_t>(memory, "out", values.size());
  void* arguments[] = {&x, &out, &n};
  const Report report = run(launch, memory, arguments);
  std::vector<double> wanted(values.size());
  std::transform(values.begin(), values.end(), wanted.begin(), [](std::uint16_t v) { return 2 * from_bf16(v); });
  return compared(report, memory, out, values.size() * 2, report.ok() ? first_wrong(wanted, n, 0, [&](std::size_t i) { return from_bf16(out[i]); }) : "");
}

Outcome run_row_softmax(const Runner& run, const Launch& launch) {
  Memory memory;
  int rows = 5, n = 776;
  const std::vector<std::uint16_t> values = random_bf16(static_cast<std::size_t>(rows * n), 2, 9);
  const std::uint16_t* x = input(memory, "x", values);
  std::uint16_t* y = output<std::uint16_t>(memory, "y", values.size());
  void* arguments[] = {&x, &y, &rows, &n};
  const Report report = run(launch, memory, arguments);
  std::vector<double> wanted(values.size()), sums(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < values.size(); ++i) sums[i / static_cast<std::size_t>(n)] += wanted[i] = std::exp(double{from_bf16(values[i])});
  for (std::size_t i = 0; i < values.size(); ++i) wanted[i] /= sums[i / static_cast<std::size_t>(n)];
  return compared(report, memory, y, values.size() * 2, report.ok() ? first_wrong(wanted, n, 1e-3, [&](std::size_t i) { return from_bf16(y[i]); }) : "");
}

Outcome run_matvec(const Runner& run, const Launch& launch) {
  Memory memory;
  int k = 96;
  const std::vector<std::uint16_t> x_values = random_bf16(8 * 96, 1, 10), w_values = random_bf16(16 * 96, 1, 11);
  const std::uint16_t *x = input(memory, "x", x_values), *w = input(memory, "w", w_values);
  float* y = output<float>(memory, "y", 8 * 16);
  void* arguments[] = {&x, &w, &y, &k};
  const Report report = run(launch, memory, arguments);
  const std::vector<double> wanted = product(x_values, w_values, 8, 16, k);
  return compared(report, memory, y, 8 * 16 * 4, report.ok() ? first_wrong(wanted, 16, 1e-4, [&](std::size_t i) { return y[i]; }) : "");
}

bool is_nan_bits(std::uint32_t bits) { return (bits & 0x7FFFFFFF) > 0x7F800000; }

std::uint32_t wanted_bf16(std::uint32_t bits) { return is_nan_bits(bits) ? 0x7FFF : to_bf16(from_bits(bits)); }

// The nearest of all values, the even one of two that are as near; no infinity.
std::uint32_t wanted_e4m3(std::uint32_t bits) {
  if (is_nan_bits(bits)) return 0x7F;
  const double magnitude = std::min(std::fabs(double{from_bits(bits)}), 448.);
  std::uint32_t best = 0;
  for (std::uint32_t code = 1; code <= 0x7E; ++code) {
    const double near = std::fabs(from_e4m3(static_cast<std::uint8_t>(code)) - magnitude), nearest = std::fabs(from_e4m3(static_cast<std::uint8_t>(best)) - magnitude);
    if (near < nearest || (near == nearest && code % 2 == 0)) best = code;
  }
  return (bits >> 24 & 0x80) | best;
}

// PTX ISA, ex2, lg2, rcp, rsqrt (.approx.ftz) and tanh (.approx): the errors that it allows. Those with .ftz take and give zero for subnormal numbers.
std::string wrong_approximation(float x, const float* got) {
  const double v = std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0., double{x}) : double{x};
  const double wanted[] = {std::exp2(v), std::log2(v), 1 / v, 1 / std::sqrt(v), std::tanh(double{x})};
  const double relative[] = {0x1p-22, v > 0.5 && v < 2 ? 0 : 0x1p-22, 0x1p-23, 0x1p-22, 0x1p-10};
  const double absolute[] = {0x1p-126, 0x1p-22, 0x1p-126, 0, 0};
  static const char* const kNames[] = {"exp2", "log2", "rcp", "rsqrt", "tanh"};
  for (int i = 0; i < 5; ++i) {
    const double rounded = static_cast<float>(wanted[i]);  // may be infinite
    if (std::isnan(rounded) ? std::isnan(got[i]) : got[i] == rounded || std::fabs(got[i] - wanted[i]) <= relative[i] * std::fabs(wanted[i]) + absolute[i]) continue;
    return std::string(kNames[i]) + " of " + std::to_string(x) + " is " + std::to_string(got[i]);
  }
  return {};
}

// Zeros, subnormal numbers, infinities, NaNs, the neighbours of powers of two and of halves between E4M3 values, and any bits.
std::vector<float> awkward_floats(std::size_t count, unsigned seed) {
  std::vector<std::uint32_t> bits = {0, 1, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7F7F8000};
  for (std::uint32_t code = 0; code < 0x7E; ++code) {
    const float middle = (from_e4m3(static_cast<std::uint8_t>(code)) + from_e4m3(static_cast<std::uint8_t>(code + 1))) / 2;
    for (const std::uint32_t around : {to_bits(middle) - 1, to_bits(middle), to_bits(middle) + 1}) bits.push_back(around);
  }
  for (std::uint32_t exponent = 1; exponent < 255; ++exponent)
    for (const std::uint32_t fraction : {0u, 1u, 0x7FFFFFu, 0x8000u, 0x18000u, 0x17FFFu}) bits.push_back(exponent << 23 | fraction);
  std::mt19937 random(seed);
  const std::size_t special = bits.size();
  for (std::size_t i = 0; i < special; ++i) bits.push_back(bits[i] | 0x80000000u);
  while (bits.size() < count) bits.push_back(random() % 3 == 0 ? static_cast<std::uint32_t>(random()) : to_bits(static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-26f));
  std::shuffle(bits.begin(), bits.end(), random);
  std::vector<float> values(bits.size());
  std::memcpy(values.data(), bits.data(), bits.size() * 4);
  return values;
}

Outcome run_numbers(const Runner& run, const Launch& launch) {
  Memory memory;
  int n = 8192;
  const std::vector<float> a_values = awkward_floats(8192, 13), b_values = awkward_floats(8192, 14);
  const float *a = input(memory, "a", a_values), *b = input(memory, "b", b_values);
  auto* bf16 = output<std::uint32_t>(memory, "bf16", 8192);
  auto* e4m3 = output<std::uint16_t>(memory, "e4m3", 8192);
  auto *halves = output<std::uint32_t>(memory, "halves", 2 * 8192), *unpacked = output<std::uint32_t>(memory, "unpacked", 2 * 8192);
  float* approximate = output<float>(memory, "approximate", 5 * 8192);
  void* arguments[] = {&a, &b, &bf16, &e4m3, &halves, &unpacked, &approximate, &n};
  const Report report = run(launch, memory, arguments);
  std::string wrong;
  for (std::size_t i = 0; report.ok() && wrong.empty() && i < 8192; ++i) {
    const std::uint32_t v = to_bits(a[i]), w = to_bits(b[i]);
    if (bf16[i] != (wanted_bf16(v) | wanted_bf16(w) << 16)) wrong = "bf16";
    if (e4m3[i] != (wanted_e4m3(v) | wanted_e4m3(w) << 8)) wrong = "E4M3";
    if (halves[2 * i] != ((v & 0xFFFF) | w << 16) || halves[2 * i + 1] != (v >> 16 | (w & 0xFFFF0000))) wrong = "halves";
    if (unpacked[2 * i] != v << 16 || unpacked[2 * i + 1] != (v & 0xFFFF0000)) wrong = "unpacked";
    if (wrong.empty()) wrong = wrong_approximation(a[i], approximate + 5 * i);
    if (!wrong.empty()) wrong += ", of " + hex(v) + " and " + hex(w) + ": " + hex(bf16[i]) + ", " + hex(e4m3[i]);
  }
  return compared(report, memory, bf16, 8192 * 4, wrong);
}

template <class T>
std::vector<T> random_words(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(random());
  return values;
}

Outcome run_every_move(const Runner& run, const Launch& launch) {
  Memory memory;
  const auto words = random_words<std::uint32_t>(128, 15);
  const auto stream = random_words<char>(28 * 1024, 16);
  const auto* x = input(memory, "x", words);
  auto *matrices = output<std::uint32_t>(memory, "matrices", 192), *shared = output<std::uint32_t>(memory, "shared", 80), *shuffled = output<std::uint32_t>(memory, "shuffled", 96);
  const char* from = input(memory, "from", stream);
  char* to = output<char>(memory, "to", stream.size());
  void* arguments[] = {&x, &matrices, &shared, &shuffled, &from, &to};
  const Report report = run(launch, memory, arguments);
  const auto half = [](std::uint32_t word, std::size_t i) { return word >> 16 * i & 0xFFFF; };
  std::string wrong;
  for (std::size_t i = 0; i < 192; ++i) {  // word i of matrix m: row r, columns c and c + 1; lane 4 c + r / 2 held column c as its row
    const std::size_t m = i / 32 < 4 ? i / 32 : i / 32 - 2, r = i % 32 / 4, c = i % 4 * 2;
    const std::uint32_t *held = &words[m * 32 + r / 2], left = half(held[c * 4], r % 2), right = half(held[c * 4 + 4], r % 2);
    if (matrices[i] != (left | right << 16)) wrong = "matrices " + std::to_string(i);
  }
  for (std::size_t i = 0; i < 64; ++i)
    if (shared[i] != words[(2 + i % 2) * 32 + (i / 2 ^ 1)]) wrong = "shared " + std::to_string(i);
  for (std::size_t i = 0; i < 16; ++i)
    if (shared[64 + i] != (half(words[31 - 2 * i], 1) | half(words[30 - 2 * i], 1) << 16)) wrong = "shared halves " + std::to_string(i);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    if (shuffled[lane] != words[(lane * 7 + 3) % 32]) wrong = "shfl_idx " + std::to_string(lane);
    if (shuffled[32 + lane] != words[32 + (lane < 27 ? lane + 5 : lane)]) wrong = "shfl_down " + std::to_string(lane);
    if (shuffled[64 + lane] != words[64 + (lane ^ 9)]) wrong = "shfl_xor " + std::to_string(lane);
  }
  for (std::size_t i = 0; i < stream.size(); ++i)
    if (to[i] != stream[i]) wrong = "stream " + std::to_string(i);
  return compared(report, memory, shuffled, 96 * 4, wrong);
}

// Each width once; the first outcome that is not right.
Outcome run_every_width(const Runner& run, const Launch& launch, bool is_e4m3, bool b_mn) {
  const std::size_t depth = is_e4m3 ? 128 : 64;
  for (int n = 8; n <= 256; n += 8) {
    Memory memory;
    const std::size_t columns = static_cast<std::size_t>(n);
    const auto matrix = [&](std::size_t rows, unsigned seed) {  // bf16 values that have E4M3 as their E4M3 values, or any
      std::vector<std::uint16_t> values = random_bf16(rows * depth, 1, seed);
      if (is_e4m3)
        for (std::uint16_t& value : values) value = static_cast<std::uint16_t>(wanted_e4m3(std::uint32_t{value} << 16));
      return values;
    };
    const std::vector<std::uint16_t> a = matrix(64, 17), b = matrix(columns, 18);
    const auto placed = [&](const char* name, const std::vector<std::uint16_t>& values) -> const void* {
      if (!is_e4m3) return input(memory, name, values);
      return input(memory, name, std::vector<std::uint8_t>(values.begin(), values.end()));
    };
    const auto map = [&](const void* base, int inner, int outer, int box_outer) {
      if (!is_e4m3) return map_of(base, inner, outer, 64, box_outer);
      const auto rows = static_cast<std::uint64_t>(outer);
      return encode({.base = const_cast<void*>(base),
                     .inner = 128,
                     .outer = rows,
                     .pitch_bytes = 128,
                     .box_inner = 128,
                     .box_outer = static_cast<std::uint32_t>(box_outer),
                     .element_bytes = 1,
                     .swizzle = Swizzle::b128});
    };
    EncodedMap map_a = map(placed("A", a), 64, 64, 64), map_b = b_mn ? map(placed("B", b), n, 64, 64) : map(placed("B", b), 64, n, n);
    float* d = output<float>(memory, "D", 64 * columns);
    void* arguments[] = {&map_a, &map_b, &d, &n};
    const Report report = run(launch, memory, arguments);
    const auto value = [&](std::uint16_t code) { return double{is_e4m3 ? from_e4m3(static_cast<std::uint8_t>(code)) : from_bf16(code)}; };
    std::vector<double> wanted(64 * columns);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      for (std::size_t k = 0; k < depth; ++k) wanted[i] += value(a[i / columns * depth + k]) * value(b_mn ? b[k * columns + i % columns] : b[i % columns * depth + k]);
    const std::string wrong = report.ok() ? first_wrong(wanted, n, is_e4m3 ? kTruncated : 1e-5, [&](std::size_t i) { return d[i]; }) : "";
    const Outcome outcome = compared(report, memory, d, wanted.size() * 4, wrong.empty() ? "" : "n = " + std::to_string(n) + ": " + wrong);
    if (outcome.word != "right" || n == 256) return outcome;
  }
  return {};
}

}  // namespace

Subject ring() {
  const Launch launch{.grid = 1,
                      .threads = 256,
                      .shared_bytes = 90160,
                      .blocks_per_sm = 2,
                      .labels = {{"P", 0, 8192, 3}, {"Q", 24576, 16384, 3}, {"store buffer", 73728, 8192, 2}, {"full", 90112, 8, 3}, {"empty", 90136, 8, 3}}};
  return {"ring", "", launch, run_ring};
}
Subject multicast() {
  const Launch launch{.grid = 2, .cluster = 2, .threads = 160, .shared_bytes = 32800, .labels = {{"P", 0, 8192, 2}, {"Q", 16384, 8192, 2}, {"full", 32768, 8, 2}, {"empty", 32784, 8, 2}}};
  return {"multicast", "", launch, run_multicast};
}
Subject split() { return {"split", "", {.grid = 3, .threads = 64, .shared_bytes = 4, .labels = {{"flag", 0, 4, 1}}}, run_split}; }
Subject turns() { return {"turns", "", {.threads = 64, .shared_bytes = 128, .labels = {{"word", 0, 4, 32}}}, run_turns}; }
Subject dependent() { return {"dependent", "", {.threads = 32, .is_dependent = true}, run_dependent}; }
Subject layouts(int span, bool a_mn, bool b_mn) {
  const std::string head = "#define SPAN " + std::to_string(span) + "\n#define A_MN " + (a_mn ? "1" : "0") + "\n#define B_MN " + (b_mn ? "1" : "0") + "\n";
  return {"layouts", head, {.threads = 128, .shared_bytes = 16392}, [=](const Runner& run, const Launch& launch) { return run_layouts(run, launch, span, a_mn, b_mn); }};
}
Subject product_e4m3() { return {"product_e4m3", "", {.threads = 128, .shared_bytes = 16392}, run_product_e4m3}; }
Subject moves() { return {"moves", "", {.grid = 4, .cluster = 2, .threads = 32, .shared_bytes = 516}, run_moves}; }
Subject turnstile() { return {"turnstile", "", {.grid = 4, .threads = 32}, run_turnstile}; }
Subject map_ring() {
  return {"map_ring", "", {.grid = 2, .threads = 64, .shared_bytes = 5136, .labels = {{"in", 0, 1024, 2}, {"out", 2048, 1024, 3}, {"full", 5120, 8, 2}}}, run_map_ring};
}
Subject row_softmax() {
  return {"row_softmax", "", {.grid = 4, .cluster = 2, .threads = 64, .shared_bytes = 32, .labels = {{"largest", 0, 4, 4}, {"sum", 16, 4, 4}}}, run_row_softmax};
}
Subject matvec() { return {"matvec", "", {.threads = 32}, run_matvec}; }
Subject numbers() { return {"numbers", "", {.grid = 4, .threads = 64}, run_numbers}; }
Subject every_move() { return {"every_move", "", {.threads = 32, .shared_bytes = 1024}, run_every_move}; }
Subject every_width(bool is_e4m3, bool b_mn) {
  const std::string head = "#define E4M3 " + std::to_string(is_e4m3) + "\n#define B_MN " + std::to_string(b_mn) + "\n";
  return {"every_width", head, {.threads = 128, .shared_bytes = 40968}, [=](const Runner& run, const Launch& launch) { return run_every_width(run, launch, is_e4m3, b_mn); }};
}

std::string text_of(const Subject& subject) {
  return subject.head + tests::text_of_test_file("generators/cuda/emulator/kernels/" + subject.kernel + ".cu");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << "not in the text: " << from;
  if (at == std::string::npos) return text;
  EXPECT_EQ(text.find(from, at + 1), std::string::npos) << "more than once in the text: " << from;
  return text.replace(at, from.size(), to);
}

Outcome outcome(const Subject& subject, const Compiled& kernel, unsigned seed) {
  Launch launch = subject.launch;
  launch.seed = seed;
  return subject.run([&](const Launch& l, Memory& memory, void** arguments) { return run(l, memory, kernel.entry(), arguments); }, launch);
}

}  // namespace kiln::generators::cuda::emulator
