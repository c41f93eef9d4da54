// Algorithms for the stream skeleton, written down by hand: no Halide is needed to see what becomes of them.
#pragma once

#include "dsl/algorithm.h"

namespace kiln::tests {

// y(n, m) = bf16(g / (1 + exp(-g)) · u): g, u, y of bf16. Contract strict.
Algorithm gate();

// y(n, m) = bf16(x · scale(m) · gamma(n)), scale(m) = 1 / sqrt(squares(m) / n + eps), squares(m) the sum of x²; x, gamma, y of bf16. Contract bounded.
Algorithm norm();

// y(n, m) = e / total(m), e(n, m) = exp(x - peak(m)): peak and total over the row; f32. Contract bounded.
Algorithm shares();

// scales(m) = max(peak(m), 1 / 512) / 448, peak(m) the largest |x| of the row; y(n, m) = x / scale: x of bf16, the outputs of f32. Contract strict.
Algorithm scaled_rows();

// The same, and y(n, m) its E4M3 code, u8, with scaled(n, m) = x / scale. Contract strict.
Algorithm coded_rows();

// y(n, m) = the E4M3 code of x, u8: x of f32. With `is_e5m2`, of E5M2. Contract strict.
Algorithm codes(bool is_e5m2 = false);

// y(n, m) = 2 · x(m, n) + z(n, m), f32. Contract strict.
Algorithm turn();

// y(n, m) = bf16(c + bias(n)), c(n, m) the sum over k of x(k, m) · w(k, n), or of x(k, m) · w(n, k): all of bf16, sums of f32. Contract bounded.
Algorithm dot_by_terms();
Algorithm dot_by_columns();

// y(n, m) = bf16(gate / (1 + exp(-gate)) · up), gate(n, m) = bf16(gate_sum), gate_sum(n, m) the sum over k of x(k, m) · wg(k, n), or of x(k, m) · wg(n, k), and up the
// same of wu: all of bf16, sums of f32. Contract bounded.
Algorithm gated_by_terms();
Algorithm gated_by_columns();

// y(h, m) = bf16(down_sum), down_sum(h, m) the sum over n of hidden(n, m) · wd(h, n), hidden(n, m) what gated_by_columns makes of x, wg and wu. Contract bounded.
Algorithm feed_forward();

// y(n, m) = bf16(c · row_scale(m) · column_scale(n)), c(n, m) the sum over k of x(k, m) · w(k, n), of what their E4M3 codes stand for. Contract bounded.
Algorithm dot_of_codes();

// y(n, m) = x(n + 1, m), f32.
Algorithm shift();

}  // namespace kiln::tests
