#include "schedules/dual_products_cuda.h"

#include <algorithm>

#include "dsl/capability.h"
#include "schedules/dual_product.h"
#include "schedules/kernel_chain.h"
#include "schedules/ring_knobs.h"
#include "schedules/structure.h"

namespace kiln::schedules {
namespace {

struct Knobs {
  WordKnob kernels;    // "one"; "three": each product's, and one that reads what they stored
  RingKnobs together;  // of the one
  RingKnobs apart;     // of both products' own
  WordKnob launch;     // "dependent": while the kernel before still runs
};

Schedule schedule_of(const Algorithm& algorithm, const DualProduct& dual, const Knobs& k, const Point& p) {
  const Stage& output = algorithm.stage(algorithm.outputs[0]);
  const bool is_dependent = p[k.launch] == "dependent";
  Schedule schedule;
  if (p[k.kernels] == "one") {
    add_ring_kernel(schedule, {.stored = output, .products = {dual.products.begin(), dual.products.end()}, .is_dependent = is_dependent}, k.together, p);
    return schedule;
  }
  add_line_kernel(schedule, algorithm, output, dual, is_dependent);
  add_kernels_apart(schedule, algorithm, dual, k.apart, p, is_dependent);
  return schedule;
}

}  // namespace

bool is_dual_tensor_product(const Algorithm& algorithm, const Device& device) {
  if (!device.gpu || capability_of(*device.gpu) != kWgmma) return false;
  const auto dual = find_dual_product(algorithm);
  return dual && are_for_tensor_cores(*dual, algorithm, algorithm.outputs[0]);
}

Space dual_products_cuda(const Algorithm& algorithm, const Problem& problem, const Device& device) {
  const DualProduct dual = *find_dual_product(algorithm, problem);
  const RingShape together = ring_shape(dual, algorithm, algorithm.outputs[0], *device.gpu), apart = shape_apart(dual, algorithm, *device.gpu);
  Space space(kDualProducts);
  Knobs k;
  k.kernels = space.words("kernels", dual.can_be_apart() ? std::vector<std::string>{"one", "three"} : std::vector<std::string>{"one"});
  k.launch = space.words("launch", {"plain", "dependent"});
  space.only_when(k.kernels, {"one"}, [&] { k.together = declare_ring_knobs(space, ""); });
  if (dual.can_be_apart()) space.only_when(k.kernels, {"three"}, [&] { k.apart = declare_ring_knobs(space, "apart."); });
  require_ring(space, k.together, together);
  if (dual.can_be_apart()) require_ring(space, k.apart, apart);
  space.schedule_as([=](const Point& p) { return schedule_of(algorithm, dual, k, p); });
  for (const RingWish& wish : ring_wishes(k.together, together)) space.seed(wish, "both products in one kernel, as a trial by hand found fast");
  if (!dual.can_be_apart()) return space;
  for (RingWish wish : ring_wishes(k.apart, apart)) {
    wish.emplace("kernels", std::string("three"));
    space.seed(wish, "each product as it is fast alone");
  }
  return space;
}

}  // namespace kiln::schedules
