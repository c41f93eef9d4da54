// The fastest that this processor multiplies and adds: the ceiling that a product is measured against, taken inside the same run.
#pragma once

namespace kiln::bench {

// GFLOP/s of f32 fused multiply-adds on registers alone, `threads` at once; the widest vectors the processor has. Takes about `milliseconds`.
double fma_peak_gflops(int threads, double milliseconds);

}  // namespace kiln::bench
