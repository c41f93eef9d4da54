// All plans that a problem's space on a GPU holds, by the texts that they become: knobs of the launch alone share one, and so do problems that differ
// in extents which no text knows.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/digest.h"
#include "dsl/problem.h"
#include "generators/report.h"
#include "schedules/space.h"

namespace kiln::bench {

// One problem with its space.
struct Plans {
  Algorithm algorithm;
  Problem problem;
  schedules::Space space;
  std::uint64_t count = 0;     // of points
  std::vector<Digest> texts;   // distinct, in no order
  std::size_t fresh = 0;       // of them, met in no problem before
  double seconds = 0;          // of lowering all points, on all processors
};

// Throws UsageError when no space serves the problem.
Plans plans_of(const std::string& problem, const Device& device);

// Where a text was met first, and what was predicted of its kernels. A plan that lowering refuses has a text of its own and no kernels.
struct TextOrigin {
  std::size_t problem = 0;
  std::uint64_t rank = 0;
  std::vector<generators::KernelResources> predicted;
};

class Texts {
 public:
  // Lowers every point of the problem, the `place`-th, on `threads` threads.
  void add(Plans& plans, std::size_t place, const Device& device, unsigned threads);
  const TextOrigin& origin(const Digest& text) const { return origins_.at(text); }

 private:
  std::mutex mutex_;
  std::map<Digest, TextOrigin> origins_;
};

}  // namespace kiln::bench
