#include "schedules/placement.h"

#include <algorithm>

#include "schedules/stage_graph.h"
#include "schedules/structure.h"

namespace kiln::schedules {
namespace {

bool contains(const std::vector<std::string>& words, const std::string& word) { return std::count(words.begin(), words.end(), word) > 0; }

void schedule_pure(Schedule& schedule, const Stage& stage, const LoopStyle& style, bool in_parallel) {
  if (stage.loops.empty()) return;
  Chain chain(schedule, stage.name);
  const std::string& along = stage.loops[style.vector];
  if (style.lanes > 1 && style.vector > 0) {
    std::vector<std::string> order = stage.loops;
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(style.vector), order.begin() + static_cast<std::ptrdiff_t>(style.vector) + 1);
    chain.add("reorder", order);
  }
  if (style.lanes > 1) {
    if (contains(style.unrolled, along)) {
      chain.add("vectorize", along, style.lanes);
    } else {
      chain.add("vectorize", along, style.lanes, style.tail);
    }
  }
  for (const std::string& loop : style.unrolled) chain.add("unroll", loop);
  if (in_parallel && stage.loops.size() >= 2) chain.add("parallel", stage.loops.back() == along && style.vector > 0 ? stage.loops[style.vector - 1] : stage.loops.back());
}

// One update at work.
class UpdateScheduler {
 public:
  UpdateScheduler(Schedule& schedule, const Stage& stage, int number, const LoopStyle& style)
      : stage_(stage), update_(stage.updates[static_cast<std::size_t>(number)]), style_(style), chain_(schedule, stage.name, number),
        pure_(update_loops(stage, update_)) {
    for (const ReductionVariable& variable : update_.reduction) reduction_.push_back(variable.name);
    along_ = stage.loops.empty() ? "" : stage.loops[style.vector];
    if (style.any_loop && style.loop_inside && !pure_.empty() && !contains(pure_, along_)) along_ = pure_[0];
  }

  void run(bool in_parallel) {
    spare_ = pure_;
    const bool runs_along = contains(pure_, along_);
    if (style_.reduce_vectors > 0 && style_.lanes > 1 && !reduction_.empty() && is_associative(stage_, update_)) {
      run_along_reduction();
    } else if (runs_along && style_.loop_inside && style_.tile && !reduction_.empty()) {
      run_in_tiles();
    } else if (runs_along) {
      run_along_loop();
    }
    if (in_parallel && !spare_.empty()) chain_.add("parallel", spare_.back());
  }

 private:
  std::string named(const std::string& base) const { return new_loop(stage_, base); }

  // In partial sums: the steps of the innermost reduction loop are the lanes.
  void run_along_reduction() {
    chain_.add("split", reduction_[0], named("ro"), named("ri"), style_.lanes * style_.reduce_vectors, "GuardWithIf").add("atomic").add("vectorize", named("ri"));
  }

  // Cuts the innermost reduction loop into steps that are unrolled; its parts stand where it stood.
  void cut_steps() {
    if (style_.steps <= 1 || reduction_.empty()) return;
    steps_ = named("ri");
    chain_.add("split", reduction_[0], named("ro"), steps_, style_.steps, "GuardWithIf");
    reduction_[0] = named("ro");
    reduction_.insert(reduction_.begin(), steps_);
  }

  void unroll_reduction() {
    if (!steps_.empty()) chain_.add("unroll", steps_);
    if (!style_.unrolls_taps) return;
    for (const ReductionVariable& variable : update_.reduction) {
      if (taps_of(variable) && contains(reduction_, variable.name)) chain_.add("unroll", variable.name);
    }
  }

  void run_along_loop() {
    if (style_.loop_inside) {
      cut_steps();
      std::vector<std::string> order = {along_};
      for (const std::string& loop : style_.unrolled) {
        if (loop != along_ && contains(pure_, loop)) order.push_back(loop);
      }
      const std::vector<std::string> inside = order;
      order.insert(order.end(), reduction_.begin(), reduction_.end());
      for (const std::string& loop : pure_) {
        if (!contains(inside, loop)) order.push_back(loop);
      }
      if (order.size() > 1) chain_.add("reorder", order);
    }
    const bool fixed = contains(style_.unrolled, along_);
    if (style_.lanes > 1 && fixed) chain_.add("vectorize", along_, style_.lanes);
    if (style_.lanes > 1 && !fixed) chain_.add("vectorize", along_, style_.lanes, "GuardWithIf");
    if (style_.loop_inside) {
      for (const std::string& loop : style_.unrolled) {
        if (contains(pure_, loop)) chain_.add("unroll", loop);
      }
      unroll_reduction();
    }
    std::erase(spare_, along_);
  }

  // Vectors and rows of a tile inside the reduction, the tiles outside it.
  void run_in_tiles() {
    const UpdateTile& tile = *style_.tile;
    const std::string tail = tile.is_exact ? "RoundUp" : "GuardWithIf";
    const std::string x_out = named(along_ + "o"), x_in = named(along_ + "i");
    chain_.add("split", along_, x_out, x_in, style_.lanes * tile.vectors, tail);
    std::vector<std::string> inside = {x_in}, outside = {x_out};
    for (const std::string& loop : pure_) {
      if (loop == along_) continue;
      if (inside.size() == 1 && tile.rows > 1) {
        inside.push_back(named(loop + "i"));
        outside.push_back(named(loop + "o"));
        chain_.add("split", loop, outside.back(), inside.back(), tile.rows, tail);
      } else {
        outside.push_back(loop);
      }
    }
    cut_steps();
    std::vector<std::string> order = inside;
    order.insert(order.end(), reduction_.begin(), reduction_.end());
    order.insert(order.end(), outside.begin(), outside.end());
    chain_.add("reorder", order);
    if (style_.lanes > 1) chain_.add("vectorize", x_in, style_.lanes);
    if (tile.vectors > 1 || style_.lanes == 1) chain_.add("unroll", x_in);
    if (inside.size() > 1) chain_.add("unroll", inside[1]);
    unroll_reduction();
    spare_ = outside;
  }

  const Stage& stage_;
  const Update& update_;
  const LoopStyle& style_;
  Chain chain_;
  std::vector<std::string> pure_, reduction_;  // innermost first
  std::string along_;                          // the loop of the vectors
  std::string steps_;
  std::vector<std::string> spare_;             // loops left for threads, innermost first
};

}  // namespace

std::optional<std::int64_t> taps_of(const ReductionVariable& variable) {
  const auto* steps = variable.extent->op == Op::constant ? std::get_if<std::int64_t>(&variable.extent->value) : nullptr;
  return steps && *steps > 1 && *steps <= kMostTaps ? std::optional(*steps) : std::nullopt;
}

void schedule_definitions(Schedule& schedule, const Stage& stage, const LoopStyle& style, bool in_parallel) {
  schedule_pure(schedule, stage, style, in_parallel);
  for (int u = 0; u < static_cast<int>(stage.updates.size()); ++u) UpdateScheduler(schedule, stage, u, style).run(in_parallel);
}

}  // namespace kiln::schedules
