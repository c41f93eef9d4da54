#include "nvrtc.h"

#include <map>

#include "generators/cuda/compile/compile.h"
#include "kept_cubins.h"
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

std::string compiled(const compile::Source& source) {
  static const compile::Nvrtc nvrtc = loaded();
  const compile::Compiled compiled = compile::compile(nvrtc, source);
  if (compiled.rejection) throw std::runtime_error("NVRTC about " + source.kernels.front() + ":\n" + compiled.rejection->text);
  return compiled.cubin;
}

std::string kept_or_compiled(const compile::Source& source) {
  const std::optional<KeptCubins> kept = kept_cubins();
  if (!kept) return compiled(source);
  if (const std::optional<std::string> cubin = kept->find(source)) return *cubin;
  const std::string cubin = compiled(source);
  kept->keep(source, cubin);
  return cubin;
}

}  // namespace

std::string cubin_of(const std::string& text, const std::string& kernel, bool contracts_to_fma) {
  static std::map<std::pair<std::string, bool>, std::string> cubins;
  if (const auto found = cubins.find({text, contracts_to_fma}); found != cubins.end()) return found->second;
  return cubins[{text, contracts_to_fma}] = kept_or_compiled({.text = text, .kernels = {kernel}, .contracts_to_fma = contracts_to_fma});
}

}  // namespace kiln::gpu
