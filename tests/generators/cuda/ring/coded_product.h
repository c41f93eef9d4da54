// An operator of these tests: a product whose results are rounded to E4M3 codes by a fixed scale.
#pragma once

namespace kiln::tests {

// coded_product(m, n, k): C(n, m) = the E4M3 code of sum over k of A(k, m) · Bt(k, n) · inv_scale, of bf16. A sum between two codes may be rounded to either: up to
// 1 element in 1,000 may be off. Naming it here keeps its file, whose static values register it.
void register_coded_product();

}  // namespace kiln::tests
