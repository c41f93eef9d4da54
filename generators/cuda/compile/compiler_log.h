// What the compiler's log says in words: the resources of each kernel (ptxas -v) and the numbered messages that end a candidate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kiln::generators::cuda::compile {

struct LoggedKernel {
  std::string name;
  std::int64_t registers = 0;          // a thread
  std::int64_t barriers = 0;           // of the 16 of a block
  std::int64_t shared_bytes = 0;       // static
  std::int64_t stack_frame_bytes = 0;  // a thread
  std::int64_t spill_store_bytes = 0, spill_load_bytes = 0;
  bool operator==(const LoggedKernel&) const = default;
};

// The entry functions in the order of the log; functions that were not inlined into them are left out. Reads what NVRTC prints for --ptxas-options=-v
// and nvcc for -Xptxas -v. Throws Error when the log begins to speak of a kernel and leaves out its registers or its stack frame.
std::vector<LoggedKernel> read_log(const std::string& log);

// "ptxas info    : (C7512) Potential Performance Loss: …" and its like.
struct Diagnostic {
  int code = 0;
  std::string text;  // the line
  std::optional<std::int64_t> registers_needed = {}, registers_here = {};  // where it names them: in C7602

  bool is_about_registers() const { return code == 7511 || code == 7512 || code == 7602; }
  bool operator==(const Diagnostic&) const = default;
};

// C7508 to C7519 and C7602, each line once: wgmma made to wait for every instruction, waits that were put in, setmaxnreg ignored, too few registers for one
// instruction. Of these only the last makes the compiler fail, and none leaves a kernel that is worth its time.
std::vector<Diagnostic> fatal_diagnostics(const std::string& log);

}  // namespace kiln::generators::cuda::compile
