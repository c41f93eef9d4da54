// An operator's problem with its reference, and images of one program for it, to be checked and timed by a measuring worker. The program that links this is its
// own worker (tests/autotune/worker/main.cpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "autotune/measurer.h"
#include "generators/cuda/launch_record.h"
#include "generators/cuda/lower.h"
#include "tests/db/temporary_folder.h"

namespace kiln::tests {

class GpuSubject {
 public:
  // Reads the operator and builds its reference, in workers of this program.
  GpuSubject(const std::string& problem, const std::string& schedule);

  const autotune::Objects& objects() const { return objects_; }
  const autotune::Subject& subject() const { return subject_; }
  const generators::cuda::Program& program() const { return program_; }

  // `code`: what takes the place of the program's cubin.
  autotune::Candidate candidate(std::int64_t id, const std::string& code) const;

 private:
  db::TemporaryFolder folder_;
  autotune::Objects objects_;
  autotune::Subject subject_;
  generators::cuda::Program program_;
};

}  // namespace kiln::tests
