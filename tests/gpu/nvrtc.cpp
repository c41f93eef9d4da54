#include "nvrtc.h"

#include <map>

#include "generators/cuda/compile/compile.h"
#include "missing.h"

namespace kiln::gpu {
namespace {

using namespace generators::cuda;

compile::Nvrtc loaded() {
  try {
    return compile::Nvrtc();
  } catch (const compile::NvrtcMissing& missing) {
    throw Missing(missing.what());
  }
}

}  // namespace

std::string cubin_of(const std::string& text, const std::string& kernel, bool contracts_to_fma) {
  static const compile::Nvrtc nvrtc = loaded();
  static std::map<std::pair<std::string, bool>, std::string> cubins;
  if (const auto found = cubins.find({text, contracts_to_fma}); found != cubins.end()) return found->second;
  const compile::Compiled compiled = compile::compile(nvrtc, {.text = text, .kernels = {kernel}, .contracts_to_fma = contracts_to_fma});
  if (compiled.rejection) throw std::runtime_error("NVRTC about " + kernel + ":\n" + compiled.rejection->text);
  return cubins[{text, contracts_to_fma}] = compiled.cubin;
}

}  // namespace kiln::gpu
