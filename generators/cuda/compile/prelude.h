// The files of generators/cuda/device, carried inside the program: NVRTC gets them as headers in memory, by their bare names.
#pragma once

#include <string_view>
#include <vector>

namespace kiln::generators::cuda::compile {

struct PreludeFile {
  std::string_view name;  // "types.cuh"
  std::string_view text;
};

const std::vector<PreludeFile>& prelude_files();  // sorted by name

}  // namespace kiln::generators::cuda::compile
