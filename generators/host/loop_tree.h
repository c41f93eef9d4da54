// A lowered program as loops, allocations and memory accesses in plain numbers: what Halide's statement means for one problem.
// generators/host/lowered_loops fills it, generators/host/predict reads it; neither Halide nor LLVM is needed to look at one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kiln::generators::host {

// One dimension of an access: `count` positions, `step` elements apart. `loop` says which loop walks it (LoopTree ids, outermost first);
// kLane: the lanes of a vector, walked by every execution.
struct Span {
  static constexpr int kLane = -1;
  int loop = kLane;
  std::int64_t step = 0, count = 1;
  bool operator==(const Span&) const = default;
};

// Where an access goes, as base + spans, at the middle iteration of every loop. That iteration stands for all: prologues and ragged ends differ.
struct Place {
  std::int64_t base = 0;
  std::vector<Span> spans{};
  bool operator==(const Place&) const = default;
};

struct Access {
  int buffer = 0;                // index into LoopTree::buffers
  std::optional<Place> place{};  // absent: the index depends on values (a histogram, a table)
  std::vector<Span> walks{};     // then: how often it happens, one span a loop around it and the lanes; steps are 0
};

struct Buffer {
  std::string name{};
  int element_bytes = 1;
  std::optional<std::int64_t> bytes{};  // absent: the size depends on what is not known before the call
  bool is_argument = false;
};

struct LoopNode {
  enum class Kind { loop, parallel_loop, allocation };
  Kind kind = Kind::loop;
  int id = 0;                          // of a loop
  std::string name{};                    // of a loop: "c.update(0).ko"
  std::optional<std::int64_t> trips{};   // of a loop
  int buffer = 0;                      // of an allocation
  bool on_heap = false;                // of an allocation
  double flops = 0;                    // outside inner loops, one iteration
  std::vector<Access> accesses{};        // outside inner loops
  std::vector<LoopNode> children{};
};

struct LoopTree {
  LoopNode root{.trips = 1};           // a loop of one iteration around the whole call
  std::vector<Buffer> buffers;
  bool flops_known = true;             // false when a condition on values decides what is computed
  int host_alignment_bytes = 0;        // the strictest alignment that the author set on an argument beyond its element size
};

}  // namespace kiln::generators::host
