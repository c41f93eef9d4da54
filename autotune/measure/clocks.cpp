#include "autotune/measure/clocks.h"

#include "autotune/measure/statistics.h"

namespace kiln::autotune {

Spread spread(std::span<const double> ns) { return {median(ns), quantile(ns, 1 - kLowerQuartile) - quantile(ns, kLowerQuartile)}; }

}  // namespace kiln::autotune
