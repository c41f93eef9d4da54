// One call of a host build: Halide's buffers over plain memory, and the bounds query that says what memory a call needs.
#pragma once

#include <HalideRuntime.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/problem.h"

namespace kiln::generators::host {

class Loaded;

halide_type_t halide_type(DType type);

// `value` rounded to `type`, written to eight bytes at `to`: a scalar argument's memory.
void store_scalar(DType type, double value, void* to);

// The extents of every argument under a problem, in the order of algorithm.arguments; empty for a scalar.
std::vector<std::vector<std::int64_t>> extents_of(const Algorithm& algorithm, const Problem& problem);

// The argv of one call. Buffers are dense (dimension 0 innermost, min 0) unless changed through buffer(). Not copyable: argv points inside.
class Call {
 public:
  // `pointers`: one an argument, a buffer's first element or a scalar's address; they must outlive the call. Null buffers make the call a bounds
  // query. `element_types` replaces the type of an argument when the build widened it (outputs of a reference are f64); empty: as declared.
  Call(const Algorithm& algorithm, const std::vector<std::vector<std::int64_t>>& extents, const std::vector<void*>& pointers,
       const std::vector<DType>& element_types = {});
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void** argv() { return argv_.data(); }
  halide_buffer_t& buffer(std::size_t argument);  // of a buffer argument

 private:
  std::vector<halide_buffer_t> buffers_;
  std::vector<std::vector<halide_dimension_t>> dimensions_;
  std::vector<void*> argv_;
};

// The argument types of build_reference: float outputs are f64, the rest as declared.
std::vector<DType> reference_types(const Algorithm& algorithm);

// What a build needs of every argument for outputs of these extents: min and extent a dimension, by Halide's own bounds query. Outputs are asked
// too: ShiftInwards by 64 on an extent of 40 answers min -24. Throws Error with Halide's code when the query itself fails.
std::vector<std::vector<Interval>> required_regions(const Loaded& build, const Algorithm& algorithm, const std::vector<std::vector<std::int64_t>>& extents,
                                                    const std::vector<DType>& element_types = {});

// The first argument whose region does not lie inside [0, extent): "input A needs extent 130 in dimension 0, has 128". Nothing: all do.
std::optional<std::string> find_shortfall(const std::vector<std::vector<Interval>>& required, const Algorithm& algorithm,
                                          const std::vector<std::vector<std::int64_t>>& extents);

}  // namespace kiln::generators::host
