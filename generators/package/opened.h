// A finished package's shared library, opened the way an application's process has it, to call one chosen variant: the exporter's last check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dsl/dtype.h"

namespace kiln::generators::package {

// Memory and its shape in Halide's terms: dimension 0 is the innermost, strides in elements.
struct BufferView {
  void* data = nullptr;
  DType type;
  std::vector<std::int64_t> extents, strides;  // strides empty: dense
  std::optional<int> gpu;                      // the device whose memory it is; absent: the host's
};

// One argument of a call: a buffer, or the address of a scalar of the argument's type.
struct CallArgument {
  BufferView buffer;
  const void* scalar = nullptr;  // when not null, the argument is this scalar
};

// Where a GPU's kernels are launched, and who gives them memory of so many bytes.
struct GpuCall {
  void* stream = nullptr;  // a CUstream
  std::function<void*(std::size_t bytes)> workspace;
};

struct CallOutcome {
  int code = 0;      // 0, or SET_ERR_…
  std::string text;  // the library's sentence when code is not 0
};

class OpenedPackage {
 public:
  // Loads the library into this process (a fresh one, if the check is to mean anything) and starts its threads; 0: as tuned. Throws DataError with
  // the loader's words, or when it is no kernel set of this name and ABI.
  OpenedPackage(const std::filesystem::path& library, const std::string& set_name, int threads);
  ~OpenedPackage();
  OpenedPackage(const OpenedPackage&) = delete;
  OpenedPackage& operator=(const OpenedPackage&) = delete;

  // Calls the variant at this place in the entry's dispatch order. Its guards are checked as in any call; arguments in the entry's order. A GPU's kernels
  // are in the stream when it returns.
  CallOutcome call(const std::string& entry, int variant, const std::vector<CallArgument>& arguments, const GpuCall& gpu = {}) const;

  std::string manifest() const;

 private:
  struct Functions;
  std::unique_ptr<Functions> functions_;
};

}  // namespace kiln::generators::package
