// A GPU's candidate without a GPU: its kernels' text in the emulator, on a problem small enough for it, against the reference.
#pragma once

#include <memory>
#include <optional>

#include "autotune/compile_pool.h"
#include "autotune/measurer.h"
#include "dsl/algorithm.h"
#include "dsl/capability.h"
#include "dsl/problem.h"
#include "dsl/schedule.h"
#include "generators/cuda/launch_record.h"
#include "generators/rejection.h"

namespace kiln::autotune {

struct Emulation {
  std::vector<Problem> checked;                    // each in eight orders of threads and asynchronous operations
  std::optional<generators::Rejection> rejection;  // emulator_fault, wrong_result, …
  std::string too_large;                           // why nothing was checked; empty: something was, or is rejected
};

// The largest problem of at most some ten thousand elements that the kernels take, else the smallest of somewhat more: extents of the given one as they are,
// or smaller ones that no tile divides and that the kernels take. Nothing where the emulator takes none.
std::optional<Problem> emulated_problem(const generators::cuda::LaunchRecord& record, const Problem& problem, const Algorithm& algorithm);

class Emulator {
 public:
  // `pool` is of the GPU that is meant: its workers build the references.
  Emulator(const Device& gpu, CompilePool& pool, const Objects& objects, const Launch& launch = {});

  // A schedule that is refused is a rejection too. One whose launches are too large for the emulator on every problem is none: nothing is known of it.
  Emulation emulate(const std::shared_ptr<const Algorithm>& algorithm, const Schedule& schedule, const Problem& problem);
  // The same with a reference that is built: the pool is not asked.
  Emulation emulate(const std::shared_ptr<const Algorithm>& algorithm, const Schedule& schedule, const Problem& problem, const ObjectRef& reference);

 private:
  const ObjectRef& reference_of(const std::shared_ptr<const Algorithm>& algorithm, const Problem& problem);

  Capability capability_;
  CompilePool& pool_;
  Objects objects_;
  Measurer measurer_;
  std::map<Digest, ObjectRef> references_;  // by algorithm
};

}  // namespace kiln::autotune
