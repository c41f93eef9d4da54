#include "generators/cuda/register_model.h"

#include <algorithm>
#include <cmath>

#include "generators/cuda/resources/registers.h"
#include "generators/cuda/resources/spelling.h"

namespace kiln::generators::cuda {
namespace {

constexpr int kWideBlock = 512;   // threads: from here on the compiler keeps less under way
// The compiler fits what is somewhat too much into what there is, by loading or computing it again; beyond this it spills. Where nothing comes between
// a load and its store, neither a barrier nor a branch, it may take one access after the other, the more freely without masks.
constexpr double kSlack = 1.18, kStraightSlack = 1.3, kStraightWholeSlack = 2;

// ---- one vector after the other: a line, or tiles of squares
struct LineModel {
  double base, per_access, per_word;  // words of 32 bits, of all operands, in an access
};
constexpr LineModel kFlat{21.4, 0.8, 0.78}, kTurned{33.3, 0, 0};

// ---- rows, kept in registers from the loads to the stores
// What each access of a thread takes, by what happens to the row. Whole rows are those of a fixed length that the threads cover exactly: nothing is
// masked, so the compiler may compute elements of all accesses side by side.
struct RowModel {
  double base, per_access, per_word, per_element;
};
constexpr RowModel kReduced{12.35, 0.09, 0.83, 0.01};                                         // nothing but values of the row is stored
constexpr RowModel kMapped{14.23, 2.35, 0.69, 0.09}, kMappedWhole{15.41, 2.17, 0.82, 0.19};  // without sums
constexpr RowModel kSummed{15.47, 1.8, 0.65, 0.13}, kSummedWhole{17.4, 0.2, 0.29, 0.82};     // with sums, whose elements are read again
constexpr RowModel kKept{13.44, 1.47, 0.3, 0.66}, kKeptWhole{17.7, 0.69, 0.31, 0.64};        // with values kept over the sums, as f32

// What all of them have in common.
constexpr double kWideRow = 1.56;
constexpr double kShared = 2.94;              // by the blocks of a cluster: ranks and addresses in the other blocks
constexpr double kPerColumnWord = 0.77;       // of operands by column
constexpr double kPerMaskedAddress = 1.04;    // of an operand in an access behind a mask: addresses are not one base and constants
constexpr double kPerMaskedPolicy = -1.15;    // an evict_first load is two instructions, and behind a mask fewer of them are under way
// With launch bounds that name blocks an SM the compiler takes what they leave; without them it aims at more blocks by itself.
constexpr double kPerBoundedElement = 0.15, kPerFreeStraightElement = -0.7;

// ---- dots: s sums, of r rows and c columns. Under way are a vector of weights for each access and column, one of x for each access and row.
struct DotsModel {
  double base, per_sum, per_weights, per_x;
};
constexpr DotsModel kDots{15.82, 2.03, 5.85, 2.37}, kWideDots{25.55, 2.66, 3.41, 0.59};
constexpr DotsModel kDotsOfAWarp{19.25, 2.45, 3.33, 0.83};  // nothing is added up between warps
constexpr double kOneWarp = 6.83;  // a block of one: 32 blocks are the most of an SM, so that registers are left over and more is under way

// ---- strips: a vector of sums a row.
struct StripsModel {
  double base, per_row, per_access, per_both, per_doubled_group;  // of groups whose results are added up, all loaded at once
};
constexpr StripsModel kStrips{26.99, 10.62, -0.42, 0.56, 0};
constexpr StripsModel kSharedStrips{14.84, 9.08, 2.15, 0.94, 1.41}, kWideSharedStrips{20.41, 7.61, 3.3, 1.12, 0};  // by the blocks of a cluster

// ---- ring: of one consumer, whose sums are nearly all that is alive. Those of parts go to shared memory before anything is made of them. Fitted on 475 plans
// of four products.
constexpr double kRing = 28.86, kPerSum = 1.18, kSeveralWgmmas = 2.15, kSeveralBlocks = 2.88;
constexpr double kParts = 26, kPerSumOfPart = 1;

// Operands by element or column, and their words in an access.
struct Reads {
  double operands = 0, words = 0, column_words = 0;
};

Reads reads_of(const StreamPlan& plan) {
  Reads reads;
  for (const Operand& operand : plan.computation.operands) {
    if (operand.is_written || operand.reach == Reach::row) continue;
    const double words = plan.vector * operand.type.bytes() / 4.0;
    if (operand.reach == Reach::column) {
      reads.column_words += words;
    } else {
      reads.words += words;
      ++reads.operands;
    }
  }
  return reads;
}

bool stores_elements(const Computation& computation) {
  return std::any_of(computation.outputs.begin(), computation.outputs.end(), [&](const Output& output) {
    return computation.values[static_cast<std::size_t>(output.value)].kind == Value::Kind::element;
  });
}

bool keeps_values(const Computation& computation) {
  return std::any_of(computation.values.begin(), computation.values.end(), [](const Value& value) { return value.is_kept; });
}

// Functions and divisions that are not approximated have slow paths, branches over which the compiler moves no loads.
bool is_exact(const Computation& computation) {
  return std::any_of(computation.values.begin(), computation.values.end(), [](const Value& value) { return value.is_exact; });
}

// Elements go from their loads to their stores.
bool is_straight(const StreamPlan& plan) {
  const Computation& computation = plan.computation;
  return plan.shape == StreamPlan::Shape::rows && stores_elements(computation) && !computation.has_reductions() && !is_exact(computation);
}

const RowModel& row_model(const StreamPlan& plan) {
  const bool is_whole = plan.has_whole_rows();
  if (!stores_elements(plan.computation)) return kReduced;
  if (!plan.computation.has_reductions()) return is_whole ? kMappedWhole : kMapped;
  if (keeps_values(plan.computation)) return is_whole ? kKeptWhole : kKept;
  return is_whole ? kSummedWhole : kSummed;
}

double of_lines(const LineModel& model, const StreamPlan& plan) {
  const Reads reads = reads_of(plan);
  return model.base + plan.accesses * (model.per_access + model.per_word * (reads.words + reads.column_words));
}

double of_rows(const StreamPlan& plan) {
  const RowModel& model = row_model(plan);
  const Reads reads = reads_of(plan);
  const bool is_masked = !plan.has_whole_rows(), is_bounded = plan.blocks_per_sm > 0;
  double access = model.per_access + model.per_word * reads.words + model.per_element * plan.vector + kPerColumnWord * reads.column_words;
  if (is_masked) access += kPerMaskedAddress * reads.operands;
  if (is_masked && plan.loads == LoadHint::evict_first) access += kPerMaskedPolicy;
  if (is_masked && is_bounded) access += kPerBoundedElement * plan.vector;
  if (!is_masked && !is_bounded && is_straight(plan)) access += kPerFreeStraightElement * plan.vector;
  return model.base + (plan.threads >= kWideBlock ? kWideRow : 0) + (plan.cluster > 1 ? kShared : 0) + plan.accesses * access;
}

double of_dots(const StreamPlan& plan) {
  const double rows = plan.rows_at_once, columns = plan.columns_per_team;
  const DotsModel& model = plan.threads >= kWideBlock ? kWideDots : plan.warps_per_team == 1 ? kDotsOfAWarp : kDots;
  const double under_way = plan.accesses * (model.per_weights * columns + model.per_x * rows);
  return model.base + model.per_sum * rows * columns + under_way + (plan.threads == 32 ? kOneWarp : 0);
}

double of_strips(const StreamPlan& plan) {
  const StripsModel& model = plan.cluster == 1 ? kStrips : plan.threads >= kWideBlock ? kWideSharedStrips : kSharedStrips;
  return model.base + model.per_row * plan.rows_at_once + plan.accesses * (model.per_access + model.per_both * plan.rows_at_once) +
         model.per_doubled_group * std::log2(plan.groups);
}

double wanted(const StreamPlan& plan) {
  switch (plan.shape) {
    case StreamPlan::Shape::flat: return of_lines(kFlat, plan);
    case StreamPlan::Shape::turned: return of_lines(kTurned, plan);
    case StreamPlan::Shape::rows: return of_rows(plan);
    case StreamPlan::Shape::dots: return of_dots(plan);
    case StreamPlan::Shape::strips: return of_strips(plan);
  }
  return 0;
}

// What the launch bounds leave a thread.
int most_registers(const StreamPlan& plan, const Gpu& gpu) {
  const std::int64_t threads = std::int64_t{plan.threads} * std::max(1, plan.blocks_per_sm);
  return static_cast<int>(std::min<std::int64_t>(gpu.thread_registers, resources::rounded_down(gpu.sm_registers / threads, gpu.register_step)));
}

}  // namespace

RegisterEstimate estimate_registers(const RingPlan& plan, const Gpu& gpu) {
  const resources::Roles roles = plan.roles();
  const int entry = resources::entry_registers(plan.threads(), gpu, roles.blocks_per_sm);
  const auto sums = static_cast<int>(resources::accumulators(plan.tile(), roles)) + plan.temporaries();
  if (plan.consumers > 1) return {entry, sums > resources::most_accumulators(roles.consumer_registers)};
  const double whole = kRing + kPerSum * sums + (plan.instructions_high() > 1 ? kSeveralWgmmas : 0) + (plan.blocks_per_sm > 1 ? kSeveralBlocks : 0);
  const double wanted = plan.parts > 1 ? kParts + kPerSumOfPart * sums : whole;
  return {std::min(entry, static_cast<int>(std::lround(wanted))), sums > resources::most_accumulators(entry)};
}

RegisterEstimate estimate_registers(const StreamPlan& plan, const Gpu& gpu) {
  const double registers = wanted(plan);
  const int most = most_registers(plan, gpu);
  const double slack = !is_straight(plan) ? kSlack : plan.has_whole_rows() ? kStraightWholeSlack : kStraightSlack;
  return {std::min(most, static_cast<int>(std::lround(registers))), registers > slack * most};
}

}  // namespace kiln::generators::cuda
