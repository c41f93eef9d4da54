// Which back end makes the kernels of a device, and what its builds are known by.
#pragma once

#include <string>

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/digest.h"
#include "dsl/problem.h"
#include "dsl/schedule.h"

namespace kiln::autotune {

class BackEnd {
 public:
  // Of a GPU NVRTC is asked for its version: throws EnvironmentError where there is none.
  explicit BackEnd(const Device& device);

  // Compilers, flags and what else makes builds differ, in one canonical text; its digest is the toolchain's identity.
  const std::string& toolchain_text() const { return toolchain_; }

  // What a build is for: Halide's target of every feature of the device, or the GPU's architecture.
  std::string target(Contract contract) const;

  Digest build_key(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem) const;

  // What a GPU's kernels would need of an algorithm that nobody has scheduled, and it has not: "…". Empty where they compute it, and on a CPU, which computes all.
  std::string unmet_requirement(const Algorithm& algorithm, const Problem& problem) const;

 private:
  Device device_;
  std::string toolchain_;
};

}  // namespace kiln::autotune
