// Halide's final statement read into a LoopTree.
#pragma once

#include <Halide.h>

#include <map>
#include <string>

#include "generators/host/loop_tree.h"
#include "generators/host/lowered_index.h"

namespace kiln::generators::host {

struct StatementFacts {
  std::map<std::string, BufferFacts> buffers;         // by Halide's handle, "A.buffer"
  std::map<std::string, Buffer> arguments;            // by the name that loads and stores use: "A", "y", "y.1"
  std::map<std::string, std::int64_t> scalars;        // scalar inputs whose value is known (their estimate)
  std::map<std::string, std::string> stage_names;     // Halide's Func name -> our stage reference, where they differ
};

LoopTree read_loops(const Halide::Internal::Stmt& statement, const StatementFacts& facts);

}  // namespace kiln::generators::host
