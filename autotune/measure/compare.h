// One output against the reference, element by element: the rule of correctness as a pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsl/dtype.h"
#include "dsl/tolerance.h"

namespace kiln::autotune {

// A dense output, dimension 0 innermost.
struct OutputView {
  const std::byte* bytes = nullptr;
  DType type;
  std::vector<std::int64_t> extents;
};

// The element that is furthest beyond its bound (or nearest to it when all pass).
struct Worst {
  std::vector<std::int64_t> index;  // dimension 0 first
  double got = 0, expected = 0;
  double allowed = 0;               // the bound on |got - expected|
  double severity = 0;              // above 1 fails: |got - expected| / allowed, for integers |got - expected| + 1; infinite where only one is NaN
  bool operator==(const Worst&) const = default;
};

struct Comparison {
  bool passes = true;
  std::int64_t elements = 0;
  std::int64_t outliers = 0;          // beyond their bound
  std::int64_t allowed_outliers = 0;
  std::optional<Worst> worst;         // nothing for an empty output
  bool operator==(const Comparison&) const = default;
};

// `reference` has the type of the output, or f64 for float outputs; same extents. NaN must stand where the reference has NaN and nowhere else: no
// outlier fraction covers that. An infinite reference, or one beyond the output type's largest number, asks for the infinity of its sign.
Comparison compare(const OutputView& candidate, const OutputView& reference, const Tolerance& tolerance);

// "output c, element (n=3, m=17): got 1.5, expected 1.25 ± 1.2e-06". `loops` name the dimensions; may be shorter than the index, then d0, d1…
std::string describe(const Worst& worst, const std::string& output, const std::vector<std::string>& loops);

// Element i of a dense array as a double; exact but for 64-bit integers beyond 2^53.
double element(const std::byte* bytes, DType type, std::int64_t i);

}  // namespace kiln::autotune
