// Kernels one after the other that make two products and what comes of them, in one or each in its own and a third that reads what they stored; and further ones.
#pragma once

#include <string>

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/schedule.h"
#include "schedules/dual_product.h"
#include "schedules/ring_knobs.h"

namespace kiln::schedules {

// Whether both products are of bf16 or f16, and what is stored of them too, or f32.
bool are_for_tensor_cores(const DualProduct& dual, const Algorithm& algorithm, const std::string& stored);

// Of the kernel of one product; of that which makes `stored` of both, and of each product's own.
RingShape ring_shape(const SumOfProducts& product, const Algorithm& algorithm, const std::string& stored, const Gpu& gpu);
RingShape ring_shape(const DualProduct& dual, const Algorithm& algorithm, const std::string& stored, const Gpu& gpu);
RingShape shape_apart(const DualProduct& dual, const Algorithm& algorithm, const Gpu& gpu);

// The kernels of both products, of one set of knobs; the first is launched plainly whatever is said: add_memory says why.
void add_kernels_apart(Schedule& schedule, const Algorithm& algorithm, const DualProduct& dual, const RingKnobs& knobs, const Point& point, bool is_dependent);

// The kernel of `stored`, which reads what those stored, a line of elements: one vector a thread. Its words begin a chain, which others may go on with when
// `is_root`.
void add_line_kernel(Schedule& schedule, const Algorithm& algorithm, const Stage& stored, const DualProduct& dual, bool is_dependent, bool is_root = false);

}  // namespace kiln::schedules
