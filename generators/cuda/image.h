// What is kept of a GPU's build: the cubin, and behind it how its kernels are launched. Two schedules that differ in launches alone have different images.
#pragma once

#include <string>
#include <string_view>

#include "generators/cuda/launch_record.h"

namespace kiln::generators::cuda {

struct Image {
  std::string code;  // a cubin; of what the emulator runs the text
  LaunchRecord record;
  bool operator==(const Image&) const = default;
};

// The cubin comes first: what reads ELF finds its own length in it and does not see the rest.
std::string pack(const Image& image);

// Throws DataError for bytes that are no image, or a damaged one.
Image unpack(std::string_view bytes);

}  // namespace kiln::generators::cuda
