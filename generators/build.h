// What a back end makes of a candidate.
#pragma once

#include <optional>
#include <string>

#include "dsl/digest.h"
#include "generators/rejection.h"
#include "generators/report.h"

namespace kiln::generators {

// An object or a cubin with what is needed to call it.
struct Artifact {
  std::string bytes;   // the ELF object, without a runtime; of a GPU an image: the cubin and how its kernels are launched (cuda/image.h)
  std::string symbol;  // the function that takes void** (Halide's argv form); of a GPU the first kernel
  std::string target;  // as compiled, with features: the guard of a package variant comes from it
  int alignment_bytes = 0;  // every buffer's pointer must be a multiple of this; 0: of its own element size (all that host builds ask)
};

struct Build {
  Digest key;                           // the build key of CONTRACTS 3
  std::optional<Artifact> artifact;     // absent when rejected
  std::optional<Rejection> rejection;
  std::optional<Predicted> predicted;   // absent when lowering failed
  std::optional<Actual> actual;
  std::string directives;               // of an opaque schedule: what it did, as a schedule that says it; empty where directives cannot
  double lower_ms = 0, compile_ms = 0;
  std::string log;                      // what Halide printed, warnings included
};

}  // namespace kiln::generators
