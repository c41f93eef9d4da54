// The step under every rebuild: new Halide functions from old definitions, without their schedules.
#pragma once

#include <Halide.h>

#include <map>
#include <string>
#include <vector>

#include "dsl/read_algorithm_names.h"

namespace kiln {

struct Redefined {
  std::vector<Halide::Internal::Function> functions;  // as many as came in, in their order
  std::vector<Halide::Internal::Stmt> requirements;
  std::map<std::string, Halide::Parameter> inputs;    // fresh ones: type and rank as before, no constraints, no estimates
};

enum class Floats {
  as_written,
  widened,  // to f64: see rebuild_reference
};

// Stages and loops get the names of halide_name(canonical). The functions must have passed read_stages.
Redefined redefine(const std::vector<Halide::Internal::Function>& functions, const std::vector<Halide::Internal::Stmt>& requirements,
                   const Names& names, Floats floats);

}  // namespace kiln
