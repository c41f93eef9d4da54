// Compiles the hand-made product for one target.
#pragma once

#include "generators/build.h"
#include "generators/host/lowered.h"
#include "generators/host/memory_file.h"
#include "tests/generators/host/matmul_pipeline.h"

namespace kiln::generators::host {

inline Artifact compiled(Pipeline pipeline, const std::string& target, const std::string& symbol = "kiln_test_matmul") {
  const Halide::Module module = lower(pipeline, symbol, Halide::Target(target));
  const MemoryFile file("kiln-test-object");
  module.compile({{Halide::OutputFileType::object, file.path()}});
  return {.bytes = file.contents(), .symbol = symbol + "_argv", .target = target};
}

}  // namespace kiln::generators::host
