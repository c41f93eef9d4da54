// The stream skeleton: a plan as CUDA C++ that reads like a kernel written by hand.
#pragma once

#include <string>
#include <vector>

#include "generators/cuda/emit/expression.h"
#include "generators/cuda/plan/stream_plan.h"

namespace kiln::generators::cuda {

// One parameter of the kernel, in the order of its signature.
struct KernelParameter {
  enum class Kind : std::uint8_t {
    operand,   // the address of operand `place`
    scalar,    // scalar `place` by value
    columns,   // int
    terms,     // int
    rows,      // int
    elements,  // i64: columns × rows
  };
  Kind kind = Kind::operand;
  int place = 0;
  bool operator==(const KernelParameter&) const = default;
};

struct KernelText {
  std::string name;   // of the extern "C" function
  std::string text;   // its functions and itself, over the prelude's files that kPrelude names
  std::vector<KernelParameter> parameters;
};

// One translation unit: the prelude's includes, then the kernels, each with its functions in a namespace of its own when there are several.
std::string translation_unit(const std::vector<const KernelText*>& kernels);

// `name` is the function's. Throws ScheduleError for an expression that no kernel can say.
KernelText emit_stream(const StreamPlan& plan, const std::string& name);

}  // namespace kiln::generators::cuda
