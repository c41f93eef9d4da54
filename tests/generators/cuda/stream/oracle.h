// A shipped operator as its algorithm and its reference, in this process.
#pragma once

#include <string>

#include "dsl/algorithm.h"
#include "generators/host/loaded.h"

namespace kiln::tests {

struct Oracle {
  Algorithm algorithm;
  generators::host::Loaded reference;
};

// Of the operator and the parameters that a problem names: read and built once.
const Oracle& oracle(const std::string& problem);

}  // namespace kiln::tests
