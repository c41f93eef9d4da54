#include "generators/cuda/resources/banks.h"

#include <algorithm>
#include <array>
#include <set>

namespace kiln::generators::cuda::resources {

int bank_rounds(const std::vector<std::int64_t>& words) {
  std::array<std::set<std::int64_t>, kBanks> banks;
  for (const std::int64_t word : words) banks[static_cast<std::size_t>(word % kBanks)].insert(word);
  std::size_t rounds = 0;
  for (const auto& bank : banks) rounds = std::max(rounds, bank.size());
  return static_cast<int>(rounds);
}

int rounds_down_columns(const SharedMatrix& matrix) {
  int worst = 0;
  for (int column = 0; column < matrix.columns; ++column) {
    std::vector<std::int64_t> words;
    for (int row = 0; row < matrix.rows; ++row) words.push_back(matrix.word(row, column));
    worst = std::max(worst, bank_rounds(words));
  }
  return worst;
}

int rounds_along_rows(const SharedMatrix& matrix) {
  int worst = 0;
  for (int row = 0; row < matrix.rows; ++row) {
    std::vector<std::int64_t> words;
    for (int column = 0; column < matrix.columns; ++column) words.push_back(matrix.word(row, column));
    worst = std::max(worst, bank_rounds(words));
  }
  return worst;
}

}  // namespace kiln::generators::cuda::resources
