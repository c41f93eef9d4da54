// Halide's expressions and functions as our own values, under given names.
#pragma once

#include <Halide.h>

#include <vector>

#include "dsl/algorithm.h"
#include "dsl/read_algorithm_names.h"

namespace kiln {

// Throws AlgorithmError for a type that has no name here: a vector or a pointer. `place` names who has it.
DType dtype_of(const Halide::Type& type, const std::string& place);

// Throws AlgorithmError naming the stage and what it holds that cannot be kept.
std::vector<Stage> read_stages(const std::vector<Halide::Internal::Function>& functions, const Names& names);

// Conditions of the whole pipeline, over inputs alone.
std::vector<ExpressionPtr> read_requirements(const Halide::Pipeline& pipeline);

}  // namespace kiln
