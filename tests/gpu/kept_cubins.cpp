#include "kept_cubins.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "dsl/digest.h"

namespace kiln::gpu {

namespace fs = std::filesystem;
using generators::cuda::compile::Source;

KeptCubins::KeptCubins(fs::path folder) : folder_(std::move(folder)) {}

std::optional<std::string> KeptCubins::find(const Source& source) const {
  std::ifstream file(path_of(source), std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

void KeptCubins::keep(const Source& source, const std::string& cubin) const {
  const fs::path path = path_of(source), aside = path.string() + "." + std::to_string(::getpid());
  fs::create_directories(folder_);
  std::ofstream file(aside, std::ios::binary);
  file << cubin;
  file.close();
  if (!file) throw std::runtime_error(aside.string() + " cannot be written");
  fs::rename(aside, path);
}

fs::path KeptCubins::path_of(const Source& source) const {
  std::string text = source.arch + (source.contracts_to_fma ? " fma\n" : "\n");
  for (const std::string& kernel : source.kernels) text += kernel + "\n";
  for (const generators::cuda::compile::PreludeFile& file : generators::cuda::compile::prelude_files()) text.append(file.name).append("\n").append(file.text);
  return folder_ / (digest("cubin", text + source.text).hex() + ".cubin");
}

std::optional<KeptCubins> kept_cubins() {
  const char* folder = std::getenv("KILN_CUBINS");
  return folder && *folder ? std::optional(KeptCubins(folder)) : std::nullopt;
}

}  // namespace kiln::gpu
