// The process that calls one variant of a finished package as an application would, and compares the outputs with the reference.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "autotune/measurer.h"
#include "autotune/process/channel.h"

namespace kiln::autotune::cli {

struct VerifyRequest {
  std::string library;        // the package's shared library
  std::string set, entry;     // names
  int variant = 0;
  int threads = 1;
  std::optional<int> gpu;     // of a GPU's variant: the device to call it on
};

// What one call of the variant on one subject gave.
struct VerifyOutcome {
  std::string failure;        // empty: right. Else the library's sentence, or the output, the place and both numbers
  double max_error = 0;       // of the worst output, as a multiple of its budget
  bool bit_exact = false;
};

autotune::Json verify_request_to_json(const VerifyRequest& request, const Subject& subject, const std::string& algorithm_hash, const std::string& cache_folder);
VerifyOutcome verify_outcome_from_json(const autotune::Json& json);

// Role "verify": answers one request with one outcome.
int run_verify_role(Channel& channel);

}  // namespace kiln::autotune::cli
