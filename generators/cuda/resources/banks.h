// How many rounds an access of one warp to shared memory takes.
#pragma once

#include <cstdint>
#include <vector>

namespace kiln::generators::cuda::resources {

// CUDA C++ Programming Guide, "Shared Memory" of compute capability 5.x and above: 32 banks, successive words of 4 bytes in successive banks; lanes that
// ask for the same word are served together.
inline constexpr int kBanks = 32;

// `words` are the addresses of the lanes, in words of 4 bytes. The largest number of different words in one bank; 1 is free of conflicts.
int bank_rounds(const std::vector<std::int64_t>& words);

// A matrix of words in shared memory, row by row.
struct SharedMatrix {
  int rows = 0, columns = 0;
  int pitch = 0;             // words from row to row: `columns`, or more where rows are padded
  bool is_swizzled = false;  // column c of row r stands at c xor r; columns a power of two, no fewer than rows

  std::int64_t word(int row, int column) const { return std::int64_t{row} * pitch + (is_swizzled ? column ^ row : column); }
  double padding() const { return static_cast<double>(pitch) / columns - 1; }  // share of memory that it costs
};

// One lane a row, all at the same column, or one lane a column, all in the same row: the worst of all columns or rows.
int rounds_down_columns(const SharedMatrix& matrix);
int rounds_along_rows(const SharedMatrix& matrix);

}  // namespace kiln::generators::cuda::resources
