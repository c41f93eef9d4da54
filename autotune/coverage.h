// What serves the extents that nobody tuned: generic builds for this CPU and for x86-64-v2, and buckets around winners.
#pragma once

#include <string>
#include <vector>

#include "autotune/tuning.h"
#include "generators/cuda/launch_record.h"

namespace kiln::autotune {

class CompilePool;

// Builds and checks the generic variants of each algorithm of the run, where an earlier run has not. Every package needs them, so this comes before
// the search. `pool` is of the run's device. One that cannot be made is a note.
void cover_every_extent(Run& run, CompilePool& pool, const std::vector<Tuning>& tunings);

// After the choices: gives every winner an interval of one symbol, checked at both ends: of the only one in which the problems of its algorithm differ, else of
// its output's outermost dimension. Ends at the budget; what is not covered then is covered by the next run.
void cover_intervals(Run& run, const std::vector<Tuning>& tunings);
// What that will take, about: a problem is prepared at both ends of its interval.
double coverage_need_s(const Run& run, const std::vector<Tuning>& tunings);

// Pure: the problems of one algorithm that intervals of `symbol` part among them, by its extent: they differ in nothing else.
struct ServedGroup {
  std::string symbol;
  std::vector<const WorkItem*> items;
};
// With a generic variant for the rest, a problem alone needs no interval.
std::vector<ServedGroup> served_groups(const std::vector<const WorkItem*>& items, bool has_generic);

// Pure: the interval of `symbol` that each of the sorted, distinct `extents` serves: up to the geometric mean with its neighbours, down to 1 at the
// lower end and up to twice the last at the upper.
struct ServedInterval {
  std::int64_t least = 0, most = 0;
};
std::vector<ServedInterval> bucket_intervals(const std::vector<std::int64_t>& extents);

// Pure: the part of an interval whose ends a launch guard takes; nothing when there is none.
std::optional<ServedInterval> within(const ServedInterval& interval, const generators::cuda::LaunchGuard& guard);

// The problems a generic build is checked on: extents 1, a prime, and one below and above a tile, the offsets between arguments of one dimension kept
// where the algorithm has them (an input two larger than its output stays two larger), and what the author requires of an extent too.
std::vector<Problem> generic_cases(const Problem& problem, const Algorithm& algorithm);

}  // namespace kiln::autotune
