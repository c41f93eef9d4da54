// Cubins that one run leaves to the next: under compute-sanitizer NVRTC says nothing in the process that it works in, so what it made is brought along.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "generators/cuda/compile/compile.h"

namespace kiln::gpu {

class KeptCubins {
 public:
  explicit KeptCubins(std::filesystem::path folder);  // which need not exist yet

  // The cubin that was kept of the same text, prelude, architecture and flags. Not of the same NVRTC: a folder is for the runs of one.
  std::optional<std::string> find(const generators::cuda::compile::Source& source) const;
  // Whole or not at all, also beside another process that keeps the same. Throws std::runtime_error naming the file that cannot be written.
  void keep(const generators::cuda::compile::Source& source, const std::string& cubin) const;

 private:
  std::filesystem::path path_of(const generators::cuda::compile::Source& source) const;

  std::filesystem::path folder_;
};

// In the folder $KILN_CUBINS, where that is set.
std::optional<KeptCubins> kept_cubins();

}  // namespace kiln::gpu
