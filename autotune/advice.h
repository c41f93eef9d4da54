// What limits a candidate on a device, what would help, and how much the next step would buy.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/least_traffic.h"
#include "generators/build.h"

namespace kiln::autotune {

// Cycles that one resource alone would take, all usable cores sharing the work.
struct Bound {
  std::string resource;  // compute · l2_bandwidth · l3_bandwidth · memory_bandwidth
  double cycles = 0;
};

struct Advice {
  // parallel_tasks · vector_width · registers · a bound's resource · unknown, or the reason of a rejection
  std::string binds;
  std::vector<std::string> lines;  // what would help, in sentences with their numbers; the most useful first
  std::vector<Bound> bounds;       // largest first
  std::string next;                // what the next step would buy; empty when only a measurement can tell
};

// Pure. `element_bytes`: of the numbers that are computed; `threads`: what a call may use; `least`: what must cross into each cache, by its name.
Advice advise(const generators::Build& build, const Device& device, int threads, int element_bytes, const std::map<std::string, LeastTraffic>& least = {});

// Bytes of the widest float that the algorithm computes, else of its widest value.
int element_bytes_of(const Algorithm& algorithm);

// FLOPs a byte that comes from memory (absent: a byte of the arguments); nothing when the FLOPs are not known.
std::optional<double> intensity(const generators::Predicted& predicted);

}  // namespace kiln::autotune
