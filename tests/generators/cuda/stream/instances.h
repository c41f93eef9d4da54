// Every kind of kernel of the stream skeleton, each at a small problem with ragged ends.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace kiln::tests {

struct StreamInstance {
  std::string name, problem, schedule;
};
inline void PrintTo(const StreamInstance& instance, std::ostream* out) { *out << instance.name; }

std::vector<StreamInstance> stream_instances();

}  // namespace kiln::tests
