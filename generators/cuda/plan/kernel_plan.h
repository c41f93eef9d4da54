// The plan of a kernel, whichever skeleton prints it, and what every plan says of itself.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "generators/cuda/plan/ring_plan.h"
#include "generators/cuda/plan/stream_plan.h"

namespace kiln::generators::cuda {

class KernelPlan {
 public:
  KernelPlan() = default;
  KernelPlan(StreamPlan plan) : plan_(std::move(plan)) {}
  KernelPlan(RingPlan plan) : plan_(std::move(plan)) {}

  // Null when another skeleton prints it.
  const StreamPlan* stream() const { return std::get_if<StreamPlan>(&plan_); }
  const RingPlan* ring() const { return std::get_if<RingPlan>(&plan_); }

  const Computation& computation() const;
  int threads() const;                         // of a block
  int cluster() const;                         // blocks of a cluster
  bool is_dependent() const;
  std::int64_t shared_bytes() const;           // dynamic
  std::int64_t blocks(int sms) const;          // of the grid under the problem
  int barriers() const;                        // bar.sync and bar.arrive, as the compiler counts them
  std::int64_t bytes_in_flight_of_a_block() const;

 private:
  std::variant<StreamPlan, RingPlan> plan_;
};

std::string print_kernel(const KernelPlan& plan);
std::string print(const KernelPlan& plan);

}  // namespace kiln::generators::cuda
