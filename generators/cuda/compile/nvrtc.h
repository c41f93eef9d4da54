// NVRTC, NVIDIA's compiler of CUDA C++ as a library. It is loaded when it is asked for: building Kiln needs nothing of CUDA, compiling a kernel neither a GPU
// nor a driver.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dsl/error.h"
#include "generators/cuda/compile/prelude.h"

namespace kiln::generators::cuda::compile {

// NVRTC is not on this machine, or is none that can be used. The message says where it was looked for and how to get it.
class NvrtcMissing : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

// Where NVRTC is looked for, in this order: what the loader finds (LD_LIBRARY_PATH, then the system's folders), then the wheel nvidia-cuda-nvrtc in the
// .venv of the source tree.
std::vector<std::string> nvrtc_places();

struct Translation {
  enum class Ending {
    done,     // cubin holds the code
    refused,  // the text is wrong or asks for too much; the log says what
    crashed,  // the compiler gave up: an internal error, or no memory
  };
  Ending ending = Ending::done;
  std::string cubin;  // an ELF file; empty unless done
  std::string log;    // all that the compiler said; may hold warnings when done
};

struct NvrtcLibrary;

class Nvrtc {
 public:
  // Loads the first of `places` that can be loaded; it stays in the process. Throws NvrtcMissing.
  explicit Nvrtc(const std::vector<std::string>& places = nvrtc_places());

  const std::string& path() const;  // the file that was loaded
  std::string version() const;      // "13.0.88", from a compile of nothing; "13.0" when the compiler does not say more

  // `name` is what the log calls the text. An #include finds `headers` by their names, and nothing else. Throws EnvironmentError with NVRTC's words when it
  // does not know an option or misses a part of itself.
  Translation translate(const std::string& text, const std::string& name, const std::vector<PreludeFile>& headers, const std::vector<std::string>& options) const;

 private:
  std::shared_ptr<const NvrtcLibrary> library_;
};

}  // namespace kiln::generators::cuda::compile
