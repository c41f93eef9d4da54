// What dots and strips have in common: a sum of terms for each element, and what is stored of it, one element at a time.
#pragma once

#include <string>

#include "generators/cuda/emit/stream_kernel.h"

namespace kiln::generators::cuda {

class SumsKernel : public StreamKernel {
 public:
  // Throws ScheduleError for values beside the sum and what is stored.
  SumsKernel(const StreamPlan& plan, std::string name);

 protected:
  const Operand& weights() const;   // read once, by column and term
  const Value& dot() const { return *computation().dots().front(); }
  void declare_lengths();
  // Stores the element at `row` and `column`, whose sum is the local `sum`.
  void store_element();
  // `sums{place} += ` one term.
  void add_term(const std::string& sum);

  std::string argument(const Expression& leaf) override;
  // An operand of a term, where it is computed.
  virtual std::string term_operand(const Operand& one) const = 0;

 private:
  std::string element_operand(const Operand& one) const;

  bool is_in_term_ = false;
};

}  // namespace kiln::generators::cuda
