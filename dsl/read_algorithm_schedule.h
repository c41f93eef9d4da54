// Did the generator's author schedule anything?
#pragma once

#include <Halide.h>

#include <vector>

namespace kiln {

// Does the schedule of some function differ from what every function starts with? Estimates, and what is asked of an output's shape, do not
// count, nor does compute_root on a function that is computed at root anyway.
bool is_scheduled(const std::vector<Halide::Internal::Function>& functions, const std::vector<Halide::Func>& outputs);

}  // namespace kiln
