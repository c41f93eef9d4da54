// What a kernel's text must keep to, so that one text compiles for the GPU and for the emulator and can be checked there:
//   1. All PTX through the prelude's wrappers, approximations included; no asm.
//   2. Includes are files of the prelude, by their bare names: NVRTC has no include path.
//   3. Shared memory is `extern __shared__ __align__(1024) char smem_raw[];`, exactly that, once a kernel. No static __shared__.
//   4. Shared addresses are u32, from smem_u32(smem_raw) plus constants; a u32 never becomes a pointer again.
//   5. Waiting through wrappers only (mbar_wait, bar_sync, ld_acquire): a loop on a plain load never lets another thread run.
// and, which no text can show: `extern "C"` kernels with plain-value arguments and `const __grid_constant__ TensorMap`; accumulators in local arrays, locals
// below 48 KB; only .x of thread and block indices; fence_async_proxy by every writer before the barrier; wgmma_fence after every wgmma_wait before the
// next wgmma; a barrier after mbar_init and fence_mbar_init; at most 64 blocks, 16,384 threads and 4,095 lines.
#pragma once

#include <string>
#include <vector>

namespace kiln::generators::cuda::emulator {

enum class Rule { ptx_through_prelude, includes_by_name, one_shared_array, addresses_stay_numbers, waits_through_wrappers, few_lines };

struct Breach {
  Rule rule;
  int line;          // from 1
  std::string text;  // what stands there, and what would be right
};

// In the order of the lines. Comments and strings are not read.
std::vector<Breach> breaches(const std::string& text);

}  // namespace kiln::generators::cuda::emulator
