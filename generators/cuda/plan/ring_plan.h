// How a kernel of the ring skeleton runs: products of matrices by tensor cores, plain numbers read from a schedule and checked against what the skeleton
// can do. One warpgroup copies tiles of both operands into a ring of stages in shared memory, the others multiply them and store.
//
// wgmma multiplies 64 rows of one operand, P, by 8 to 256 rows of the other, Q. Unswapped, P are the product's rows and Q its columns; swapped the reverse.
//
// Two products of the same rows are one operand of twice as many columns: those of a tile of the one matrix, then those of the other. A thread then has both
// sums of an element, and makes one result of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsl/capability.h"
#include "dsl/loop_nest.h"
#include "generators/cuda/program/computation.h"
#include "generators/cuda/resources/registers.h"
#include "generators/cuda/resources/ring.h"

namespace kiln::generators::cuda {

// A side of the product in shared memory: what is copied for it at each step.
struct RingSide {
  std::vector<int> operands;    // places in the computation's operands: one, or that of each product
  int tile = 0;                 // rows of P, or of Q, in a tile of results: so many are copied of each operand
  bool has_terms_inside = true; // terms are neighbours in memory (K-major); else rows are
  int l2_promotion_bytes = 256;
  bool is_evicted_first = false;
  int rows() const { return tile * static_cast<int>(operands.size()); }
  bool operator==(const RingSide&) const = default;
};

// What a tensor copy is told of an argument, but for its address: a parameter of the kernel.
struct TensorMapPlan {
  int operand = 0;
  std::vector<KernelAxis> extents;     // innermost first
  std::vector<int> box;                // elements of one copy
  int swizzle_bytes = 128;
  int l2_promotion_bytes = 0;
};

// Where a tile's bytes lie in shared memory.
struct RingMap {
  std::int64_t p_bytes = 0, q_bytes = 0;   // of a stage
  std::int64_t buffer_bytes = 0;           // of one store buffer
  std::int64_t at_q = 0, at_store = 0, at_full = 0, at_empty = 0;
};

struct RingPlan {
  Computation computation;
  RingSide p, q;
  int depth = 64;                // terms of a step
  int stages = 2;
  int consumers = 1;             // warpgroups that multiply
  bool is_pingpong = false;      // they take tiles in turn; else each has a part of a tile's rows of P
  bool is_swapped = false;
  bool keeps_sums = false;       // of 8-bit floats: all terms are added up in the tensor cores
  int parts = 1;                 // blocks of a cluster that share the terms of a tile
  int store_buffers = 2;         // of each consumer
  int blocks_per_sm = 0;         // asked of the compiler; 0: nothing is asked
  bool raster_along_q = false;   // which way groups of tiles lie

  // Of the launch.
  int raster_group = 1;
  bool is_persistent = false;
  bool is_dependent = false;

  std::vector<const Value*> dots() const { return computation.dots(); }  // as the operands of the side that has several
  int products() const { return static_cast<int>(std::max(p.operands.size(), q.operands.size())); }
  bool reads_beside_products() const;  // what is stored of a sum reads other arguments too
  const Operand& output() const { return computation.operands[static_cast<std::size_t>(computation.outputs.front().operand)]; }
  const Operand& operand(const RingSide& side, std::size_t product = 0) const { return computation.operands[static_cast<std::size_t>(side.operands[product])]; }
  const KernelAxis& axis_of_p() const { return computation.axes[is_swapped ? 0 : 1]; }
  const KernelAxis& axis_of_q() const { return computation.axes[is_swapped ? 1 : 0]; }

  // What follows.
  DType element() const { return operand(p).type; }                   // of all operands
  int element_bytes() const { return element().bytes(); }             // 2, or 1 for codes of E4M3
  bool is_of_codes() const { return element_bytes() == 1; }
  bool is_promoted() const { return is_of_codes() && !keeps_sums; }   // sums of 128 terms are added up outside the tensor cores, which truncate
  int line() const { return 128 / element_bytes(); }                  // elements of a line of shared memory, which the swizzle spans
  int groups() const { return depth / line() * instructions_high(); }  // of 128 terms that a consumer adds up in a step, if they are promoted
  int groups_under_way() const;                                         // of those, at once: 2 where there are so many and registers allow
  int temporaries() const { return is_promoted() ? groups_under_way() * q.rows() / 2 : 0; }  // registers of a thread beside its sums
  int threads() const { return 128 * (1 + consumers); }
  int consumers_of_a_tile() const { return is_pingpong ? 1 : consumers; }
  int results_high() const { return p.tile / consumers_of_a_tile() / 64; }         // times 64 rows of P that a consumer stores
  int instructions_high() const { return p.rows() / consumers_of_a_tile() / 64; }  // wgmmas of a consumer below each other
  int chunk() const;                  // rows of Q that are stored at once, beside 64 of P
  int chunks() const { return q.tile / chunk(); }
  bool stores_codes() const { return output().type.bytes() == 1; }  // of E4M3
  int store_row_bytes() const;        // of a row of a store buffer, along the output's columns
  int store_swizzle_bytes() const;    // 0: rows lie as they are
  resources::Tile tile() const { return {p.rows(), q.rows(), depth}; }
  resources::Roles roles() const;
  resources::Ring ring() const;
  RingMap map() const;
  std::int64_t shared_bytes() const { return resources::shared_bytes(ring()); }
  std::int64_t tiles() const;         // under the problem
  std::int64_t blocks(int sms) const; // of the grid: a persistent kernel has as many as run at once
  std::int64_t bytes_in_flight_of_a_block() const;
  std::vector<TensorMapPlan> maps() const;  // P's operands, Q's, the output
};

// One line: `ring 128×192×64, 4 stages, 2 consumers in turn, …`: what the kernel's text follows from, and nothing that differs between its launches.
std::string print_kernel(const RingPlan& plan);

// The same, and how it is launched.
std::string print(const RingPlan& plan);

// `leader` is the stage whose directives shape the kernel, `sums` those of the computation's dots, in their order. Throws ScheduleError: which directive or
// loop, what was asked, and what the skeleton can do.
RingPlan plan_ring(Computation computation, const StageLoops& leader, const std::vector<const StageLoops*>& sums, const Capability& capability);

// Throws ScheduleError where directives of the ring are said of a kernel that tensorizes nothing.
void require_no_ring(const StageLoops& leader);

}  // namespace kiln::generators::cuda
