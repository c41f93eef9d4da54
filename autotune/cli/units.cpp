#include "autotune/cli/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kiln::autotune::cli {
namespace {

// Three significant digits, without an exponent: 1.23, 45.6, 812. Decides after rounding, so that 9.996 is 10.0.
std::string three_digits(double value) {
  if (std::abs(value) < 9.995) return fmt::format("{:.2f}", value);
  if (std::abs(value) < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

}  // namespace

std::string print_ns(double ns) {
  if (ns < 999.5) return fmt::format("{:.0f} ns", ns);
  if (ns < 999.5e3) return three_digits(ns / 1e3) + " µs";
  if (ns < 999.5e6) return three_digits(ns / 1e6) + " ms";
  if (ns < 120e9) return three_digits(ns / 1e9) + " s";
  if (ns < 7200e9) return fmt::format("{:.1f} min", ns / 60e9);
  return fmt::format("{:.1f} h", ns / 3600e9);
}

std::string print_bytes(double bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  const bool is_whole = bytes == std::floor(bytes) || bytes >= 100;
  return fmt::format("{:.{}f} {}", bytes, is_whole ? 0 : 1, kUnits[unit]);
}

std::string print_count(std::int64_t count) {
  std::string digits = std::to_string(count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string print_percent(double fraction) {
  const double percent = 100 * fraction;
  return fmt::format("{:.{}f} %", percent, std::abs(percent) < 9.95 ? 1 : 0);
}

std::string print_speedup(double value, double low, double high) { return fmt::format("{:.2f}x ({:.2f}–{:.2f})", value, low, high); }

std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string print_time(const std::string& stored) {
  if (stored.size() < 20 || stored[10] != 'T') return stored;
  return stored.substr(0, 10) + " " + stored.substr(11, 8);
}

}  // namespace kiln::autotune::cli
