#include "dsl/footprint_loops.h"

#include <algorithm>

namespace kiln {
namespace {

std::size_t index(int variable) { return static_cast<std::size_t>(variable); }

const LoopRewrite* fusion_of(const Definition& definition, int variable) {
  for (const LoopRewrite& rewrite : definition.rewrites)
    if (rewrite.kind == LoopRewrite::Kind::fuse && rewrite.old == variable) return &rewrite;
  return nullptr;
}

void mark_taken_apart(const Definition& definition, int variable, std::vector<bool>& out) {
  const LoopRewrite* fusion = fusion_of(definition, variable);
  if (fusion == nullptr) return;
  out[index(variable)] = true;
  mark_taken_apart(definition, fusion->outer, out);
  mark_taken_apart(definition, fusion->inner, out);
}

bool computes_no_more(Tail tail) {  // than the loop that was split
  return tail == Tail::guard_with_if || tail == Tail::predicate || tail == Tail::predicate_loads || tail == Tail::predicate_stores;
}

}  // namespace

std::vector<int> taken_apart(const Definition& definition, int variable) {
  const LoopRewrite* fusion = fusion_of(definition, variable);
  if (fusion == nullptr) return {variable};
  std::vector<int> loops = taken_apart(definition, fusion->outer);
  for (const int loop : taken_apart(definition, fusion->inner)) loops.push_back(loop);
  return loops;
}

LoopRanges::LoopRanges(const Definition& definition, std::vector<Range> own)
    : definition_(definition), own_(std::move(own)), extents_(definition.variables.size(), 1), is_taken_apart_(definition.variables.size(), false) {
  for (std::size_t i = 0; i < own_.size(); ++i) extents_[i] = own_[i].length();
  for (const LoopRewrite& rewrite : definition.rewrites) {
    if (rewrite.kind == LoopRewrite::Kind::fuse) {
      extents_[index(rewrite.old)] = extents_[index(rewrite.outer)] * extents_[index(rewrite.inner)];
    } else {
      extents_[index(rewrite.outer)] = (extents_[index(rewrite.old)] + rewrite.factor - 1) / rewrite.factor;
      extents_[index(rewrite.inner)] = rewrite.factor;
    }
  }
  for (const int variable : definition.order) mark_taken_apart(definition, variable, is_taken_apart_);
}

// Counted from the start of the loop that was split.
Range LoopRanges::joined(const LoopRewrite& split, const Range& outer, const Range& inner) const {
  const std::int64_t whole = extents_[index(split.old)];
  if (outer.is_empty() || inner.is_empty()) return {};
  std::int64_t first = outer.lo * split.factor, last = outer.hi * split.factor;
  if (shifts(split.tail)) {
    first = std::min(first, whole - split.factor);
    last = std::min(last, whole - split.factor);
  }
  const Range reach{first + inner.lo, last + inner.hi};
  return computes_no_more(split.tail) ? overlap(reach, {0, whole - 1}) : reach;
}

// The two loops of a fusion whose result was split: all of the inner one, unless the outer one stands.
void LoopRanges::part(const LoopRewrite& fusion, std::vector<Range>& ranges) const {
  const Range fused = ranges[index(fusion.old)];
  const std::int64_t inner = extents_[index(fusion.inner)];
  if (fused.is_empty() || inner == 0) {
    ranges[index(fusion.outer)] = ranges[index(fusion.inner)] = {};
    return;
  }
  const Range outer{fused.lo / inner, fused.hi / inner};
  ranges[index(fusion.outer)] = outer;
  ranges[index(fusion.inner)] = outer.lo == outer.hi ? Range{fused.lo % inner, fused.hi % inner} : Range{0, inner - 1};
}

std::vector<Range> LoopRanges::at(const std::map<int, std::int64_t>& standing) const {
  std::vector<Range> ranges(definition_.variables.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const auto stands = standing.find(static_cast<int>(i));
    ranges[i] = stands == standing.end() ? Range{0, extents_[i] - 1} : Range{stands->second, stands->second};
  }
  for (auto rewrite = definition_.rewrites.rbegin(); rewrite != definition_.rewrites.rend(); ++rewrite) {
    if (rewrite->kind == LoopRewrite::Kind::split)
      ranges[index(rewrite->old)] = joined(*rewrite, ranges[index(rewrite->outer)], ranges[index(rewrite->inner)]);
    else if (!is_taken_apart_[index(rewrite->old)])
      part(*rewrite, ranges);
  }
  ranges.resize(own_.size());
  for (std::size_t i = 0; i < ranges.size(); ++i)
    if (!ranges[i].is_empty()) ranges[i] = {ranges[i].lo + own_[i].lo, ranges[i].hi + own_[i].lo};
  return ranges;
}

}  // namespace kiln
