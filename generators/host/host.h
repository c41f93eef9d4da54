// The CPU back end: algorithm + schedule + problem -> object file with its reports.
#pragma once

#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/problem.h"
#include "dsl/schedule.h"
#include "generators/build.h"

namespace kiln::generators::host {

enum class Isa {
  native,     // every feature of the device
  x86_64_v2,  // SSE4.2: the generic variant that every package carries
};

// Halide's target string for this device, by its own CPUID and XCR0 facts, never Halide's "host". Ends in no_runtime. Throws UsageError when the device is
// no CPU; so do `build` and `build_reference`.
std::string target_string(const Device& device, Isa isa, Contract contract);

// Compilers, flags and codegen_version in one canonical text; its digest is the toolchain's identity.
std::string toolchain_text();

// Identity of what a build depends on: algorithm, compile-time directives, target, toolchain (for opaque schedules the problem's extents too).
Digest build_key(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const std::string& target);

// The CPU this process may use. Reads CPUID, XCR0, sysfs, affinity and cgroup; calls nothing of Halide.
Device probe_cpu();

// The CPU that works for a device, reads its algorithms and builds their references: a CPU itself, beside a GPU the one that this process may use.
Device host_beside(const Device& device);

// legality -> closed forms -> prune -> apply -> lower -> predict -> prune -> compile -> report -> prune. Never throws for what a candidate did: that is the rejection.
// An unscheduled build is an empty Schedule. Opaque schedules (own_schedule, autoschedule) are handled too; autoschedule follows the problem's
// extents as estimates and may take long or much memory: the caller caps both.
Build build(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const Device& device, Isa isa = Isa::native);

// The oracle: floats widened to f64, trusted schedule, strict_float. Float outputs are f64. Throws Error when it cannot be built.
Artifact build_reference(const Algorithm& algorithm, const Device& device, Isa isa = Isa::native);

// Resources of the device that a report may not exceed, as a rejection with both numbers.
std::optional<Rejection> prune(const Predicted& report, const Device& device);
std::optional<Rejection> prune(const Actual& report, const Device& device);

}  // namespace kiln::generators::host
