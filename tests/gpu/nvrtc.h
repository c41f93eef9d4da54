// Cubins of the tests' kernels.
#pragma once

#include <string>

namespace kiln::gpu {

// The sm_90a cubin of a text with this kernel in it, made once, in $KILN_CUBINS (kept_cubins.h) once for all runs. Throws Missing when it is to
// be made without NVRTC, std::runtime_error with its words when it refuses the text.
std::string cubin_of(const std::string& text, const std::string& kernel, bool contracts_to_fma = true);

}  // namespace kiln::gpu
