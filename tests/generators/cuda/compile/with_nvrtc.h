// Tests that compile. The set-up installs NVRTC: where it is not, they fail.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "generators/cuda/compile/compile.h"

namespace kiln::generators::cuda::compile {

class WithNvrtc : public testing::Test {
 protected:
  void SetUp() override try {
    nvrtc_.emplace();
  } catch (const NvrtcMissing& missing) {
    FAIL() << missing.what();  // the set-up installs it: without it these tests would say nothing
  }

  Compiled compiled(const std::string& text, const std::vector<std::string>& kernels) const { return compile(*nvrtc_, {.text = text, .kernels = kernels}); }

  std::optional<Nvrtc> nvrtc_;
};

}  // namespace kiln::generators::cuda::compile
