// A schedule's words as a plan of the ring, or the requirement that one misses.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "dsl/error.h"
#include "dsl/float8_pattern.h"
#include "generators/cuda/plan/loop_spread.h"
#include "generators/cuda/plan/ring_matrices.h"
#include "generators/cuda/plan/ring_plan.h"

namespace kiln::generators::cuda {
namespace {

bool is_short_float(DType type) { return type.is_float() && type.bits == 16; }

// Rounded to E4M3 last.
bool is_e4m3(const Value& value) {
  if (value.kind == Value::Kind::dot) return false;
  const auto match = match_encode_float8(*value.expression);
  return match && match->format.name == kE4M3FN.name;
}

// A box of a tensor copy has at most so many rows (cuTensorMapEncodeTiled), and a wgmma so many columns.
constexpr std::int64_t kMostTile = 256;

class Reader {
 public:
  Reader(Computation computation, const StageLoops& leader, std::vector<const StageLoops*> sums) : leader_(leader), sums_(std::move(sums)) { plan_.computation = std::move(computation); }

  RingPlan read() {
    require_words();
    read_roles();
    read_tile();
    read_steps();
    read_sides();
    require_steps();
    read_output();
    read_launch();
    require_tile();
    require_lines();
    require_parts();
    return std::move(plan_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { throw ScheduleError(fmt::format("{}: {}", leader_.name, why)); }

  const Computation& computation() const { return plan_.computation; }
  const KernelShape& kernel() const { return leader_.kernel; }
  const StageLoops& sum() const { return *sums_.front(); }  // where there are several they are scheduled alike

  void require_words() const {
    const KernelShape& said = kernel();
    if (said.rows_per_block > 0 || said.dot_columns > 0 || said.strip_lanes > 0 || said.vector > 0 || said.accesses > 0 || said.cluster > 0 || !said.fixed.empty() || !said.loads.empty())
      refuse(fmt::format("rows, dots, strips, vector, accesses, cluster, fix and cache have no place beside a tensorized sum; {} is one", sum().name));
    for (const StageLoops* one : sums_)
      if (one->tensor.step.empty() || one->tensor.stages == 0)
        refuse(fmt::format("a ring needs the sum tensorized and what it reads staged: write {}.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 4).tensorize(ki, wgmma)", one->name));
    if (said.consumers == 0) refuse(fmt::format("who copies and who multiplies is not said: write {}.warps(1, 2, cooperative)", leader_.name));
    if (computation().axes.size() != 2) refuse(fmt::format("the tensor cores multiply matrices, and this has {} dimensions", computation().axes.size()));
  }

  void read_roles() {
    plan_.consumers = static_cast<int>(kernel().consumers);
    plan_.is_pingpong = kernel().is_pingpong;
    plan_.is_swapped = kernel().swaps_operands;
    plan_.store_buffers = static_cast<int>(kernel().store_buffers > 0 ? kernel().store_buffers : 2);
    plan_.blocks_per_sm = static_cast<int>(kernel().blocks_per_sm);
    if (plan_.blocks_per_sm > 1 && plan_.consumers > 1)
      refuse(fmt::format("{} blocks of {} threads on an SM leave consumers too few registers; several blocks have one consumer each", plan_.blocks_per_sm, plan_.threads()));
  }

  // ---- the tile: the inner parts of both loops, whose outer parts are blocks
  void read_tile() {
    const std::vector<LoopDigit> digits = spread_of(leader_);
    std::array<std::int64_t, 2> tile{};
    std::size_t blocks = 0;
    for (const LoopDigit& digit : digits) {
      const bool is_own = digit.of.size() == 1 && digit.of[0] < 2;
      if (is_own && digit.kind == LoopKind::serial && digit.stride == 1) {
        tile[static_cast<std::size_t>(digit.of[0])] = digit.count.value_or(0);
      } else if (is_own && digit.kind == LoopKind::gpu_block) {
        first_block_ = blocks == 0 ? digit.of[0] : first_block_;
        ++blocks;
      } else {
        blocks = 3;
      }
    }
    if (digits.size() != 4 || blocks != 2 || tile[0] == 0 || tile[1] == 0) {
      const auto &n = computation().axes[0].loop, &m = computation().axes[1].loop;
      refuse(fmt::format("its loops make no tiles of a product: write {0}.tile({1}, {2}, {1}o, {2}o, {1}i, {2}i, 128, 128, GuardWithIf).gpu_blocks({1}o, {2}o)", leader_.name, n, m));
    }
    plan_.p.tile = static_cast<int>(tile[plan_.is_swapped ? 0 : 1]);
    plan_.q.tile = static_cast<int>(tile[plan_.is_swapped ? 1 : 0]);
    if (std::max(tile[0], tile[1]) > kMostTile) refuse(fmt::format("a tile of {}×{}; {} a side are the most that one copy and one wgmma take", tile[1], tile[0], kMostTile));
  }

  // ---- a step: the inner part of the terms
  void read_steps() {
    for (const StageLoops* one : sums_) {
      const int depth = plan_.depth, stages = plan_.stages;
      read_steps_of(*one);
      if (one != sums_.front() && (plan_.depth != depth || plan_.stages != stages))
        refuse(fmt::format("{} and {} share a ring: their terms are split by one factor and staged as often, found {} in {} stages and {} in {}", sum().name, one->name, depth, stages,
                           plan_.depth, plan_.stages));
    }
  }

  void read_steps_of(const StageLoops& sum) {
    const Definition& update = *sum.find(0, "");
    const TensorShape& tensor = sum.tensor;
    const std::string& terms = sum.facts->stage->updates.front().reduction.front().name;
    const std::string form = fmt::format("write {0}.update(0).split({1}, {1}o, {1}i, 64).stage_in({1}o, shared, 4).tensorize({1}i, wgmma)", sum.name, terms);
    const Definition& pure = sum.definitions.front();
    const bool is_marked = std::any_of(update.order.begin(), update.order.end(), [&](int id) { return update.loop(id).kind != LoopKind::serial; });
    if (!pure.rewrites.empty() || update.rewrites.size() != 1 || is_marked) refuse(fmt::format("of {}'s loops the terms are split once and nothing else is said: {}", sum.name, form));
    const LoopRewrite& split = update.rewrites.front();
    const std::string &inner = update.loop(split.inner).name, &outer = update.loop(split.outer).name;
    if (split.kind != LoopRewrite::Kind::split || tensor.step != inner || tensor.staged_at != outer)
      refuse(fmt::format("the tensor cores take the inner part of the terms and stages lie at the outer one, '{}' and '{}': {}", inner, outer, form));
    if (!tensor.split_loop.empty() && tensor.split_loop != outer) refuse(fmt::format("split_reduction({}, …): blocks share the outer part of the terms, '{}'", tensor.split_loop, outer));
    plan_.depth = static_cast<int>(split.factor);
    plan_.stages = static_cast<int>(tensor.stages);
    plan_.parts = static_cast<int>(std::max<std::int64_t>(plan_.parts, tensor.parts));
    plan_.keeps_sums = plan_.keeps_sums || tensor.keeps_sums;
  }

  // Whole lines of 128 bytes are copied, and a box of them has 256 at most.
  void require_steps() const {
    const int line = plan_.line();
    if (plan_.depth % line != 0 || plan_.depth > 256)
      refuse(fmt::format("a step of {} terms; whole lines of 128 bytes are copied, {}", plan_.depth, line == 64 ? "64 terms or 128, 192, 256" : "128 terms or 256"));
  }

  // ---- the operands
  void read_sides() {
    const RingMatrices matrices = ring_matrices(computation(), leader_.name);
    RingSide &rows = plan_.is_swapped ? plan_.q : plan_.p, &columns = plan_.is_swapped ? plan_.p : plan_.q;
    rows.operands = {matrices.rows};
    columns.operands = matrices.columns;
    columns.has_terms_inside = matrices.columns_have_terms_inside;
    if (plan_.keeps_sums && !plan_.is_of_codes())
      refuse(fmt::format("tensorize(…, plain) is of sums of 8-bit floats, and {} is of {}: sums of all others stay in the tensor cores as it is", plan_.operand(rows).name, print(plan_.element())));
    if (plan_.is_of_codes() && !columns.has_terms_inside)
      refuse(fmt::format("the columns of a term of {} are neighbours; of 8-bit floats the tensor cores take terms that are", plan_.operand(columns).name));
    if (plan_.is_promoted() && plan_.is_pingpong)
      refuse("sums of 8-bit floats are added up outside the tensor cores every 128 terms: consumers that share a tile fill each other's waits, pingpong leaves them");
    require_said_of_operands();
    for (RingSide* side : {&rows, &columns}) read_words_of(*side);
  }

  std::vector<std::string> buffers_of(const RingSide& side) const {
    std::vector<std::string> buffers;
    for (std::size_t product = 0; product < side.operands.size(); ++product) buffers.push_back(plan_.operand(side, product).buffer);
    return buffers;
  }

  void require_said_of_operands() const {
    std::vector<std::string> all = buffers_of(plan_.is_swapped ? plan_.q : plan_.p);
    for (const std::string& buffer : buffers_of(plan_.is_swapped ? plan_.p : plan_.q)) all.push_back(buffer);
    const auto require = [&](const std::string& argument, const char* word) {
      if (std::find(all.begin(), all.end(), argument) == all.end()) refuse(fmt::format("{}({}, …): only {} are copied in tiles", word, argument, listed(all)));
    };
    for (const auto& [argument, bytes] : kernel().l2_promotions) require(argument, "l2_promotion");
    for (const auto& [argument, eviction] : kernel().evictions) require(argument, "evict");
  }

  // "a and b", "a, b and c".
  static std::string listed(const std::vector<std::string>& names) {
    std::string text = names.front();
    for (std::size_t i = 1; i < names.size(); ++i) text += (i + 1 == names.size() ? " and " : ", ") + names[i];
    return text;
  }

  // Operands of one side come as one: what is said of them is the same.
  void read_words_of(RingSide& side) const {
    const std::vector<std::string> buffers = buffers_of(side);
    const auto said = [&](const auto& words, auto otherwise) {
      const auto of = [&](const std::string& buffer) { return words.contains(buffer) ? words.at(buffer) : otherwise; };
      for (const std::string& buffer : buffers)
        if (of(buffer) != of(buffers.front()))
          refuse(fmt::format("{} come through the ring as one operand: say the same l2_promotion and evict of each", listed(buffers)));
      return of(buffers.front());
    };
    side.l2_promotion_bytes = static_cast<int>(said(kernel().l2_promotions, std::int64_t{256}));
    side.is_evicted_first = said(kernel().evictions, std::string("normal")) == "first";
  }

  // ---- the output: point by point from the sum
  void read_output() const {
    if (computation().outputs.size() != 1) refuse(fmt::format("{} outputs share the kernel; a product has one", computation().outputs.size()));
    const Value& stored = computation().values[static_cast<std::size_t>(computation().outputs.front().value)];
    for (const Value& value : computation().values)
      if (value.kind != Value::Kind::dot && &value != &stored) refuse(fmt::format("{} is computed beside {}; beside a tensorized sum values are inlined", value.name, sum().name));
    for (const Value* dot : plan_.dots())
      if (dot->initial->op != Op::constant) refuse(fmt::format("{} starts from {}, and sums start from constants", dot->name, print(*dot->initial)));
    if (!is_short_float(plan_.output().type) && plan_.output().type != kFloat32 && !is_e4m3(stored))
      refuse(fmt::format("{} is of {}; the ring stores bf16, f16, f32 and codes of E4M3", plan_.output().name, print(plan_.output().type)));
    for (const Operand& one : computation().operands)
      if (one.reach == Reach::turned) refuse(fmt::format("{} is read by columns, which has no place beside a sum for each element", one.name));
  }

  void read_launch() {
    plan_.is_persistent = kernel().is_persistent;
    plan_.is_dependent = kernel().is_dependent;
    // Without a word the inner block loop goes fastest: groups as long as there are tiles along it are that order.
    const int axis_of_p = plan_.is_swapped ? 0 : 1;
    int along = first_block_;
    plan_.raster_group = 1 << 20;
    if (kernel().raster_group > 0) {
      plan_.raster_group = static_cast<int>(kernel().raster_group);
      for (const LoopDigit& digit : spread_of(leader_))
        if (digit.name == kernel().raster_loop) along = digit.of[0];
    }
    plan_.raster_along_q = along != axis_of_p;
  }

  // ---- what the instruction and the copies demand
  void require_tile() const {
    const int rows = 64 * plan_.consumers_of_a_tile();
    const char* tall = plan_.is_swapped ? "columns" : "rows";
    const char* wide = plan_.is_swapped ? "rows" : "columns";
    if (plan_.p.tile % rows != 0)
      refuse(fmt::format("a tile of {} {}; {} consumer{} take 64 each at a time: a multiple of {}", plan_.p.tile, tall, plan_.consumers_of_a_tile(), plan_.consumers_of_a_tile() == 1 ? "" : "s", rows));
    if (!plan_.q.has_terms_inside && plan_.q.tile % 64 != 0)
      refuse(fmt::format("a tile of {} columns; the columns of a term of {} are neighbours, and come 64 at a time", plan_.q.tile, plan_.operand(plan_.q).name));
    const int step = plan_.is_swapped ? 8 : 16;
    if (plan_.q.tile % step != 0) refuse(fmt::format("a tile of {} {}; they come {} at a time", plan_.q.tile, wide, step));
    if (plan_.q.rows() > kMostTile)
      refuse(fmt::format("a tile of {} columns of {} products; one wgmma takes {} of both together: {} each", plan_.q.tile, plan_.products(), kMostTile, kMostTile / plan_.products()));
    if (plan_.p.operands.size() > 1 && plan_.results_high() > 1 && plan_.consumers_of_a_tile() > 1)
      refuse(fmt::format("a tile of {} columns of {} products; consumers that share it take 64 each: {}", plan_.p.tile, plan_.products(), rows));
  }

  // Rows of tensor maps begin at multiples of 16 bytes.
  void require_lines() const {
    const auto require = [&](const KernelAxis& axis, const std::string& name, DType type) {
      const int multiple = 16 / type.bytes();
      if (axis.extent % multiple != 0) refuse(fmt::format("'{}' has {} elements, no multiple of {}: rows of {} would not start at 16 bytes", axis.loop, axis.extent, multiple, name));
    };
    for (const RingSide* side : {&plan_.p, &plan_.q})
      for (std::size_t product = 0; product < side->operands.size(); ++product)
        require(side->has_terms_inside ? *computation().terms : computation().axes[0], plan_.operand(*side, product).name, plan_.element());
    require(computation().axes[0], plan_.output().name, plan_.output().type);
  }

  void require_parts() const {
    if (plan_.parts == 1) return;
    if (plan_.products() > 1) refuse("split_reduction: the blocks of a cluster add up the sums of one product; this kernel has two");
    if (plan_.is_persistent) refuse("split_reduction: the blocks of a cluster share one tile and end; persistent() goes on to others");
    if (plan_.is_pingpong) refuse("split_reduction: the consumers of all blocks meet at one tile; pingpong gives each another");
    const std::int64_t sums = std::int64_t{4} * plan_.p.tile * plan_.q.tile, ring = plan_.bytes_in_flight_of_a_block();
    if (sums > ring)
      refuse(fmt::format("split_reduction: the sums of a tile take {} bytes and meet where the ring was, which has {}; {} stages would do", sums, ring,
                         (sums + ring / plan_.stages - 1) / (ring / plan_.stages)));
  }

  const StageLoops& leader_;
  const std::vector<const StageLoops*> sums_;
  int first_block_ = 0;  // the axis whose block loop is innermost
  RingPlan plan_;
};

}  // namespace

RingPlan plan_ring(Computation computation, const StageLoops& leader, const std::vector<const StageLoops*>& sums, const Capability& capability) {
  if (capability != kWgmma)
    throw ScheduleError(fmt::format("{}: tensorize(…, wgmma) is for devices of compute capability {}, and this one has {}", sums.front()->name, print(kWgmma), print(capability)));
  return Reader(std::move(computation), leader, sums).read();
}

void require_no_ring(const StageLoops& leader) {
  const KernelShape& said = leader.kernel;
  if (said.consumers == 0 && said.store_buffers == 0 && !said.swaps_operands && !said.is_persistent && said.raster_group == 0 && said.l2_promotions.empty() && said.evictions.empty()) return;
  throw ScheduleError(fmt::format("{}: warps, swap_operands, store_through, persistent, raster, l2_promotion and evict are of kernels that tensorize a sum, and this one does not", leader.name));
}

}  // namespace kiln::generators::cuda
