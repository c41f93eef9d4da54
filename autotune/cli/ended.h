// How a program of ours ends: what went wrong becomes words on stderr and an exit code here and nowhere else.
#pragma once

#include <functional>

namespace kiln::autotune::cli {

// The exit code of `run`, or that of the error which it threw.
int ended(const std::function<int()>& run);

}  // namespace kiln::autotune::cli
