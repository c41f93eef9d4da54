// A kernel's text to a cubin and what it takes. Printed texts come in here; the cubin goes as it is into the store and the package.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generators/cuda/compile/cubin_report.h"
#include "generators/cuda/compile/nvrtc.h"
#include "generators/rejection.h"

namespace kiln::generators::cuda::compile {

struct Source {
  std::string text;                  // includes files of generators/cuda/device by their bare names, and nothing else
  std::vector<std::string> kernels;  // one at least: its extern "C" __global__ functions
  std::string arch = "sm_90a";       // plain sm_90 has neither wgmma nor setmaxnreg
  bool contracts_to_fma = true;      // false: a * b + c is rounded twice, as a strict contract demands
};

struct Compiled {
  std::string cubin;                   // an ELF file; empty when rejected
  std::vector<KernelReport> kernels;   // as in Source::kernels; also of a text that is rejected for what the compiler did to it
  std::string log;                     // the compiler's words, all of them
  std::optional<Rejection> rejection;  // compile_error, over_registers, compiler_crash
};

// Takes 0.1 to 1 s. Spills are reported, not rejected: whether they matter is for who prunes. Prints nothing and keeps nothing, in any process; a compiler
// that hangs or dies takes its process with it, so the caller chooses one that may. Throws EnvironmentError when NVRTC does not know the architecture or
// lacks a part, and Error when its log and its cubin cannot be read or do not agree.
Compiled compile(const Nvrtc& nvrtc, const Source& source);

// Compiler, options and prelude in one canonical text; its digest is the toolchain's identity. The options of one source (architecture, contraction) are
// for its build key.
std::string toolchain_text(const Nvrtc& nvrtc);

}  // namespace kiln::generators::cuda::compile
