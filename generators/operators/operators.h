// The operators that Kiln ships: ordinary Halide generators, registered like any plugin's.
#pragma once

#include <string>
#include <vector>

namespace kiln::generators {

// Their names, sorted. A program that links them statically calls this once: registration happens in static objects, which the linker drops
// with the files that nobody mentions.
std::vector<std::string> shipped_operators();

}  // namespace kiln::generators
