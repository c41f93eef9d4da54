#include "generators/package/embedded.h"

#include "dsl/error.h"

namespace kiln::generators::package {

std::string embedded_file(std::string_view name) {
  for (const EmbeddedFile& file : embedded_files())
    if (file.name == name) return std::string(file.text);
  KILN_CHECK(false, "no embedded file " + std::string(name));
  return {};
}

}  // namespace kiln::generators::package
