// Resources of a candidate: predicted from the lowered program before any machine code, actual from the object that was made.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kiln::generators {

struct LoopBytes {
  std::string loop;        // "c.no", "c.update(0).ko": the stage reference and the loop as a schedule names them
  std::int64_t bytes = 0;
  bool operator==(const LoopBytes&) const = default;
};

// One kernel of a GPU's program: predicted from its plan, or as the compiler reports it. Blocks per SM and what follows are of the device.
struct KernelResources {
  std::string name;
  std::int64_t threads = 0;                 // of a block
  std::int64_t blocks = 0;                  // of the grid
  std::int64_t registers = 0;               // of a thread
  std::int64_t spill_bytes = 0;             // stores; predicted: 0 or more than 8, no more than that is known
  std::int64_t shared_bytes = 0;            // of a block, static and dynamic
  std::int64_t blocks_per_sm = 0;           // that run at once
  double occupancy = 0;                     // their warps over those that an SM can hold
  std::int64_t waves = 0;                   // turns in which all blocks run
  std::int64_t bytes_in_flight = 0;         // of an SM: loads under way before the first is used
  std::int64_t code_bytes = 0;              // actual only
  bool operator==(const KernelResources&) const = default;
};

// Formulas in dsl/footprint.h. What could not be evaluated for the problem's extents is absent, never guessed.
struct Predicted {
  std::optional<double> flops;                             // of one call as scheduled, recomputation included
  std::int64_t compulsory_bytes = 0;                       // every argument once
  std::optional<std::int64_t> parallel_tasks;              // iterations of the outermost parallel loops; 1 when there are none
  std::optional<std::int64_t> peak_intermediate_bytes;     // scratch alive at once, all threads
  int allocations = 0;                                     // heap allocations in the program text
  std::vector<LoopBytes> working_sets;                     // cache lines touched by one iteration of each loop; text order, outermost first
  std::map<std::string, std::int64_t> traffic_bytes;       // level ("l1", "l2", "l3") -> bytes that cross into it from below
  std::vector<KernelResources> kernels;                    // on a GPU, in the order of their launches
  bool operator==(const Predicted&) const = default;
};

struct Actual {
  int vector_bits = 0;                    // widest vector register that an arithmetic instruction names
  std::int64_t loop_stack_loads = 0;      // instructions inside innermost loops that read the stack frame
  std::int64_t loop_stack_stores = 0;
  std::int64_t code_bytes = 0;            // text sections
  std::int64_t stack_frame_bytes = 0;     // the largest frame
  std::vector<KernelResources> kernels;   // on a GPU, in the order of their launches
  bool operator==(const Actual&) const = default;
};

std::string to_json(const Predicted& report);
std::string to_json(const Actual& report);
Predicted predicted_from_json(const std::string& text);
Actual actual_from_json(const std::string& text);

}  // namespace kiln::generators
