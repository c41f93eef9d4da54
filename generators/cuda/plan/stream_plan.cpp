#include "generators/cuda/plan/stream_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "dsl/error.h"
#include "generators/cuda/plan/loop_spread.h"

namespace kiln::generators::cuda {
namespace {

constexpr std::int64_t kMostThreads = 1024;   // of a block: every GPU's limit since compute capability 2.0
// Vectors of a row that a thread keeps: 16 of them spilled or took all registers on an H200.
constexpr std::int64_t kMostAccesses = 16;
constexpr std::int64_t kMostAccessBytes = 32;  // two instructions of 16
constexpr std::int64_t kMostRowsAtOnce = 8;    // above, tensor cores are faster than sums in registers from the fourth row on

std::int64_t rounded_up_quotient(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// The widest element that is accessed by vectors.
int widest_bytes(const Computation& computation) {
  int widest = 1;
  for (const Operand& operand : computation.operands)
    if (operand.reach != Reach::row) widest = std::max(widest, operand.type.bytes());
  return widest;
}

class Planner {
 public:
  Planner(Computation computation, const StageLoops& leader, const Capability& capability) : leader_(leader) {
    plan_.computation = std::move(computation);
    plan_.capability = capability;
  }

  StreamPlan plan() {
    require_one_sum();
    if (leader_.kernel.dot_columns > 0 || leader_.kernel.strip_lanes > 0) {
      plan_sums();
    } else if (computation().terms) {
      refuse(fmt::format("{} sums up terms for each element: write {}.dots(2, 8, 1) where the terms are neighbours in memory, {}.strips(8, 32) where the columns are",
                         computation().dots().front()->name, leader_.name, leader_.name));
    } else if (leader_.kernel.rows_per_block > 0) {
      plan_rows();
    } else if (const Operand* turned = find_turned()) {
      plan_turned(*turned);
    } else {
      plan_flat();
    }
    read_shape();
    return std::move(plan_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { throw ScheduleError(fmt::format("{}: {}", leader_.name, why)); }

  const Computation& computation() const { return plan_.computation; }

  void require_one_sum() const {
    const std::vector<const Value*> dots = computation().dots();
    if (dots.size() > 1)
      refuse(fmt::format("{} and {} are both summed for each element, which only tensor cores do in one kernel; without tensorize, compute_root() what is made of one of them",
                         dots[0]->name, dots[1]->name));
  }

  const Operand* find_turned() const {
    const auto found = std::find_if(computation().operands.begin(), computation().operands.end(), [](const Operand& o) { return o.reach == Reach::turned; });
    return found == computation().operands.end() ? nullptr : &*found;
  }

  void read_shape() {
    const KernelShape& kernel = leader_.kernel;
    plan_.blocks_per_sm = static_cast<int>(kernel.blocks_per_sm);
    if (kernel.loads == "no_l1") plan_.loads = LoadHint::no_l1;
    if (kernel.loads == "evict_first") plan_.loads = LoadHint::evict_first;
    if (kernel.stores == "streaming") plan_.stores = StoreHint::streaming;
    if (kernel.stores == "evict_first") plan_.stores = StoreHint::evict_first;
    plan_.is_dependent = kernel.is_dependent;
    if (plan_.is_dependent) require_capability(kGridDependencies, "dependent_launch()");
    if (plan_.cluster > 1) require_capability(kClusters, fmt::format("cluster({})", plan_.cluster));
    if (plan_.threads > kMostThreads) refuse(fmt::format("a block would have {} threads; it has {} at most", plan_.threads, kMostThreads));
    if (plan_.threads < 32 || plan_.threads % 32 != 0) refuse(fmt::format("a block would have {} threads; it has whole warps, multiples of 32", plan_.threads));
  }

  void require_capability(const Capability& least, const std::string& directive) const {
    if (plan_.capability < least)
      refuse(fmt::format("{} is for devices of compute capability {} and newer, and this one has {}: leave it out", directive, kiln::print(least), kiln::print(plan_.capability)));
  }

  // ---- rows
  void plan_rows() {
    const KernelShape& kernel = leader_.kernel;
    plan_.shape = StreamPlan::Shape::rows;
    if (const Operand* turned = find_turned())
      refuse(fmt::format("{} is read by columns, and rows(…) reads rows; tile both loops and spread them over blocks and threads", turned->name));
    require_own_loops();
    plan_.rows_per_block = static_cast<int>(kernel.rows_per_block);
    plan_.threads_per_row = static_cast<int>(kernel.threads_per_row);
    plan_.cluster = std::max(1, static_cast<int>(kernel.cluster));
    plan_.threads = plan_.rows_per_block * plan_.threads_per_row;
    if (plan_.cluster > 1 && plan_.rows_per_block > 1) refuse(fmt::format("a cluster shares one row, and rows({}, …) takes {} in a block", kernel.rows_per_block, kernel.rows_per_block));
    const std::int64_t columns = computation().columns();
    plan_.vector = static_cast<int>(kernel.vector > 0 ? kernel.vector : widest_vector());
    if (columns % plan_.vector != 0) refuse(fmt::format("rows of {} elements are no multiple of vector({})", columns, plan_.vector));
    require_access();
    const std::int64_t accesses = rounded_up_quotient(columns, plan_.columns_per_access());
    if (accesses > kMostAccesses)
      refuse(fmt::format("each of {} threads would keep {} vectors of a row of {} elements; at most {} stay in registers, so take {} threads or more", plan_.threads_per_row,
                         accesses, columns, kMostAccesses, rounded_up_quotient(columns, kMostAccesses * plan_.vector * plan_.cluster * 32) * 32));
    plan_.accesses = static_cast<int>(accesses);
    if (!kernel.fixed.empty()) {
      if (kernel.fixed != computation().axes.front().loop)
        refuse(fmt::format("fix({}) is not the loop along a row; that is '{}'", kernel.fixed, computation().axes.front().loop));
      plan_.has_fixed_columns = true;
    }
  }

  void require_own_loops() const {
    for (const Definition& definition : leader_.definitions) {
      const bool is_marked = std::any_of(definition.order.begin(), definition.order.end(), [&](int id) { return definition.loop(id).kind != LoopKind::serial; });
      if (is_marked || !definition.rewrites.empty())
        refuse(fmt::format("{}(…) spreads the loops itself; leave them as the algorithm has them",
                           leader_.kernel.rows_per_block > 0 ? "rows" : leader_.kernel.dot_columns > 0 ? "dots" : "strips"));
    }
  }

  // 16 bytes of the widest operand, less where a row is no multiple of it.
  std::int64_t widest_vector() const {
    std::int64_t vector = std::max<std::int64_t>(1, 16 / widest_bytes(computation()));
    while (computation().columns() % vector != 0) vector /= 2;
    return vector;
  }

  void require_access() const {
    const std::int64_t bytes = std::int64_t{plan_.vector} * widest_bytes(computation());
    if (bytes > kMostAccessBytes)
      refuse(fmt::format("vectors of {} elements would be accesses of {} bytes; {} bytes are the most, {} elements", plan_.vector, bytes, kMostAccessBytes,
                         kMostAccessBytes / widest_bytes(computation())));
  }

  // ---- sums of products for each element
  void plan_sums() {
    const KernelShape& kernel = leader_.kernel;
    const bool is_dots = kernel.dot_columns > 0;
    const std::string word = is_dots ? "dots" : "strips";
    plan_.shape = is_dots ? StreamPlan::Shape::dots : StreamPlan::Shape::strips;
    if (is_dots && kernel.strip_lanes > 0) refuse("dots and strips are two ways to run one kernel; say one");
    if (kernel.rows_per_block > 0 || !kernel.fixed.empty()) refuse(fmt::format("rows and fix do not go with {}", word));
    if (!computation().terms) refuse(fmt::format("{} runs sums of products for each element, of which there is none here", word));
    if (is_dots && kernel.cluster > 0) refuse("a cluster shares rows or strips; dots have as many warps a team as they need");
    require_own_loops();
    const Operand& weights = require_weights(is_dots);
    if (computation().rows() > kMostRowsAtOnce)
      refuse(fmt::format("{} rows; {} at most are summed at once, so that the weights are read once", computation().rows(), kMostRowsAtOnce));
    plan_.rows_at_once = static_cast<int>(computation().rows());
    plan_.vector = static_cast<int>(kernel.vector > 0 ? kernel.vector : 16 / weights.type.bytes());
    plan_.accesses = static_cast<int>(std::max<std::int64_t>(1, kernel.accesses));
    plan_.cluster = std::max(1, static_cast<int>(kernel.cluster));
    require_access();
    const KernelAxis& along = is_dots ? *computation().terms : computation().axes.front();
    if (along.extent % plan_.vector != 0) refuse(fmt::format("'{}' has {} elements, no multiple of vector({})", along.loop, along.extent, plan_.vector));
    if (is_dots) {
      plan_.columns_per_team = static_cast<int>(kernel.dot_columns);
      plan_.warps_per_team = static_cast<int>(kernel.dot_warps);
      plan_.teams = static_cast<int>(kernel.dot_teams);
      plan_.threads = 32 * plan_.warps_per_team * plan_.teams;
    } else {
      if (computation().terms->extent % plan_.accesses != 0)
        refuse(fmt::format("'{}' has {} elements, no multiple of accesses({})", computation().terms->loop, computation().terms->extent, plan_.accesses));
      plan_.lanes = static_cast<int>(kernel.strip_lanes);
      plan_.groups = static_cast<int>(kernel.strip_groups);
      plan_.threads = plan_.lanes * plan_.groups;
    }
  }

  // The operand that is read once: its terms or its columns are neighbours.
  const Operand& require_weights(bool is_dots) const {
    const Operand* weights = nullptr;
    for (const Operand& operand : computation().operands) {
      if (operand.reach == Reach::column_terms || operand.reach == Reach::terms_of_columns) {
        if (weights != nullptr) refuse(fmt::format("{} and {} are both read by column and term; one can be", weights->name, operand.name));
        weights = &operand;
      } else if (operand.reach == Reach::turned) {
        refuse(fmt::format("{} is read by columns, which has no place beside a sum for each element", operand.name));
      }
    }
    const Reach wanted = is_dots ? Reach::column_terms : Reach::terms_of_columns;
    if (weights == nullptr) refuse("nothing is read by column and term");
    if (weights->reach != wanted)
      refuse(fmt::format("the neighbours in {} are {}: write {} instead", weights->name, is_dots ? "columns" : "terms", is_dots ? "strips(8, 32)" : "dots(2, 8, 1)"));
    return *weights;
  }

  // ---- loops spread over blocks and threads
  void refuse_rows_only() const {
    const KernelShape& kernel = leader_.kernel;
    if (kernel.vector > 0 || kernel.accesses > 0 || kernel.cluster > 0 || !kernel.fixed.empty()) refuse("vector, accesses, cluster and fix go with rows, dots or strips");
    if (computation().has_reductions())
      refuse(fmt::format("{} is summed over rows, so whole rows belong to a block: write {}.rows(1, 256)", first_reduction(), leader_.name));
  }

  std::string first_reduction() const {
    const auto found = std::find_if(computation().values.begin(), computation().values.end(), [](const Value& v) { return v.kind == Value::Kind::reduction; });
    return found->name;
  }

  static const LoopDigit* only(const std::vector<LoopDigit>& digits, LoopKind kind, int own_loop) {
    const LoopDigit* found = nullptr;
    for (const LoopDigit& digit : digits)
      if (digit.kind == kind && (own_loop < 0 || digit.of == std::vector<int>{own_loop})) found = found == nullptr ? &digit : found;
    return found;
  }

  static std::int64_t count_of(const LoopDigit* digit) { return digit == nullptr ? 1 : digit->count.value_or(0); }

  void plan_flat() {
    refuse_rows_only();
    plan_.shape = StreamPlan::Shape::flat;
    const std::string form = fmt::format("fuse its loops into one, i, and write {}.split(i, b, i, 2048, GuardWithIf).split(i, t, v, 8).gpu_blocks(b).gpu_threads(t).vectorize(v), or {}.rows(1, 256)",
                                         leader_.name, leader_.name);
    for (const Operand& operand : computation().operands)
      if (operand.reach != Reach::every) refuse(fmt::format("{} is read by {}, so a kernel takes rows: write {}.rows(1, 256)", operand.name, print(operand.reach), leader_.name));
    const std::vector<LoopDigit> digits = spread_of(leader_);
    std::vector<int> all(computation().axes.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
    const bool is_one_line = std::all_of(digits.begin(), digits.end(), [&](const LoopDigit& digit) { return digit.of == all; });
    const LoopDigit *block = only(digits, LoopKind::gpu_block, -1), *thread = only(digits, LoopKind::gpu_thread, -1), *unrolled = only(digits, LoopKind::unrolled, -1),
                    *vector = only(digits, LoopKind::vectorized, -1);
    const std::size_t used = 2u + (unrolled != nullptr ? 1u : 0u) + (vector != nullptr ? 1u : 0u);
    if (!is_one_line || block == nullptr || thread == nullptr || digits.size() != used) refuse("its loops make no kernel over a line of elements; " + form);
    plan_.vector = static_cast<int>(count_of(vector));
    plan_.threads = static_cast<int>(count_of(thread));
    plan_.accesses = static_cast<int>(count_of(unrolled));
    const bool is_dense = (vector == nullptr || vector->stride == 1) && thread->stride == plan_.vector &&
                          (unrolled == nullptr || unrolled->stride == std::int64_t{plan_.vector} * plan_.threads) &&
                          block->stride == std::int64_t{plan_.vector} * plan_.threads * plan_.accesses;
    if (!is_dense) refuse(fmt::format("threads next to each other must take vectors next to each other, and a block all between its first and last; {}", form));
    require_access();
  }

  void plan_turned(const Operand& turned) {
    refuse_rows_only();
    plan_.shape = StreamPlan::Shape::turned;
    const int bytes = turned.type.bytes(), side = 16 / bytes;
    if (bytes != 4 && bytes != 2) refuse(fmt::format("{} has elements of {} bytes; tiles are turned of 2 and 4", turned.name, bytes));
    const std::string form = fmt::format("write {0}.tile({1}, {2}, {1}o, {2}o, {1}i, {2}i, 64, 64, GuardWithIf).tile({1}i, {2}i, {1}t, {2}t, {1}v, {2}v, {3}, {3})"
                                         ".gpu_blocks({1}o, {2}o).gpu_threads({1}t, {2}t).vectorize({1}v).unroll({2}v)",
                                         leader_.name, computation().axes[0].loop, computation().axes[1].loop, side);
    for (const Operand& operand : computation().operands) {
      if (operand.reach != Reach::turned && operand.reach != Reach::every) refuse(fmt::format("{} is read by {}; beside a turned matrix whole elements can be read", operand.name, print(operand.reach)));
      if (operand.type.bytes() != bytes) refuse(fmt::format("{} has elements of {} bytes and {} of {}; in one kernel they are the same", operand.name, operand.type.bytes(), turned.name, bytes));
      if (operand.reach == Reach::turned && operand.name != turned.name) refuse(fmt::format("{} and {} are both read by columns; one can be", turned.name, operand.name));
    }
    const std::vector<LoopDigit> digits = spread_of(leader_);
    const LoopDigit *vector = only(digits, LoopKind::vectorized, 0), *copies = only(digits, LoopKind::unrolled, 1), *across = only(digits, LoopKind::gpu_thread, 0),
                    *down = only(digits, LoopKind::gpu_thread, 1), *block_across = only(digits, LoopKind::gpu_block, 0), *block_down = only(digits, LoopKind::gpu_block, 1);
    const bool has_all = vector != nullptr && copies != nullptr && across != nullptr && down != nullptr && block_across != nullptr && block_down != nullptr;
    if (!has_all || digits.size() != 6) refuse("its loops make no kernel over turned tiles; " + form);
    if (count_of(vector) != side || count_of(copies) != side || vector->stride != 1 || copies->stride != 1 || across->stride != side || down->stride != side)
      refuse(fmt::format("a thread turns squares of {} by {} elements, 16 bytes a side; {}", side, side, form));
    plan_.vector = side;
    plan_.tile_columns = static_cast<int>(count_of(across) * side);
    plan_.tile_rows = static_cast<int>(count_of(down) * side);
    plan_.threads = static_cast<int>(count_of(across) * count_of(down));
    for (const int tile : {plan_.tile_columns, plan_.tile_rows})
      if (tile * bytes % 128 != 0) refuse(fmt::format("a side of a tile has {} bytes; whole lines of 128 are moved, {} elements or a multiple", tile * bytes, 128 / bytes));
    for (std::size_t axis = 0; axis < 2; ++axis)
      if (computation().axes[axis].extent % side != 0)
        refuse(fmt::format("'{}' has {} elements, no multiple of {}: rows would not start at 16 bytes", computation().axes[axis].loop, computation().axes[axis].extent, side));
    plan_.is_down_first = block_down < block_across;  // further in
  }

  const StageLoops& leader_;
  StreamPlan plan_;
};

std::string_view print(LoadHint hint) {
  switch (hint) {
    case LoadHint::plain: return "plain";
    case LoadHint::no_l1: return "no_l1";
    case LoadHint::evict_first: return "evict_first";
  }
  return "";
}

std::string_view print(StoreHint hint) {
  switch (hint) {
    case StoreHint::plain: return "plain";
    case StoreHint::streaming: return "streaming";
    case StoreHint::evict_first: return "evict_first";
  }
  return "";
}

}  // namespace

bool StreamPlan::has_whole_rows() const { return has_fixed_columns && computation.columns() % columns_per_access() == 0; }

std::int64_t StreamPlan::shared_bytes() const {
  if (shape == Shape::turned) {
    for (const Operand& operand : computation.operands)
      if (operand.reach == Reach::turned) return std::int64_t{tile_columns} * tile_rows * operand.type.bytes();
  }
  if (shape == Shape::dots) return warps_per_team > 1 ? std::int64_t{4} * teams * warps_per_team * rows_at_once * columns_per_team : 0;
  if (shape == Shape::strips) return std::int64_t{4} * (groups + (cluster > 1 ? 1 : 0)) * rows_at_once * lanes * vector;
  if (shape != Shape::rows || slots_per_row() == 1) return 0;
  const auto reductions = std::count_if(computation.values.begin(), computation.values.end(), [](const Value& v) { return v.kind == Value::Kind::reduction; });
  return reductions * std::int64_t{rows_per_block} * slots_per_row() * 4;
}

std::int64_t StreamPlan::blocks() const {
  switch (shape) {
    case Shape::flat: return rounded_up_quotient(computation.columns() * computation.rows(), std::int64_t{threads} * vector * accesses);
    case Shape::rows: return rounded_up_quotient(computation.rows(), rows_per_block) * cluster;
    case Shape::dots: return rounded_up_quotient(computation.columns(), std::int64_t{columns_per_team} * teams);
    case Shape::strips: return rounded_up_quotient(computation.columns(), std::int64_t{lanes} * vector) * cluster;
    case Shape::turned: return rounded_up_quotient(computation.columns(), tile_columns) * rounded_up_quotient(computation.rows(), tile_rows);
  }
  return 0;
}

std::int64_t StreamPlan::bytes_in_flight_per_thread() const {
  std::int64_t bytes = 0;
  if (shape == Shape::dots || shape == Shape::strips) {
    for (const Operand& operand : computation.operands)
      if (operand.reach == Reach::column_terms || operand.reach == Reach::terms_of_columns) bytes = std::int64_t{vector} * operand.type.bytes();
    return bytes * accesses * columns_per_team;
  }
  for (const Operand& operand : computation.operands)
    if (!operand.is_written && operand.reach != Reach::row) bytes += std::int64_t{vector} * operand.type.bytes();
  return bytes * (shape == Shape::turned ? vector : accesses);
}

std::string print_kernel(const StreamPlan& plan) {
  std::string text;
  switch (plan.shape) {
    case StreamPlan::Shape::flat: text = fmt::format("flat, {} threads, {} vectors of {}", plan.threads, plan.accesses, plan.vector); break;
    case StreamPlan::Shape::rows:
      text = fmt::format("rows {}×{}, {} vectors of {}", plan.rows_per_block, plan.threads_per_row, plan.accesses, plan.vector);
      if (plan.cluster > 1) text += fmt::format(", cluster {}", plan.cluster);
      if (plan.has_fixed_columns) text += fmt::format(", {} columns", plan.computation.columns());
      break;
    case StreamPlan::Shape::dots:
      text = fmt::format("dots {}×{} warps, {} columns, {} vectors of {}, {} rows", plan.teams, plan.warps_per_team, plan.columns_per_team, plan.accesses, plan.vector, plan.rows_at_once);
      break;
    case StreamPlan::Shape::strips:
      text = fmt::format("strips {}×{} threads, {} vectors of {}, {} rows", plan.groups, plan.lanes, plan.accesses, plan.vector, plan.rows_at_once);
      if (plan.cluster > 1) text += fmt::format(", cluster {}", plan.cluster);
      break;
    case StreamPlan::Shape::turned:
      text = fmt::format("turned {}×{}, {} threads, {} first", plan.tile_columns, plan.tile_rows, plan.threads, plan.is_down_first ? "down" : "across");
      break;
  }
  if (plan.blocks_per_sm > 0) text += fmt::format(", {} blocks an SM", plan.blocks_per_sm);
  return text + fmt::format(", loads {}, stores {}", print(plan.loads), print(plan.stores));
}

std::string print(const StreamPlan& plan) {
  return fmt::format("{}{}, grid {}, shared {}\n", print_kernel(plan), plan.is_dependent ? ", dependent" : "", plan.blocks(), plan.shared_bytes());
}

StreamPlan plan_stream(Computation computation, const StageLoops& leader, const Capability& capability) {
  return Planner(std::move(computation), leader, capability).plan();
}

}  // namespace kiln::generators::cuda
