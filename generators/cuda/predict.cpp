#include "generators/cuda/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "generators/cuda/resources/residency.h"
#include "generators/cuda/resources/spelling.h"
#include "generators/cuda/resources/waves.h"

namespace kiln::generators::cuda {
namespace {

constexpr int kWideBlock = 512;  // threads: from here on the compiler keeps fewer operands under way
constexpr std::int64_t kMostBlocks = std::numeric_limits<std::int32_t>::max();  // of a grid along x: CUDA C++ Programming Guide, "Technical Specifications"

// Registers over the elements of rows or a line:
//   base + wide (blocks of 512 threads and more) + accesses · (per_access + per_word · words + per_element · elements + per_column_word · column words),
// of one access: its elements, the 32-bit words of operands, those of operands by column. It spills where that is more than `slack` times what there is.
struct Model {
  double base, wide, per_access, per_word, per_element, per_column_word, slack;
};

constexpr Model kFlat{21.4, 0, 0.8, 0.78, 0, 0, 2};
constexpr Model kTurned{33.3, 0, 0, 0, 0, 0, 2};
constexpr Model kReduced{8.4, 3.5, 0.7, 0.73, 0.21, 0, 2};             // rows of which nothing but sums is stored
constexpr Model kMapped{10.4, 1.7, 3.64, 0.6, 0.23, 1.11, 1.2};        // rows without sums
constexpr Model kMappedWhole{15.6, -0.5, 0.98, 0.67, 0.62, 0.25, 1.2}; // the same, of fixed length and unmasked: the compiler keeps converted operands
constexpr Model kSummed{13.8, 2.2, 2.38, 0.36, 0.51, 0.8, 1.2};        // rows with sums, whose elements are read again
constexpr Model kSummedWhole{16.5, 2.1, -0.79, 0.53, 1.01, 0.55, 1.25};
constexpr Model kKept{8.7, 2.6, 1.82, 0.66, 0.66, 0.8, 1.2};           // with values kept over the sums
constexpr Model kKeptWhole{17.3, 4.1, -0.76, 0.73, 0.73, 0.55, 1.3};

double wanted(const Model& model, const StreamPlan& plan) {
  double words = 0, column_words = 0;
  for (const Operand& operand : plan.computation.operands)
    if (!operand.is_written && operand.reach != Reach::row) (operand.reach == Reach::column ? column_words : words) += plan.vector * operand.type.bytes() / 4.0;
  const double access = model.per_access + model.per_word * words + model.per_element * plan.vector + model.per_column_word * column_words;
  return model.base + (plan.threads >= kWideBlock ? model.wide : 0) + plan.accesses * access;
}

// Registers of sums of products, s of them in a thread for r rows and c columns (of strips: the vector counts as one):
//   base + per_sum · s + accesses · (per_access + per_column · c + per_row · r + per_both · s).
struct SumModel {
  double base, per_sum, per_access, per_column, per_row, per_both;
};

constexpr SumModel kDots{18.7, 0.89, 6.27, 1.39, -2.14, 3.29}, kWideDots{17.9, 4.4, 4.91, 2.68, 0.38, -1.01};
constexpr SumModel kDotsOfAWarp{23.9, 1.14, -5.27, 5.34, 2.93, -0.55};  // nothing is added up between warps
constexpr SumModel kStrips{31, 5.93, -0.61, 0, 0.81, 0}, kWideStrips{33.4, 3.91, -2.6, 0, 2.64, 0};
constexpr SumModel kSharedStrips{33.8, -1.48, 0.85, 0, 1.87, 0}, kWideSharedStrips{17.5, 10.51, 4.27, 0, 0.16, 0};  // of the blocks of a cluster
constexpr double kSumSlack = 1.3;

double wanted(const SumModel& model, const StreamPlan& plan) {
  const double rows = plan.rows_at_once, columns = plan.columns_per_team, sums = rows * columns;
  return model.base + model.per_sum * sums + plan.accesses * (model.per_access + model.per_column * columns + model.per_row * rows + model.per_both * sums);
}

const SumModel& sum_model(const StreamPlan& plan) {
  const bool is_wide = plan.threads >= kWideBlock;
  if (plan.shape == StreamPlan::Shape::dots) return plan.warps_per_team == 1 ? kDotsOfAWarp : is_wide ? kWideDots : kDots;
  if (plan.cluster > 1) return is_wide ? kWideSharedStrips : kSharedStrips;
  return is_wide ? kWideStrips : kStrips;
}

bool stores_elements(const Computation& computation) {
  return std::any_of(computation.outputs.begin(), computation.outputs.end(), [&](const Output& output) {
    return computation.values[static_cast<std::size_t>(output.value)].kind == Value::Kind::element;
  });
}

bool keeps_values(const Computation& computation) {
  return std::any_of(computation.values.begin(), computation.values.end(), [](const Value& value) { return value.is_kept; });
}

const Model& model_of(const StreamPlan& plan) {
  if (plan.shape == StreamPlan::Shape::flat) return kFlat;
  if (plan.shape == StreamPlan::Shape::turned) return kTurned;
  if (!stores_elements(plan.computation)) return kReduced;
  const bool is_whole = plan.has_whole_rows();
  if (!plan.computation.has_reductions()) return is_whole ? kMappedWhole : kMapped;
  if (keeps_values(plan.computation)) return is_whole ? kKeptWhole : kKept;
  return is_whole ? kSummedWhole : kSummed;
}

// What the launch bounds leave a thread.
int most_registers(const StreamPlan& plan, const Gpu& gpu) {
  const std::int64_t threads = std::int64_t{plan.threads} * std::max(1, plan.blocks_per_sm);
  return static_cast<int>(std::min<std::int64_t>(gpu.thread_registers, resources::rounded_down(gpu.sm_registers / threads, gpu.register_step)));
}

}  // namespace

RegisterEstimate estimate_registers(const StreamPlan& plan, const Gpu& gpu) {
  const bool is_of_sums = plan.shape == StreamPlan::Shape::dots || plan.shape == StreamPlan::Shape::strips;
  const double registers = is_of_sums ? wanted(sum_model(plan), plan) : wanted(model_of(plan), plan);
  const int most = most_registers(plan, gpu);
  return {std::min(most, static_cast<int>(std::lround(registers))), registers > (is_of_sums ? kSumSlack : model_of(plan).slack) * most};
}

KernelResources with_residency(KernelResources known, const StreamPlan& plan, const Gpu& gpu) {
  const resources::BlockNeeds needs{plan.threads, static_cast<int>(known.registers), known.shared_bytes, plan.rows_per_block > 1 ? plan.rows_per_block + 1 : 1};
  const resources::Residency residency = resources::residency(needs, gpu);
  known.blocks_per_sm = residency.blocks;
  known.occupancy = residency.occupancy;
  if (residency.blocks > 0) known.waves = resources::waves(known.blocks, residency.blocks, gpu).waves;
  known.bytes_in_flight = residency.blocks * plan.threads * plan.bytes_in_flight_per_thread();
  return known;
}

KernelResources predict(const Kernel& kernel, const Gpu& gpu) {
  const RegisterEstimate registers = estimate_registers(kernel.plan, gpu);
  KernelResources resources;
  resources.name = kernel.text.name;
  resources.threads = kernel.plan.threads;
  resources.blocks = kernel.plan.blocks();
  resources.registers = registers.registers;
  resources.spill_bytes = registers.spills ? 9 : 0;
  resources.shared_bytes = kernel.plan.shared_bytes();
  return with_residency(resources, kernel.plan, gpu);
}

std::optional<Rejection> find_oversized(const std::vector<KernelResources>& kernels, const Gpu& gpu) {
  for (const KernelResources& kernel : kernels) {
    auto rejection = resources::find_oversized({static_cast<int>(kernel.threads), static_cast<int>(kernel.registers), kernel.shared_bytes, 1}, gpu);
    if (!rejection && kernel.blocks > kMostBlocks)
      rejection = resources::beyond(Reason::over_grid, kernel.blocks, kMostBlocks,
                                    fmt::format("needs {} blocks; a grid has {} at most", resources::grouped(kernel.blocks), resources::grouped(kMostBlocks)));
    if (!rejection) continue;
    rejection->text = kernel.name + ": " + rejection->text;
    return rejection;
  }
  return std::nullopt;
}

}  // namespace kiln::generators::cuda
