// The shapes of the stream skeleton, one file each.
#pragma once

#include "generators/cuda/emit/stream_kernel.h"

namespace kiln::generators::cuda {

KernelText emit_flat(const StreamPlan& plan, const std::string& name);
KernelText emit_rows(const StreamPlan& plan, const std::string& name);
KernelText emit_turned(const StreamPlan& plan, const std::string& name);
KernelText emit_dots(const StreamPlan& plan, const std::string& name);
KernelText emit_strips(const StreamPlan& plan, const std::string& name);

}  // namespace kiln::generators::cuda
