// What a cubin says about its kernels: a CUDA ELF file, read without trust.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::generators::cuda::compile {

struct CubinKernel {
  std::string name;
  std::int64_t registers = 0;                    // a thread
  std::int64_t barriers = 0;                     // of the 16 of a block
  std::optional<std::int64_t> max_threads = {};  // of a block, by __launch_bounds__
  std::int64_t shared_bytes = 0;                 // static, without what the system keeps for itself
  std::int64_t stack_frame_bytes = 0;            // a thread
  std::int64_t parameter_bytes = 0;
  std::int64_t code_bytes = 0;
  bool operator==(const CubinKernel&) const = default;
};

// Every function that has a code section of its own, in the order of the file; of kernels nothing else has. How much is spilled stands in no cubin: the
// compiler's log says it. Reads no byte outside the file, whatever stands in it; throws Error with what is wrong and where.
std::vector<CubinKernel> read_cubin(std::string_view cubin);

}  // namespace kiln::generators::cuda::compile
