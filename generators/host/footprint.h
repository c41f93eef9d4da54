// How much memory a set of accesses touches, in whole cache lines.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "generators/host/loop_tree.h"

namespace kiln::generators::host {

inline constexpr std::int64_t kLineBytes = 64;  // of every x86-64 CPU

// Bytes that one execution of `accesses` touches while the loops for which `walks` is true run through all their iterations and the others
// stand still. Per buffer: accesses of the same shape are joined when their bases form a grid (unrolled copies, stencil taps), else added; spans
// that touch or overlap merge; each unbroken run is rounded up to whole lines; the sum is capped by the buffer's size. Accesses without a
// place count as one line each time they happen, and at most the whole buffer.
std::int64_t touched_bytes(const std::vector<const Access*>& accesses, const std::vector<Buffer>& buffers,
                           const std::function<bool(int loop)>& walks);

}  // namespace kiln::generators::host
