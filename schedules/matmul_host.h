// The space of matrix products on a CPU: a register tile under a panel of B for many rows, streamed rows of B for few.
#pragma once

#include "dsl/device.h"
#include "schedules/space.h"
#include "schedules/structure.h"

namespace kiln::schedules {

// `b_reference` is how a schedule names what is read as b: `B.in()`.
Space matmul_host(const Contraction& product, const std::string& b_reference, const Device& device);

}  // namespace kiln::schedules
