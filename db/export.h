// Results for other tools, as text.
#pragma once

#include <optional>
#include <string>

#include "db/store.h"

namespace kiln::db {

enum class ExportFormat { csv, t4, google_benchmark, chrome_trace };

// csv: one row a measurement or rejection, RFC 4180. t4: the results file of the auto-tuning community's schema 1.0.0. google_benchmark: what
// its compare.py reads. chrome_trace: builds and trials on the time line. All runs, or one.
std::string export_results(Store& store, ExportFormat format, std::optional<RunId> run = std::nullopt);

}  // namespace kiln::db
