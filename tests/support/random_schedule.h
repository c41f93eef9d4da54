// Random legal schedules of an algorithm for a problem: what the property tests of the language and the back end feed on.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "dsl/algorithm.h"
#include "dsl/problem.h"
#include "dsl/schedule.h"

namespace kiln::tests {

// The seed of a property test: KILN_TEST_SEED if set, else `standard`. Printed, so that a failure can be run again.
std::uint64_t test_seed(std::uint64_t standard);

// Proposes directives one after the other (places, splits, tiles, fusions, orders, vectors, copies, threads, storage, wrappers, all tails, partial
// sums, shared loops, specializations, prefetches) and keeps those that leave the schedule legal. Equal generators give equal schedules.
Schedule random_legal_schedule(const Algorithm& algorithm, const Problem& problem, std::mt19937_64& random);

// A schedule that parses but need not be legal of anything: any directive with arguments of the right kinds, over made-up names.
Schedule random_text_schedule(std::mt19937_64& random);

}  // namespace kiln::tests
