// The loops of one definition after its splits and fusions, in numbers: how often each runs, and where the definition's own loops are meanwhile.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "dsl/footprint_interval.h"
#include "dsl/loop_nest.h"

namespace kiln {

class LoopRanges {
 public:
  // `own`: where each of definition.facts->loops runs in all.
  LoopRanges(const Definition& definition, std::vector<Range> own);

  std::int64_t trips(int variable) const { return extents_[static_cast<std::size_t>(variable)]; }

  // Where the own loops run while some variables stand at an iteration and the others run through theirs. Empty where a tail asks for nothing.
  std::vector<Range> at(const std::map<int, std::int64_t>& standing) const;

 private:
  Range joined(const LoopRewrite& split, const Range& outer, const Range& inner) const;
  void part(const LoopRewrite& fusion, std::vector<Range>& ranges) const;

  const Definition& definition_;
  std::vector<Range> own_;
  std::vector<std::int64_t> extents_;  // by variable
  std::vector<bool> is_taken_apart_;   // by variable: fused loops that are given as the two they were
};

// A loop as it is given to LoopRanges::at: one that was fused, and not split after that, as the two it was made of, outermost first.
std::vector<int> taken_apart(const Definition& definition, int variable);

}  // namespace kiln
