// NVRTC, loaded at run time.
#pragma once

#include <string>

namespace kiln::gpu {

// The sm_90a cubin of a kernel's text over generators/cuda/device. Throws Missing without NVRTC, std::runtime_error with its words when it refuses the text.
std::string cubin_of(const std::string& text, const std::string& name);

}  // namespace kiln::gpu
