#include "generators/cuda/emulator/units/wgmma_operands.h"

#include <cstring>

#include "generators/cuda/emulator/machine/fault.h"
#include "generators/cuda/emulator/units/e4m3_sums.h"

#include "generators/cuda/emulator/units/device.h"

namespace kiln::generators::cuda::emulator {
namespace {

constexpr int kShortTerms = kWgmmaDepthBytes / 2;  // of a step of 16-bit floats

float bf16(const char* p) {
  std::uint16_t high;
  std::memcpy(&high, p, 2);
  const std::uint32_t bits = std::uint32_t{high} << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

float f16(const char* p) {
  std::uint16_t bits;
  std::memcpy(&bits, p, 2);
  return kiln_device::f16_lo(bits);
}

// c[n] += a[16] * b[16][n], k ascending, where most of the time goes.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((target_clones("arch=haswell", "default")))
#endif
void multiply_row(float* c, const float* a, const float* b, int n) {
  for (int j = 0; j < n; ++j) {
    float sum = c[j];
    for (int i = 0; i < kShortTerms; ++i) sum += a[i] * b[i * n + j];
    c[j] = sum;
  }
}

}  // namespace

// PTX ISA, "Matrix descriptor format": addresses and offsets are stored without their last 4 bits.
Operand read_descriptor(std::uint64_t d, bool is_mn_major, const char* name) {
  static constexpr Swizzle kModes[] = {Swizzle::none, Swizzle::b128, Swizzle::b64, Swizzle::b32};
  const auto bytes = [d](int bit) { return static_cast<std::uint32_t>(d >> bit & 0x3FFF) << 4; };
  const Operand operand{bytes(0), bytes(16), bytes(32), kModes[d >> 62], is_mn_major};
  const std::uint32_t base_offset = static_cast<std::uint32_t>(d >> 49 & 7);
  const std::uint32_t phase = (operand.start >> 7) & ((1u << static_cast<int>(operand.swizzle)) - 1);
  if (base_offset != phase)
    fail("misaligned", "descriptor %s starts at 0x%x, %u rows of 128 bytes into its swizzle pattern, with base offset %u", name, operand.start, phase, base_offset);
  if (is_mn_major && operand.swizzle == Swizzle::none) fail("not emulated", "an MN-major operand without swizzle");
  return operand;
}

// PTX ISA, "Asynchronous warpgroup level matrix shared memory layout".
std::uint32_t element_address(const Operand& o, std::uint32_t mn, std::uint32_t k_bytes) {
  const std::uint32_t span = 16u << static_cast<int>(o.swizzle), per_span = span / 2, k = k_bytes / 2;
  std::uint32_t address = o.start;
  if (o.is_mn_major)
    address += mn / per_span * o.leading + k / 8 * o.stride + k % 8 * span + mn % per_span * 2;
  else if (o.swizzle == Swizzle::none)
    address += mn / 8 * o.stride + k_bytes / 16 * o.leading + mn % 8 * 16 + k_bytes % 16;
  else
    address += mn / 8 * o.stride + mn % 8 * span + k_bytes;
  return swizzled(address, o.swizzle);
}

void touch_operand(Space& shared, const Operand& operand, std::uint32_t rows, const char* name, const Actor& actor) {
  const std::uint32_t mn_step = operand.is_mn_major ? 8 : 1, k_step = operand.is_mn_major ? 2 : 16;
  for (std::uint32_t mn = 0; mn < rows; mn += mn_step)
    for (std::uint32_t k = 0; k < kWgmmaDepthBytes; k += k_step) {
      const int offset = static_cast<int>(element_address(operand, mn, k)) - static_cast<int>(kWindow);
      if (offset < 0 || static_cast<std::size_t>(offset) + 16 > shared.size)
        fail("out of bounds", "wgmma operand %s, row %u: shared offset %d; the block has %zu bytes", name, mn, offset, shared.size);
      touch_read(shared, static_cast<std::size_t>(offset), 16, actor);
    }
}

namespace {

// A wgmma's accumulators as rows: those of row r are in lanes 4 (r % 8) .. + 3 of warp r / 16, register half r / 8 % 2.
float& accumulator(const Wgmma& wgmma, int r, int j) {
  float* const* const lanes = wgmma.accumulators + r / 16 * 32 + r % 8 * 4;
  return lanes[j % 8 / 2][j / 8 * 4 + r / 8 % 2 * 2 + j % 2];
}

// add(r, sums) adds the products of row r.
template <class Add>
void add_to_rows(const Wgmma& wgmma, const Add& add) {
  const int n = wgmma.call.n;
  float sums[256];
  for (int r = 0; r < kWgmmaRows; ++r) {
    for (int j = 0; j < n; ++j) sums[j] = wgmma.call.scale_d != 0 ? accumulator(wgmma, r, j) : 0.f;
    add(r, sums);
    for (int j = 0; j < n; ++j) accumulator(wgmma, r, j) = sums[j];
  }
}

// Where element (mn, k) lies, k in bytes.
const char* element_at(const Space& shared, const Operand& operand, int mn, int k_bytes) {
  return shared.bytes + element_address(operand, static_cast<std::uint32_t>(mn), static_cast<std::uint32_t>(k_bytes)) - kWindow;
}

void add_codes(const Space& shared, const Wgmma& wgmma, const Operand& a, const Operand& b) {
  const auto code = [&](const Operand& operand, int mn, int k) { return static_cast<std::uint8_t>(*element_at(shared, operand, mn, k)); };
  E4M3Columns columns(wgmma.call.n);
  for (int j = 0; j < columns.n; ++j)
    for (int k = 0; k < kE4M3Terms; ++k) columns.set(k, j, code(b, j, k));
  add_to_rows(wgmma, [&](int r, float* sums) {
    std::uint8_t row[kE4M3Terms];
    for (int k = 0; k < kE4M3Terms; ++k) row[k] = code(a, r, k);
    add_e4m3_products(sums, row, columns);
  });
}

void add_short_floats(const Space& shared, const Wgmma& wgmma, const Operand& a, const Operand& b) {
  const int n = wgmma.call.n;
  const auto value = [&, is_bf16 = wgmma.call.element == static_cast<int>(kiln_device::Element_::bf16)](const Operand& operand, int mn, int k) {
    const char* const element = element_at(shared, operand, mn, 2 * k);
    return is_bf16 ? bf16(element) : f16(element);
  };
  float columns[kShortTerms * 256], row[kShortTerms];
  for (int j = 0; j < n; ++j)
    for (int k = 0; k < kShortTerms; ++k) columns[k * n + j] = value(b, j, k);
  add_to_rows(wgmma, [&](int r, float* sums) {
    for (int k = 0; k < kShortTerms; ++k) row[k] = value(a, r, k);
    multiply_row(sums, row, columns, n);
  });
}

}  // namespace

void execute(const Space& shared, const Wgmma& wgmma) {
  const WgmmaCall& call = wgmma.call;
  const Operand a = read_descriptor(call.a, call.ta != 0, "A"), b = read_descriptor(call.b, call.tb != 0, "B");
  if (call.element == static_cast<int>(kiln_device::Element_::e4m3)) {
    add_codes(shared, wgmma, a, b);
  } else {
    add_short_floats(shared, wgmma, a, b);
  }
}

}  // namespace kiln::generators::cuda::emulator
