// What legality asks of an algorithm's expressions, worked out once: who loads whom and at which indices, which loops may run in any order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/problem.h"

namespace kiln {

// An index as a sum over loops: coefficient × loop + [low, high], give or take `slack` for divisions that round. Several indices of one
// producer's dimension that differ by a constant are one form with low < high.
struct IndexForm {
  std::vector<std::pair<int, double>> terms;  // loop (its place in DefinitionFacts::loops), coefficient; sorted by loop
  double low = 0, high = 0;
  int slack = 0;
  std::string symbols;   // what is added and constant during a call, as text: forms differ by a number only when this is equal
  bool is_known = true;  // false: data-dependent, clamped, or not a sum
};

// All loads of one producer by one definition.
struct Use {
  int producer = 0;                              // place in AlgorithmFacts::stages
  std::vector<std::vector<IndexForm>> dimensions;  // by the producer's dimension: the distinct forms
  bool before_loops = false;                     // a reduction's bounds load it, so it must exist before the loops start
};

struct LoopFacts {
  std::string name;
  bool is_reduction = false;
  bool is_ordered = false;                 // a reduction loop whose iterations depend on each other
  std::optional<std::int64_t> constant;    // iterations, when the algorithm fixes them
};

struct DefinitionFacts {
  std::vector<LoopFacts> loops;  // innermost first, as Halide makes them: an update's reduction variables come before its pure loops
  std::vector<int> pure_loop;    // stage dimension -> place in loops; -1 when an update does not run over it
  std::vector<Use> uses;         // each producer once; the stage itself is not among them
  bool is_associative = false;   // every value is `self op terms` with an op that may be regrouped, and reordered
  bool is_constant = false;      // an update that stores the same whatever its order is
};

struct StageFacts {
  const Stage* stage = nullptr;
  bool is_output = false;
  bool is_float = false;
  std::vector<DefinitionFacts> definitions;             // 0 is the pure one
  std::vector<std::optional<std::int64_t>> extents;     // of an output's dimensions under the problem
};

struct AlgorithmFacts {
  const Algorithm* algorithm = nullptr;
  std::optional<Problem> problem;
  std::vector<StageFacts> stages;  // in the algorithm's order
  int find(std::string_view name) const;  // -1 when there is none
};

// `problem` may be null. The result points into `algorithm`.
AlgorithmFacts facts_of(const Algorithm& algorithm, const Problem* problem);

}  // namespace kiln
