// The least that any tiling must bring into a memory of a given size: what a candidate's traffic is compared with.
#pragma once

#include <cstdint>
#include <string>

#include "dsl/algorithm.h"
#include "dsl/problem.h"

namespace kiln {

struct LeastTraffic {
  std::int64_t bytes = 0;
  std::string because;  // "tiles of 128 x 126 of c", "every argument once"
};

// For an algorithm with one contraction, c(m, n) += A(k, m) * B(n, k) over two arguments, m, n and k each one loop or several: the least over all
// rectangular tilings of whole tiles that keep a tile of one of the three matrices, while it is used, beside one line of loops of the other two:
//   of c, m x n:  A once a column of tiles, B once a row, the output once       e_A m + e_B n + e_c m n          bytes are kept
//   of A, m x k:  A once, B once a row of tiles, partial sums in between        e_A m k + e_B k + e_c m
//   of B, k x n:  B once, A once a column of tiles, partial sums in between     e_B k n + e_A k + e_c n
// The first tends to 2 M N K e / sqrt(room / e), which up to its constant no schedule beats (Hong and Kung 1981: the red-blue pebble game; the
// constant 2: Smith, Lowery, Langou, van de Geijn 2019). Other arguments cross once.
// For every other algorithm: every argument once.
LeastTraffic least_traffic(const Algorithm& algorithm, const Problem& problem, std::int64_t room);

}  // namespace kiln
