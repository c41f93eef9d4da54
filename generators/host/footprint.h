// How much memory the accesses of a lowered program touch, in whole cache lines; and the program as a footprint tree in such lines.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "dsl/footprint.h"
#include "generators/host/loop_tree.h"

namespace kiln::generators::host {

inline constexpr std::int64_t kLineBytes = 64;  // of every x86-64 CPU

// Bytes that one execution of `accesses` touches while the loops for which `walks` is true run through all their iterations and the others
// stand still. Per buffer: accesses of the same shape are joined when their bases form a grid (unrolled copies, stencil taps), else added; spans
// that touch or overlap merge; each unbroken run is rounded up to whole lines; the sum is capped by the buffer's size. Accesses without a
// place count as one line each time they happen, and at most the whole buffer.
BufferBytes touched_bytes(const std::vector<const Access*>& accesses, const std::vector<Buffer>& buffers,
                          const std::function<bool(int loop)>& walks, std::int64_t line_bytes = kLineBytes);

// Every loop with what it touches, in lines of `line_bytes` (1: in bytes). A loop has one part, since Halide's own prologues and epilogues are
// loops; `kernels` stays empty.
FootprintTree footprint_of(const LoopTree& program, std::int64_t line_bytes = kLineBytes);

}  // namespace kiln::generators::host
