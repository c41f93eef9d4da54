#include "schedules/kernel_chain.h"

#include <algorithm>

#include "schedules/structure.h"

namespace kiln::schedules {
namespace {

bool is_short_float(DType type) { return type.is_float() && type.bits == 16; }

RingShape shape_of(const SumOfProducts& product, std::int64_t products, std::int64_t output_bytes, const Gpu& gpu) {
  return {.rows = product.rows, .columns = product.columns, .terms = product.terms, .terms_are_neighbours = product.terms_are_neighbours, .products = products, .output_bytes = output_bytes, .gpu = gpu};
}

}  // namespace

bool are_for_tensor_cores(const DualProduct& dual, const Algorithm& algorithm, const std::string& stored) {
  const SumOfProducts& product = dual.products[0];
  const DType type = algorithm.stage(stored).types[0];
  return product.type_of_columns == product.type_of_rows && is_short_float(product.type_of_rows) && (is_short_float(type) || type == kFloat32);
}

RingShape ring_shape(const SumOfProducts& product, const Algorithm& algorithm, const std::string& stored, const Gpu& gpu) {
  return shape_of(product, 1, algorithm.stage(stored).types[0].bytes(), gpu);
}

RingShape ring_shape(const DualProduct& dual, const Algorithm& algorithm, const std::string& stored, const Gpu& gpu) {
  return shape_of(dual.products[0], 2, algorithm.stage(stored).types[0].bytes(), gpu);
}

RingShape shape_apart(const DualProduct& dual, const Algorithm& algorithm, const Gpu& gpu) {
  return shape_of(dual.products[0], 1, dual.can_be_apart() ? algorithm.stage(dual.stored[0]).types[0].bytes() : 0, gpu);
}

void add_kernels_apart(Schedule& schedule, const Algorithm& algorithm, const DualProduct& dual, const RingKnobs& knobs, const Point& point, bool is_dependent) {
  for (std::size_t i = 0; i < dual.products.size(); ++i)
    add_ring_kernel(schedule, {.stored = algorithm.stage(dual.stored[i]), .products = {dual.products[i]}, .is_root = true, .is_dependent = is_dependent && i > 0}, knobs, point);
}

void add_line_kernel(Schedule& schedule, const Algorithm& algorithm, const Stage& stored, const DualProduct& dual, bool is_dependent, bool is_root) {
  constexpr std::int64_t kThreads = 256;
  const std::int64_t vector = 16 / std::max({stored.types[0].bytes(), algorithm.stage(dual.stored[0]).types[0].bytes(), algorithm.stage(dual.stored[1]).types[0].bytes()});
  const std::string line = new_loop(stored, "i"), block = new_loop(stored, "b"), thread = new_loop(stored, "t"), lane = new_loop(stored, "v");
  Chain chain(schedule, stored.name);
  if (is_root) chain.add("compute_root");
  chain.add("fuse", stored.loops[0], stored.loops[1], line).add("split", line, block, line, vector * kThreads, "GuardWithIf").add("split", line, thread, lane, vector);
  chain.add("gpu_blocks", block).add("gpu_threads", thread).add("vectorize", lane);
  if (is_dependent) chain.add("dependent_launch");
}

}  // namespace kiln::schedules
