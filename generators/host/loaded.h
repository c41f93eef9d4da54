// An object brought into this process: linked by `ld -shared` into a memfd, dlopened, closed with the value. What was linked before is dlopened as it is.
#pragma once

#include <memory>
#include <string>

#include "generators/build.h"

namespace kiln::generators::host {

// The same build as a shared library, for a machine without `ld`. Throws as Loaded does.
Artifact linked(const Artifact& object);

class Loaded {
 public:
  // The runtime symbols resolve against the running program, which exports generators/runtime. Throws EnvironmentError when `ld` is missing
  // (names the apt package), Error with the linker's or loader's words otherwise.
  explicit Loaded(const Artifact& artifact);

  // Halide's argv form: one pointer an argument (halide_buffer_t*, or the scalar's address). Returns Halide's error code, 0 for success.
  int operator()(void** arguments) const { return function_(arguments); }

 private:
  std::shared_ptr<void> library_;
  int (*function_)(void**) = nullptr;
};

}  // namespace kiln::generators::host
