// The schedule of the reference: nothing that could be wrong, fast enough to wait for.

#include <algorithm>

#include "dsl/rebuild.h"

namespace kiln {
namespace {

constexpr int kTileRows = 8;    // enough work for a task, few enough rows that small problems still use every core
constexpr int kVectorDoubles = 4;

// Rows in parallel; columns vectorised, which changes no result: each element is its own computation.
void schedule_output(Halide::Func& output) {
  const std::vector<Halide::Var> loops = output.args();
  if (loops.empty()) return;
  Halide::Var outer("kiln_outer"), inner("kiln_inner");
  if (loops.size() == 1) {
    output.split(loops[0], outer, inner, kTileRows * kVectorDoubles, Halide::TailStrategy::GuardWithIf).parallel(outer);
    return;
  }
  output.split(loops.back(), outer, inner, kTileRows, Halide::TailStrategy::GuardWithIf).parallel(outer);
}

// A pure loop of an update writes elements that no other iteration of it touches, so rows may run in parallel and the contiguous loop may go
// inside the reduction: every element still adds its terms in the order of the reduction.
void schedule_update(Halide::Func& stage, int index) {
  Halide::Stage update = stage.update(index);
  const std::vector<Halide::Var> loops = stage.args();
  const std::vector<Halide::Expr> indices = stage.update_args(index);
  std::vector<Halide::Var> pure;
  for (std::size_t d = 0; d < loops.size(); ++d)
    if (const auto* v = indices[d].as<Halide::Internal::Variable>(); v != nullptr && v->name == loops[d].name()) pure.push_back(loops[d]);
  const bool contiguous = !pure.empty() && pure.front().same_as(loops.front());
  if (pure.empty() || (contiguous && pure.size() == 1)) {
    update.unscheduled();  // Halide warns otherwise
    return;
  }
  if (contiguous) {
    std::vector<Halide::VarOrRVar> order{pure.front()};
    for (const Halide::RVar& r : stage.rvars(index)) order.emplace_back(r);
    for (std::size_t i = 1; i < pure.size(); ++i) order.emplace_back(pure[i]);
    // A name of ours: Halide's own would be `v0`, which an unnamed loop of the algorithm may have.
    const Halide::Var lanes(pure.front().name() + "$lanes");
    update.reorder(order).split(pure.front(), pure.front(), lanes, kVectorDoubles, Halide::TailStrategy::GuardWithIf).vectorize(lanes);
  }
  update.parallel(pure.back());
}

}  // namespace

void apply_trusted_schedule(Pipeline& pipeline) {
  for (auto& [name, stage] : pipeline.stages) {
    if (name.ends_with(".in")) continue;  // inlined: a copy of an input adds nothing but a conversion to f64
    stage.compute_root();
    if (std::ranges::find(pipeline.output_stages, name) != pipeline.output_stages.end()) schedule_output(stage);
    for (int i = 0; i < stage.num_update_definitions(); ++i) schedule_update(stage, i);
  }
}

}  // namespace kiln
