// Integer expressions of a lowered statement as base + spans: what an index is at the middle iteration and how each loop moves it.
#pragma once

#include <Halide.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "generators/host/loop_tree.h"

namespace kiln::generators::host {

// What is known before the statement is read. Names are Halide's: "A.extent.0" is asked through _halide_buffer_get_extent(A.buffer, 0).
struct BufferFacts {
  std::vector<std::int64_t> extents, strides;  // mins are 0
};

class IndexReader {
 public:
  IndexReader(std::map<std::string, BufferFacts> buffers, std::map<std::string, std::int64_t> scalars);

  // A name bound by a let or a loop. Halide nests equal names rarely but may: unbind gives the outer meaning back.
  void bind(const std::string& name, std::optional<Place> meaning);
  void unbind(const std::string& name);

  // Affine in the loops, or affine around the middle iteration: min, max, select and clamp take the side that holds there; a product of two that
  // vary becomes its tangent; x / c of a span that c does not divide becomes a shorter span, x % c a span of at most c. Nothing for what depends on values in memory.
  std::optional<Place> read(const Halide::Expr& expression);

  // The value at the middle iteration (of the first lane).
  std::optional<std::int64_t> value(const Halide::Expr& expression);

 private:
  std::optional<Place> read_call(const Halide::Internal::Call& call);
  std::optional<Place> read_ramp(const Halide::Internal::Ramp& ramp);
  std::optional<Place> choose(const Halide::Expr& condition, const Halide::Expr& if_true, const Halide::Expr& if_false);

  std::map<std::string, BufferFacts> buffers_;
  std::unordered_map<std::string, std::vector<std::optional<Place>>> bound_;
};

}  // namespace kiln::generators::host
