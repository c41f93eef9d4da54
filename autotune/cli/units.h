// Numbers as people read them: times, bytes, counts, speedups.
#pragma once

#include <cstdint>
#include <string>

namespace kiln::autotune::cli {

std::string print_ns(double ns);                // three digits with a unit: "812 ns", "1.23 µs", "45.6 ms", "2.31 s", "3.5 min", "2.1 h"
std::string print_bytes(double bytes);          // "640 B", "24 KiB", "1.5 MiB"
std::string print_count(std::int64_t count);    // "28,001"
std::string print_percent(double fraction);     // "0.8 %", "12 %"

// A speedup with its 95 % interval: "1.43x (1.41–1.45)".
std::string print_speedup(double value, double low, double high);

// Columns a text takes on a terminal: code points, since everything printed here is one column wide.
std::size_t columns_of(const std::string& text);

// "2026-01-31T05:06:07.089Z" as "2026-01-31 05:06:07"; what is no such time comes back as it is.
std::string print_time(const std::string& stored);

}  // namespace kiln::autotune::cli
