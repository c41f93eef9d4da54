#include "schedules/ffn_cuda.h"

#include <algorithm>

#include "dsl/capability.h"
#include "schedules/dual_product.h"
#include "schedules/kernel_chain.h"
#include "schedules/ring_knobs.h"

namespace kiln::schedules {
namespace {

struct Knobs {
  WordKnob kernels;  // "two": one makes both products and what comes of them; "four": each product has its own, and a third reads what they stored
  WordKnob launch;   // "dependent": each but the first while the one before still runs
  RingKnobs hidden;  // of the one
  RingKnobs apart;   // of both products' own
  RingKnobs down;    // of the last
};

Schedule schedule_of(const Algorithm& algorithm, const FeedForward& layer, const Knobs& k, const Point& p) {
  const bool is_dependent = p[k.launch] == "dependent";
  const Stage& hidden = algorithm.stage(layer.hidden);
  Schedule schedule;
  add_ring_kernel(schedule, {.stored = algorithm.stage(algorithm.outputs[0]), .products = {layer.down}, .is_dependent = is_dependent}, k.down, p);
  if (p[k.kernels] == "two") {
    add_ring_kernel(schedule, {.stored = hidden, .products = {layer.dual.products.begin(), layer.dual.products.end()}, .is_root = true}, k.hidden, p);
    return schedule;
  }
  add_line_kernel(schedule, algorithm, hidden, layer.dual, is_dependent, true);
  add_kernels_apart(schedule, algorithm, layer.dual, k.apart, p, is_dependent);
  return schedule;
}

// Each wish for the first kernels with one for the last.
void seed(Space& space, const std::string& kernels, const std::vector<RingWish>& firsts, const std::vector<RingWish>& lasts) {
  for (std::size_t i = 0; i < std::max(firsts.size(), lasts.size()); ++i) {
    RingWish wish = firsts[std::min(i, firsts.size() - 1)];
    const RingWish& last = lasts[std::min(i, lasts.size() - 1)];
    wish.insert(last.begin(), last.end());
    wish.emplace("kernels", kernels);
    space.seed(wish, "each kernel as it is fast alone");
  }
}

}  // namespace

bool is_feed_forward(const Algorithm& algorithm, const Device& device) {
  if (!device.gpu || capability_of(*device.gpu) != kWgmma) return false;
  const auto layer = find_feed_forward(algorithm);
  if (!layer || !are_for_tensor_cores(layer->dual, algorithm, layer->hidden)) return false;
  const DType type = algorithm.stage(layer->hidden).types[0], stored = algorithm.stage(algorithm.outputs[0]).types[0];
  const bool is_short = type.is_float() && type.bits == 16;
  return is_short && layer->down.type_of_columns == type && stored.is_float() && stored.bits <= 32;
}

Space ffn_cuda(const Algorithm& algorithm, const Problem& problem, const Device& device) {
  const FeedForward layer = *find_feed_forward(algorithm, problem);
  const bool can_be_apart = layer.dual.can_be_apart();
  const RingShape hidden = ring_shape(layer.dual, algorithm, layer.hidden, *device.gpu), apart = shape_apart(layer.dual, algorithm, *device.gpu),
                  down = ring_shape(layer.down, algorithm, algorithm.outputs[0], *device.gpu);
  Space space(kFeedForward);
  Knobs k;
  k.kernels = space.words("kernels", can_be_apart ? std::vector<std::string>{"two", "four"} : std::vector<std::string>{"two"});
  k.launch = space.words("launch", {"plain", "dependent"});
  k.down = declare_ring_knobs(space, "down.");
  space.only_when(k.kernels, {"two"}, [&] { k.hidden = declare_ring_knobs(space, "hidden."); });
  if (can_be_apart) space.only_when(k.kernels, {"four"}, [&] { k.apart = declare_ring_knobs(space, "apart."); });
  require_ring(space, k.down, down);
  require_ring(space, k.hidden, hidden);
  if (can_be_apart) require_ring(space, k.apart, apart);
  space.schedule_as([=](const Point& p) { return schedule_of(algorithm, layer, k, p); });
  seed(space, "two", ring_wishes(k.hidden, hidden), ring_wishes(k.down, down));
  if (can_be_apart) seed(space, "four", ring_wishes(k.apart, apart), ring_wishes(k.down, down));
  return space;
}

}  // namespace kiln::schedules
