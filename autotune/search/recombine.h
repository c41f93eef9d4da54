// Points made of parts of others: what one stage does is replaced whole, by what it does in another good point or in a draw. Stages are largely independent of
// each other, and of one stage several knobs have to change at once before anything is gained.
#pragma once

#include <optional>

#include "autotune/search/ledger.h"

namespace kiln::autotune {

enum class Source : std::uint8_t { good_point, draw };

// A new valid point: one of the best with the knobs of one stage, now and then of two, taken from another. Knobs belong to a stage by what follows the first
// dot of their names; those without belong together. Nothing when none was found in a bounded number of tries, or nothing good is known yet.
std::optional<schedules::Point> recombined(Ledger& ledger, Source source);

}  // namespace kiln::autotune
