// Every kind of kernel of the ring skeleton, each at a small problem with ragged ends: two tiles along each axis, and steps enough that each stage is used three
// times.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace kiln::tests {

struct RingInstance {
  std::string name, problem, schedule;
};
inline void PrintTo(const RingInstance& instance, std::ostream* out) { *out << instance.name; }

std::vector<RingInstance> ring_instances();

// Of matmul_swiglu with columns of weights side by side: in one kernel, in three, and with one product in a kernel of its own.
std::vector<std::string> gated_schedules();

// Of ffn in the same order: in two kernels and in four.
std::vector<std::string> layer_schedules();

}  // namespace kiln::tests
