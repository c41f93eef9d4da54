// Why a test on a device cannot run here.
#pragma once

#include <stdexcept>

namespace kiln::gpu {

class Missing : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace kiln::gpu
