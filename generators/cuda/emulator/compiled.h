// A kernel's text as code of this process: compiled by the C++ compiler over the emulating prelude and loaded.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "generators/cuda/emulator/launch.h"

namespace kiln::generators::cuda::emulator {

// The C++ compiler is not on this machine; the message names the package that brings it.
class CompilerMissing : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Compiled {
 public:
  // `kernel` is the extern "C" __global__ function of the text, `compiler` a g++ or clang++ on PATH. The program must export the prelude's symbols: link
  // it with kiln_cuda_emulator. Throws CompilerMissing, and std::runtime_error with the compiler's words when it refuses the text.
  Compiled(const std::string& text, const std::string& kernel, const std::string& compiler = "g++");

  Entry entry() const { return entry_; }  // valid as long as this value

 private:
  std::shared_ptr<void> library_;
  Entry entry_ = nullptr;
};

// The files of device/, which the program carries.
struct PreludeFile {
  std::string_view name, text;
};
const std::vector<PreludeFile>& prelude_files();

}  // namespace kiln::generators::cuda::emulator
