#include "autotune/measure/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "autotune/measure/in_parallel.h"
#include "dsl/error.h"

namespace kiln::autotune {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

double integer_element(const std::byte* at, DType type) {
  const bool is_signed = type.kind == TypeClass::signed_int;
  switch (type.bits) {
    case 1: return load<std::uint8_t>(at) != 0 ? 1 : 0;
    case 8: return is_signed ? load<std::int8_t>(at) : load<std::uint8_t>(at);
    case 16: return is_signed ? load<std::int16_t>(at) : load<std::uint16_t>(at);
    case 32: return is_signed ? load<std::int32_t>(at) : load<std::uint32_t>(at);
    default: return is_signed ? static_cast<double>(load<std::int64_t>(at)) : static_cast<double>(load<std::uint64_t>(at));
  }
}

// What a float type can hold: the largest finite number and the exponent of the smallest normal one.
struct FloatRange {
  double largest;
  int least_exponent;
};

FloatRange range_of(DType type) {
  if (type.kind == TypeClass::brain_float) return {0x1.fep127, -126};
  if (type.bits == 16) return {65504, -14};
  if (type.bits == 32) return {static_cast<double>(std::numeric_limits<float>::max()), -126};
  return {std::numeric_limits<double>::max(), -1022};
}

double ulp_of(double value, DType type, const FloatRange& range) {
  const int exponent = value == 0 ? range.least_exponent : std::max(std::ilogb(value), range.least_exponent);
  return std::ldexp(type.epsilon(), exponent);
}

double bfloat_element(const std::byte* at) { return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(load<std::uint16_t>(at)) << 16)); }

// Calls `use` with a function from a position to a float output's element, its type known while compiling: every element of every candidate is read.
template <typename Use>
auto with_floats(const OutputView& output, const Use& use) {
  const std::byte* bytes = output.bytes;
  if (output.type.bits == 64) return use([=](std::int64_t i) { return load<double>(bytes + 8 * i); });
  if (output.type.bits == 32) return use([=](std::int64_t i) { return static_cast<double>(load<float>(bytes + 4 * i)); });
  if (output.type.kind == TypeClass::brain_float) return use([=](std::int64_t i) { return bfloat_element(bytes + 2 * i); });
  return use([=](std::int64_t i) { return static_cast<double>(load<_Float16>(bytes + 2 * i)); });
}

// Summed by chunks, which do not depend on the number of threads: the same on every machine.
double rms_of(const OutputView& reference, std::int64_t elements) {
  struct Part {
    double sum = 0;
    std::int64_t finite = 0;
  };
  std::vector<Part> parts(static_cast<std::size_t>(chunks_of(elements)));
  with_floats(reference, [&](const auto& value_at) {
    in_chunks(elements, [&](std::int64_t chunk, std::int64_t first, std::int64_t last) {
      Part part;
      for (std::int64_t i = first; i < last; ++i) {
        const double value = value_at(i);
        if (!std::isfinite(value)) continue;
        part.sum += value * value;
        ++part.finite;
      }
      parts[static_cast<std::size_t>(chunk)] = part;
    });
  });
  Part all;
  for (const Part& part : parts) all = {all.sum + part.sum, all.finite + part.finite};
  return all.finite > 0 ? std::sqrt(all.sum / static_cast<double>(all.finite)) : 0.0;
}

std::vector<std::int64_t> index_of(std::int64_t position, const std::vector<std::int64_t>& extents) {
  std::vector<std::int64_t> index;
  for (const std::int64_t extent : extents) {
    index.push_back(position % extent);
    position /= extent;
  }
  return index;
}

// What one element of a float output may be.
struct FloatRule {
  DType type;
  Tolerance tolerance;
  double rms;
  FloatRange range = range_of(type);

  double allowed(double expected) const {
    const double magnitude = std::abs(expected);
    return tolerance.relative * std::max(magnitude, rms) + ulp_of(magnitude, type, range) / 2;
  }

  double severity(double got, double expected) const {
    if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got) ? 0 : kInfinity;
    if (got == expected) return 0;
    if (std::isinf(got) || std::isinf(expected)) {
      // The output type cannot hold the value: the infinity of its sign is the right answer, and so is what rounds to it.
      const bool overflows = std::abs(expected) + allowed(std::isinf(expected) ? range.largest : expected) > range.largest;
      const bool same_sign = std::signbit(got) == std::signbit(expected);
      return std::isinf(got) && overflows && same_sign ? 0 : kInfinity;
    }
    return std::abs(got - expected) / allowed(expected);
  }
};

bool equal_integers(const OutputView& a, const OutputView& b, std::int64_t i) {
  const auto size = static_cast<std::size_t>(a.type.bytes());
  const auto at = static_cast<std::size_t>(i) * size;
  if (a.type.bits == 1) return element(a.bytes, a.type, i) == element(b.bytes, b.type, i);
  return std::memcmp(a.bytes + at, b.bytes + at, size) == 0;
}

// What a pass over the elements finds.
struct Findings {
  std::int64_t outliers = 0, worst_at = -1;
  double worst = -1;
  bool hopeless = false;  // a NaN or an infinity out of place: no fraction covers it

  void add(std::int64_t at, double severity) {
    if (severity > 1) ++outliers;
    hopeless = hopeless || std::isinf(severity);
    if (severity <= worst) return;
    worst = severity;
    worst_at = at;
  }

  // Those of elements that come later.
  void add(const Findings& later) {
    outliers += later.outliers;
    hopeless = hopeless || later.hopeless;
    if (later.worst <= worst) return;
    worst = later.worst;
    worst_at = later.worst_at;
  }
};

// `find` gives the findings of a range of elements.
template <typename Find>
Findings find_in_chunks(std::int64_t elements, const Find& find) {
  std::vector<Findings> parts(static_cast<std::size_t>(chunks_of(elements)));
  in_chunks(elements, [&](std::int64_t chunk, std::int64_t first, std::int64_t last) { parts[static_cast<std::size_t>(chunk)] = find(first, last); });
  Findings all;
  for (const Findings& part : parts) all.add(part);
  return all;
}

// An error within the relative part of its budget by the worst factor so far is neither an outlier nor the worst: most elements need no more than that.
Findings compare_floats(const OutputView& candidate, const OutputView& reference, const FloatRule& rule, std::int64_t elements) {
  return with_floats(candidate, [&](const auto& got_at) {
    return with_floats(reference, [&](const auto& expected_at) {
      return find_in_chunks(elements, [&](std::int64_t first, std::int64_t last) {
        Findings findings;
        for (std::int64_t i = first; i < last; ++i) {
          const double got = got_at(i), expected = expected_at(i);
          const double budget = rule.tolerance.relative * std::max(std::abs(expected), rule.rms);
          if (std::abs(got - expected) <= std::min(findings.worst, 1.0) * budget) continue;  // never of a NaN
          findings.add(i, rule.severity(got, expected));
        }
        return findings;
      });
    });
  });
}

Findings compare_integers(const OutputView& candidate, const OutputView& reference, std::int64_t elements) {
  return find_in_chunks(elements, [&](std::int64_t first, std::int64_t last) {
    Findings findings;
    for (std::int64_t i = first; i < last; ++i) {
      double severity = 0;
      if (!equal_integers(candidate, reference, i))
        severity = std::max(1.0, std::abs(element(candidate.bytes, candidate.type, i) - element(reference.bytes, reference.type, i))) + 1;
      findings.add(i, severity);
    }
    return findings;
  });
}

}  // namespace

double element(const std::byte* bytes, DType type, std::int64_t i) {
  const std::byte* at = bytes + static_cast<std::size_t>(i) * static_cast<std::size_t>(type.bytes());
  if (!type.is_float()) return integer_element(at, type);
  return with_floats(OutputView{at, type, {}}, [](const auto& value_at) { return value_at(0); });
}

Comparison compare(const OutputView& candidate, const OutputView& reference, const Tolerance& tolerance) {
  const bool is_float = candidate.type.is_float();
  KILN_CHECK(candidate.extents == reference.extents, "a comparison of outputs of different extents");
  KILN_CHECK(is_float ? reference.type.is_float() : reference.type == candidate.type, "a reference of another type than the output");
  Comparison comparison;
  comparison.elements = 1;
  for (const std::int64_t extent : candidate.extents) comparison.elements *= extent;
  comparison.allowed_outliers = static_cast<std::int64_t>(tolerance.outlier_fraction * static_cast<double>(comparison.elements));
  const FloatRule rule{candidate.type, tolerance, is_float ? rms_of(reference, comparison.elements) : 0};

  const Findings findings = is_float ? compare_floats(candidate, reference, rule, comparison.elements) : compare_integers(candidate, reference, comparison.elements);
  comparison.outliers = findings.outliers;
  comparison.passes = !findings.hopeless && comparison.outliers <= comparison.allowed_outliers;
  if (findings.worst_at < 0) return comparison;
  const double expected = element(reference.bytes, reference.type, findings.worst_at);
  comparison.worst = Worst{index_of(findings.worst_at, candidate.extents), element(candidate.bytes, candidate.type, findings.worst_at), expected,
                           is_float ? rule.allowed(expected) : 0, findings.worst};
  return comparison;
}

std::string describe(const Worst& worst, const std::string& output, const std::vector<std::string>& loops) {
  std::string place;
  for (std::size_t d = 0; d < worst.index.size(); ++d)
    place += fmt::format("{}{}={}", d > 0 ? ", " : "", d < loops.size() ? loops[d] : fmt::format("d{}", d), worst.index[d]);
  const std::string bound = worst.allowed > 0 ? fmt::format(" ± {:.3g}", worst.allowed) : "";
  return fmt::format("output {}, element ({}): got {}, expected {}{}", output, place, worst.got, worst.expected, bound);
}

}  // namespace kiln::autotune
