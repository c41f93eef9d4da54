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

constexpr std::int64_t kMostBlocks = std::numeric_limits<std::int32_t>::max();  // of a grid along x: CUDA C++ Programming Guide, "Technical Specifications"

// 32-bit words of one access that live at the same time.
struct LiveWords {
  double operands = 0;  // of every element
  double columns = 0;   // of operands by column
  double kept = 0;      // values that stay in registers
};

LiveWords live_words(const StreamPlan& plan) {
  LiveWords words;
  for (const Operand& operand : plan.computation.operands) {
    if (operand.is_written || operand.reach == Reach::row) continue;
    (operand.reach == Reach::column ? words.columns : words.operands) += plan.vector * operand.type.bytes() / 4.0;
  }
  for (const Value& value : plan.computation.values)
    if (value.is_kept) words.kept += plan.vector;
  return words;
}

// Of a kernel of sums: what is under way of the weights, and the sums, for each access.
double sum_words(const StreamPlan& plan) {
  const double sums = plan.shape == StreamPlan::Shape::dots ? plan.rows_at_once * plan.columns_per_team : plan.rows_at_once * plan.vector;
  return (static_cast<double>(plan.bytes_in_flight_per_thread()) / 4 + sums) / plan.accesses;
}

bool stores_elements(const Computation& computation) {
  return std::any_of(computation.outputs.begin(), computation.outputs.end(), [&](const Output& output) {
    return computation.values[static_cast<std::size_t>(output.value)].kind == Value::Kind::element;
  });
}

// registers = base + accesses · (per_access + per_word · words); it spills where that is more than `slack` times what there is, and `spare`.
struct Model {
  double base, per_access, per_word, slack, spare;
};

constexpr Model kFlat{19, 1.5, 0.9, 1.2, 0};
constexpr Model kTurned{24, 0, 3.5, 1.2, 0};
constexpr Model kReduced{14, 0, 1, 1.1, 0};                 // rows of which nothing but sums is stored
constexpr Model kMapped{15, 2.5, 1.05, 1.15, 5};            // rows without sums
constexpr Model kMappedWhole{9, 3, 1.15, 1.3, 8};           // the same, of fixed length and unmasked: the compiler keeps converted operands
constexpr Model kSummed{12, 2, 1.2, 1.15, -3};              // rows with sums, whose elements are read again
constexpr Model kSummedWhole{22, 0.5, 1, 1, 6};
constexpr Model kKept{10, 2.5, 0.55, 1.25, -6};             // with values kept over the sums; operands may live beside them
constexpr Model kKeptWhole{15, 1, 1, 1.2, 5};

constexpr Model kSums{24, 0, 1.2, 1.1, 0};

struct Chosen {
  Model model;
  double words;
};

Chosen choose(const StreamPlan& plan) {
  const LiveWords words = live_words(plan);
  if (plan.shape == StreamPlan::Shape::flat) return {kFlat, words.operands};
  if (plan.shape == StreamPlan::Shape::turned) return {kTurned, words.operands};
  if (plan.shape == StreamPlan::Shape::dots || plan.shape == StreamPlan::Shape::strips) return {kSums, sum_words(plan)};
  if (!stores_elements(plan.computation)) return {kReduced, words.operands};
  const bool is_whole = plan.has_whole_rows();
  if (!plan.computation.has_reductions()) return {is_whole ? kMappedWhole : kMapped, words.operands + words.columns};
  if (words.kept > 0) return is_whole ? Chosen{kKeptWhole, words.kept + words.columns} : Chosen{kKept, words.operands + words.columns + words.kept};
  return {is_whole ? kSummedWhole : kSummed, words.operands + words.columns};
}

// What the launch bounds leave a thread.
int most_registers(const StreamPlan& plan, const Gpu& gpu) {
  const std::int64_t threads = std::int64_t{plan.threads} * std::max(1, plan.blocks_per_sm);
  return static_cast<int>(std::min<std::int64_t>(gpu.thread_registers, resources::rounded_down(gpu.sm_registers / threads, gpu.register_step)));
}

}  // namespace

RegisterEstimate estimate_registers(const StreamPlan& plan, const Gpu& gpu) {
  const auto [model, words] = choose(plan);
  const double wanted = model.base + plan.accesses * (model.per_access + model.per_word * words);
  const int most = most_registers(plan, gpu);
  return {std::min(most, static_cast<int>(std::lround(wanted))), wanted > model.slack * most + model.spare};
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
