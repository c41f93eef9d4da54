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
    rows,      // int
    elements,  // i64: columns × rows
  };
  Kind kind = Kind::operand;
  int place = 0;
  bool operator==(const KernelParameter&) const = default;
};

struct KernelText {
  std::string name;   // of the extern "C" function
  std::string text;   // one translation unit over generators/cuda/device
  std::vector<KernelParameter> parameters;
};

// `name` is the function's. Throws ScheduleError for an expression that no kernel can say.
KernelText emit_stream(const StreamPlan& plan, const std::string& name, Math math);

}  // namespace kiln::generators::cuda
