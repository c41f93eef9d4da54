// What a scheduled algorithm asks of memory, as values: a tree of loops with the bytes that each touches, and the formulas over it. A back end
// may read such a tree from its lowered program; dsl/footprint_read makes one without any compiler. Both are judged by the same formulas.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dsl/device.h"

namespace kiln {

// Bytes by buffer, its place in FootprintTree::buffers. A buffer that is not there is not touched.
using BufferBytes = std::map<int, std::int64_t>;

struct FootprintBuffer {
  std::string name;
  std::optional<std::int64_t> bytes;  // absent: depends on what is not known before the call
  bool is_argument = false;
  bool is_output = false;
};

struct FootprintNode;

// One body of a loop, run `trips` times. A loop whose last iteration is smaller has two.
struct FootprintPart {
  std::optional<std::int64_t> trips;
  double flops = 0;                     // of one iteration, outside inner loops
  BufferBytes touched;                  // by one iteration, with everything inside it
  BufferBytes direct;                   // by one iteration, outside inner loops
  std::vector<FootprintNode> children;  // in the order of execution
};

struct FootprintNode {
  enum class Kind { loop, parallel_loop, allocation };
  Kind kind = Kind::loop;
  std::string name;                  // of a loop: "c.no", "c.update(0).ko"; empty when no schedule can name it
  int buffer = 0;                    // of an allocation, which is alive around its only part
  BufferBytes whole;                 // of a loop: touched by all its iterations
  BufferBytes swept;                 // of a loop: what enters when the bytes of each iteration are kept for the next one
  std::vector<FootprintPart> parts;
};

struct FootprintTree {
  FootprintPart root{.trips = 1, .touched = {}, .direct = {}, .children = {}};  // the whole call
  std::vector<FootprintBuffer> buffers;
  std::vector<std::string> kernels;  // stages at root, in order: what is between two of them goes through memory. Empty: not known
};

// The sum over loops of trips × operations; nothing when a trip count is not known.
std::optional<double> flops(const FootprintTree& tree);

// How often the body of a named loop runs in all; nothing when a trip count is not known, 0 when there is no such loop.
std::optional<std::int64_t> iterations(const FootprintTree& tree, const std::string& loop);

// Every argument once.
std::int64_t compulsory_bytes(const FootprintTree& tree);

// Of the largest outermost parallel loop: its trips times those of parallel loops directly inside it.
std::optional<std::int64_t> parallel_tasks(const FootprintTree& tree);

// Scratch alive at once. An allocation is alive around its children; siblings do not overlap; inside a parallel loop there are as many copies
// as min(cores, trips).
std::optional<std::int64_t> peak_intermediate_bytes(const FootprintTree& tree, int cores);

// Arguments and what passes between kernels, alive at once: an input until its last kernel, an output from its first on, in one kernel all that
// it reads and writes. What a kernel allocates for itself is not counted.
std::int64_t peak_live_bytes(const FootprintTree& tree);

struct WorkingSet {
  std::string loop;
  std::int64_t touched = 0;  // by one iteration: distinct bytes
  std::int64_t held = 0;     // the most of them needed at one moment: what only one step of the iteration uses makes room for the next step's
  bool operator==(const WorkingSet&) const = default;
};

// Each named loop once, with its largest part, in text order.
std::vector<WorkingSet> working_sets(const FootprintTree& tree);

// A memory between the arithmetic and what is larger and further away.
struct Memory {
  enum class Owner {
    task,  // the iteration of a parallel loop starts with an empty one: shared memory of a GPU's block
    core,  // iterations of a parallel loop that run one after the other find what the last one left: a core's cache
    chip,  // shared by min(cores, trips) iterations at once
  };
  std::int64_t bytes = 0;
  Owner owner = Owner::core;
  int cores = 1;
};

// Bytes that cross into (and, written, out of) an ideally managed memory, by buffer; nothing when a trip count that matters is not known.
//
//   A loop whose iteration's `held` fits keeps all of it from one iteration to the next: `swept` crosses.
//   Where it does not fit, each inner loop is judged for itself, and then buffers are kept through the iteration, and to the next one, as long
//   as there is room beside the most that any inner loop needs; the one that saves the most a byte first. What is not kept crosses each time.
//   What is allocated inside an iteration and kept never crosses; a byte that is written crosses once.
//   Nothing is kept across a parallel loop except in a memory of the whole chip.
std::optional<BufferBytes> traffic(const FootprintTree& tree, const Memory& memory);

std::int64_t total(const BufferBytes& bytes);

// The caches of a CPU that are known, by name ("l1", "l2", "l3"), nearest first: l1 and l2 belong to a core, l3 to the chip. Throws UsageError for a GPU.
std::vector<std::pair<std::string, Memory>> caches_of(const Device& device);

}  // namespace kiln
