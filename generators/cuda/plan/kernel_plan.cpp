#include "generators/cuda/plan/kernel_plan.h"

namespace kiln::generators::cuda {

const Computation& KernelPlan::computation() const {
  return std::visit([](const auto& plan) -> const Computation& { return plan.computation; }, plan_);
}

int KernelPlan::threads() const { return ring() != nullptr ? ring()->threads() : stream()->threads; }

int KernelPlan::cluster() const { return ring() != nullptr ? ring()->parts : stream()->cluster; }

bool KernelPlan::is_dependent() const {
  return std::visit([](const auto& plan) { return plan.is_dependent; }, plan_);
}

std::int64_t KernelPlan::shared_bytes() const {
  return std::visit([](const auto& plan) { return plan.shared_bytes(); }, plan_);
}

std::int64_t KernelPlan::blocks(int sms) const { return ring() != nullptr ? ring()->blocks(sms) : stream()->blocks(); }

int KernelPlan::barriers() const {
  if (ring() != nullptr) return 16;  // their numbers are not known to the compiler, which then reckons with all
  return stream()->rows_per_block > 1 ? stream()->rows_per_block + 1 : 1;
}

std::int64_t KernelPlan::bytes_in_flight_of_a_block() const {
  return ring() != nullptr ? ring()->bytes_in_flight_of_a_block() : stream()->threads * stream()->bytes_in_flight_per_thread();
}

std::string print_kernel(const KernelPlan& plan) { return plan.ring() != nullptr ? print_kernel(*plan.ring()) : print_kernel(*plan.stream()); }

std::string print(const KernelPlan& plan) { return plan.ring() != nullptr ? print(*plan.ring()) : print(*plan.stream()); }

}  // namespace kiln::generators::cuda
