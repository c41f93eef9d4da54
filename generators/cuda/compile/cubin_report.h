// The resources of a compiled kernel: the compiler's log and its cubin, which must agree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::generators::cuda::compile {

struct KernelReport {
  std::string kernel;
  std::int64_t registers = 0;                                // a thread, when the kernel starts; setmaxnreg moves them later
  std::int64_t barriers = 0;                                 // of the 16 of a block
  std::optional<std::int64_t> max_threads = {};              // of a block, by __launch_bounds__; absent without
  std::int64_t shared_bytes = 0;                             // static: neither a launch's dynamic bytes nor the 1,024 that the system keeps
  std::int64_t stack_frame_bytes = 0;                        // a thread: arrays that are indexed at run time, and what is spilled
  std::int64_t spill_store_bytes = 0, spill_load_bytes = 0;  // counted in the code, each instruction once
  std::int64_t parameter_bytes = 0;
  std::int64_t code_bytes = 0;
  bool operator==(const KernelReport&) const = default;
};

// One a kernel, in the order of the log. Throws Error when either cannot be read, when the cubin lacks a kernel of the log, or when they give different
// numbers for registers, barriers, shared memory or the stack frame: the message has both.
std::vector<KernelReport> read_reports(const std::string& log, std::string_view cubin);

}  // namespace kiln::generators::cuda::compile
