// The kernels of this folder, carried inside the program as PTX.
#pragma once

#include <string_view>
#include <vector>

namespace kiln::generators::cuda::driver {

struct DeviceText {
  std::string_view name;  // "hold.ptx"
  std::string_view text;
};

const std::vector<DeviceText>& device_texts();

}  // namespace kiln::generators::cuda::driver
