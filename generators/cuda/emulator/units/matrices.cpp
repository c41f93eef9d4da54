// ldmatrix, stmatrix and mma.sync: 8x8 matrices of 16-bit elements spread over the lanes of a warp.
#include <cstring>

#include "generators/cuda/emulator/machine/addresses.h"
#include "generators/cuda/emulator/units/collectives.h"

#include "generators/cuda/emulator/units/device.h"

namespace kiln::generators::cuda::emulator {
namespace {

// Elements of one row in shared memory, to or from the registers: element (row, column) is in lane 4 row + column / 2, half column % 2; transposed, with
// row and column changed over. Register m of a lane is its values[1 + m].
void move_row(Warp& warp, const Thread& thread, int matrix, int row, bool transposed, bool store) {
  const Place place = shared_place(static_cast<std::uint32_t>(warp.values[matrix * 8 + row][0]), 16, 16);
  const int together = transposed ? 1 : 2;  // neighbours in a row are halves of one register
  for (int column = 0; column < 8; column += together) {
    const int i = transposed ? column : row, j = transposed ? row : column;
    const int lane = i * 4 + j / 2, half = j % 2;
    const std::size_t at = place.at + static_cast<std::size_t>(column) * 2, bytes = static_cast<std::size_t>(together) * 2;
    const Actor actor = as_actor(lane_of(thread, static_cast<unsigned>(lane)));
    char* const element = reinterpret_cast<char*>(&warp.values[lane][1 + matrix]) + half * 2;
    if (store) {
      touch_write(*place.space, at, bytes, actor);
      std::memcpy(place.space->bytes + at, element, bytes);
    } else {
      touch_read(*place.space, at, bytes, actor);
      std::memcpy(element, place.space->bytes + at, bytes);
    }
  }
}

float bf16(std::uint64_t registers, int element) {
  const std::uint32_t bits = static_cast<std::uint32_t>(registers >> 16 * element & 0xFFFF) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

char* accumulator(Warp& warp, int lane, int index) { return reinterpret_cast<char*>(&warp.values[lane][3 + index / 2]) + index % 2 * 4; }

// values[0] = a0, a1; [1] = a2, a3; [2] = b0, b1; [3], [4] = c. The layout is in device/mma.cuh.
void multiply_16816(Warp& warp) {
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column) {
      char* const place = accumulator(warp, row % 8 * 4 + column / 2, row / 8 * 2 + column % 2);
      float c;
      std::memcpy(&c, place, 4);
      for (int k = 0; k < 16; ++k) {
        const int in_lane = k % 8 / 2;
        const float a = bf16(warp.values[row % 8 * 4 + in_lane][k / 8], row / 8 * 2 + k % 2);
        const float b = bf16(warp.values[column * 4 + in_lane][2], k / 8 * 2 + k % 2);
        c += a * b;
      }
      std::memcpy(place, &c, 4);
    }
}

std::uint64_t two(std::uint32_t low, std::uint32_t high) { return low | std::uint64_t{high} << 32; }
std::uint64_t two(float low, float high) {
  std::uint32_t bits[2];
  std::memcpy(&bits[0], &low, 4);
  std::memcpy(&bits[1], &high, 4);
  return two(bits[0], bits[1]);
}

}  // namespace
}  // namespace kiln::generators::cuda::emulator

namespace kiln_device {
using namespace kiln::generators::cuda::emulator;

void move_matrices_(u32 address, u32* r, int count, bool transposed, bool store, int line) {
  Thread& thread = here(store ? "stmatrix" : "ldmatrix", line);
  const auto given = [&](int m) { return m < count ? r[m] : 0u; };
  const Warp& warp = meet(thread, {address, given(0), given(1), given(2), given(3)}, [&](Warp& all) {
    for (int matrix = 0; matrix < count; ++matrix)
      for (int row = 0; row < 8; ++row) move_row(all, thread, matrix, row, transposed, store);
  });
  if (store) return;
  for (int m = 0; m < count; ++m) r[m] = static_cast<u32>(warp.values[thread.lane()][1 + m]);
}

void mma_16816(float* c, u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1, int line) {
  Thread& thread = here("mma.sync", line);
  Warp& warp = meet(thread, {two(a0, a1), two(a2, a3), two(b0, b1), two(c[0], c[1]), two(c[2], c[3])}, multiply_16816);
  for (int i = 0; i < 4; ++i) std::memcpy(&c[i], accumulator(warp, static_cast<int>(thread.lane()), i), 4);
}

}  // namespace kiln_device
