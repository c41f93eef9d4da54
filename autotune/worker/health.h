// A computation with a known answer, on every thread: does this device still compute?
#pragma once

#include <string>

namespace kiln::autotune {

// Empty when all is well, else what is wrong.
std::string find_health_complaint(int threads);

}  // namespace kiln::autotune
