// Algorithms written down by hand, so that the language is tested without Halide.
#pragma once

#include "dsl/algorithm.h"

namespace kiln::tests {

// C(n, m) = relu(sum over k of A(k, m) * B(n, k)): stages A.in, B.in, c (one update over k), y (the output), all f32. Params: type, relu.
Algorithm product();

// Three 3-tap stages over x: gray reads the input, blur_y reads gray, blur_x reads blur_y, out reads blur_x and gray. out is i32, the rest f32.
// No registration: symbols are "input.0" and so on; no estimates.
Algorithm blurs();

// Updates over i32 under contract fixed_tree: scan(x, y) subtracts its own last row; total(x) first sums over q.x and q.y, then alternates, which
// no order but the written one gives; out reads total.
Algorithm reductions();

// Stages over x that need each other crosswise: a and b read the input and have an update each, c reads a, d reads b, out reads c and d; all i32.
Algorithm pairs();

}  // namespace kiln::tests
