// What `kiln explain` says of the time that a GPU's kernel is expected to take: where it goes, what binds, what would help.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "autotune/cli/pages/json.h"
#include "dsl/device.h"
#include "generators/cuda/resources/ring_time.h"

namespace kiln::autotune::cli {

struct ExpectedTime {
  std::string kernel;
  generators::cuda::resources::RingWork work;
  generators::cuda::resources::RingTime time;
};

// Sentences with their numbers, the most useful first.
std::vector<std::string> advice_on(const ExpectedTime& expected, const Gpu& gpu);

// What a whole call is expected to take, with kernels between the rings, and took: where each is known.
struct CallTime {
  std::optional<double> expected_ns, measured_ns;
};

// Empty without times.
std::string print_times(const std::vector<ExpectedTime>& times, const Gpu& gpu, const CallTime& call);

// [{kernel, predicted_ns, binds, tensor_ns, …, advice}]
Json times_json(const std::vector<ExpectedTime>& times, const Gpu& gpu);
// Of the kernel that takes longest; null without times.
Json binds_json(const std::vector<ExpectedTime>& times);

}  // namespace kiln::autotune::cli
