// How a kernel of the stream skeleton runs: plain numbers, read from a schedule, checked against what the skeleton can do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsl/capability.h"
#include "dsl/loop_nest.h"
#include "generators/cuda/program/computation.h"

namespace kiln::generators::cuda {

enum class LoadHint : std::uint8_t { plain, no_l1, evict_first };
enum class StoreHint : std::uint8_t { plain, streaming, evict_first };

struct StreamPlan {
  enum class Shape : std::uint8_t {
    flat,    // all elements in one line; a thread takes `accesses` vectors, `threads` vectors apart
    rows,    // a row by `threads_per_row` threads of each block of a cluster, `accesses` vectors each; row values through shuffles and shared memory
    turned,  // a tile of the turned operand through shared memory, a `vector` × `vector` square in the registers of a thread
    dots,    // teams of warps along the terms of `columns_per_team` columns, for all rows at once
    strips,  // `lanes` threads side by side along the columns, groups of them along the terms, for all rows at once
  };

  Computation computation;
  Capability capability;        // of the device that the text is for
  Shape shape = Shape::flat;
  int threads = 0;              // of a block
  int vector = 1;               // elements of one access
  int accesses = 1;             // vectors of an operand that a thread has in flight
  int rows_per_block = 1, threads_per_row = 0, cluster = 1;  // of shape rows
  int tile_columns = 0, tile_rows = 0;                       // of shape turned: of what is written
  bool is_down_first = false;                                // of shape turned: blocks next to each other take tiles below each other
  int columns_per_team = 1, warps_per_team = 1, teams = 1;   // of shape dots
  int lanes = 0, groups = 0;                                 // of shape strips
  int rows_at_once = 1;                                      // of both: rows whose sums a thread keeps
  int blocks_per_sm = 0;        // asked of the compiler; 0: nothing is asked
  LoadHint loads = LoadHint::plain;
  StoreHint stores = StoreHint::plain;
  bool has_fixed_columns = false;
  bool is_dependent = false;    // launched while the kernel before still runs

  // What follows.
  bool may_be_dependent() const { return capability >= kGridDependencies; }  // the text serves both ways of launching it
  int warps_per_row() const { return threads_per_row / 32; }
  int slots_per_row() const { return warps_per_row() * cluster; }  // partial results of a reduction that are combined through shared memory
  std::int64_t columns_per_access() const { return std::int64_t{threads_per_row} * vector * cluster; }
  bool has_whole_rows() const;         // fixed columns that the threads cover exactly: nothing is masked
  std::int64_t shared_bytes() const;   // dynamic
  std::int64_t blocks() const;         // of the grid under the problem
  std::int64_t bytes_in_flight_per_thread() const;
};

// One line: `rows 1×256, 2 vectors of 8, loads plain, stores plain`: what the kernel's text follows from, and nothing that differs between its launches, so that
// problems with the same kernels share their builds.
std::string print_kernel(const StreamPlan& plan);

// The same, and how it is launched: `…, dependent, grid 1024, shared 32`. What goldens compare.
std::string print(const StreamPlan& plan);

// `leader` is the stage whose directives shape the kernel. Throws ScheduleError: which directive or loop, what was asked, and what the skeleton, or a device of
// this capability, can do.
StreamPlan plan_stream(Computation computation, const StageLoops& leader, const Capability& capability);

}  // namespace kiln::generators::cuda
