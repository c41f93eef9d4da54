// The element types of operators that compute in f32 whatever they read and write.
#pragma once

#include <Halide.h>

#include <sstream>
#include <stdexcept>
#include <string>

namespace kiln::generators {

// Throws std::invalid_argument for a type that f32 does not hold.
inline void require_short_float(const std::string& operator_name, const Halide::Type& type) {
  if (type.is_float() && type.bits() <= 32) return;
  std::ostringstream text;
  text << operator_name << " computes in f32 and takes f32, f16 or bf16, not " << type;
  throw std::invalid_argument(text.str());
}

}  // namespace kiln::generators
