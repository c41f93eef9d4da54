#include "generators/cuda/register_model.h"

#include <algorithm>
#include <cmath>

#include "generators/cuda/resources/registers.h"
#include "generators/cuda/resources/spelling.h"

namespace kiln::generators::cuda {
namespace {

constexpr int kWideBlock = 512;   // threads: from here on the compiler keeps less under way
// The compiler fits what is somewhat too much into what there is, by loading or computing it again; beyond this it spills. Rows have a rule of their own.
constexpr double kSlack = 1.18;

// ---- one vector after the other: a line, or tiles of squares
struct LineModel {
  double base, per_access, per_word;  // words of 32 bits, of all operands, in an access
};
constexpr LineModel kFlat{21.4, 0.8, 0.78}, kTurned{33.3, 0, 0};
// Elements that a thread reads as f32 of one operand and stores as f32: in wide blocks, or behind evict_first stores, they are squeezed into 32 or 40
// registers, although they spill.
constexpr int kSqueezedElements = 32;

// ---- rows, kept in registers from the loads to the stores
// What each access of a thread takes, by what happens to the row. Whole rows are those of a fixed length that the threads cover exactly: nothing is
// masked, so the compiler may compute elements of all accesses side by side.
struct RowModel {
  double base, per_access, per_word, per_element;
};
constexpr RowModel kReduced{11.6, 0.91, 0.82, 0};                                            // nothing but values of the row is stored
constexpr RowModel kMapped{13.29, 0.95, 0.9, 0.21}, kMappedWhole{12.98, 1.52, 0.63, 0.38};  // without sums
constexpr RowModel kMappedFreely{21.5, 1.51, 0, 0};       // the same whole and without bounds: one access after the other
constexpr RowModel kSummed{13.99, 1.33, 0.97, 0.12};      // with sums, whose elements are read again
constexpr RowModel kKept{13.3, 1.8, 0, 0.9};              // with values kept over the sums, as f32
constexpr RowModel kSummedWhole{13.72, 0, 0, 1.06};       // with sums over whole rows: elements are f32 between them, with values kept or without

// What all of them have in common.
constexpr double kWideRow = 1.44;
constexpr double kShared = 3.01;              // by the blocks of a cluster: ranks and addresses in the other blocks
constexpr double kPerColumnWord = 0.89;       // of operands by column
constexpr double kPerMaskedAddress = 0.42;    // of an operand in an access behind a mask: addresses are not one base and constants
constexpr double kPerMaskedPolicy = -1.27;    // an evict_first load is two instructions, and behind a mask fewer of them are under way
// With launch bounds that name blocks an SM the compiler takes what they leave; without them it aims at more blocks by itself.
constexpr double kPerBoundedMask = 1.46;
constexpr double kPerElementBeside = 1.23;    // of each operand after the first, in whole rows with bounds: there all elements are computed side by side

// Registers beyond what there are that rows do not spill for: what takes them is loaded or computed again.
constexpr int kSpare = 6, kSpareOf32 = 2;          // of 32 the compiler makes more than of 40
constexpr int kPredicates = 7, kSpareOfMasks = 3;  // masks of up to 7 accesses fit into a thread's predicates; those of 8 take registers, or are spilled
// What only reduces, in blocks of three warps, and wants this much is squeezed into 32 registers, so that 21 blocks fill an SM, although it spills.
constexpr int kSqueezedThreads = 96;
constexpr double kSqueezedFrom = 38, kSqueezedTo = 40;

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

// ---- ring: of one consumer, whose sums are nearly all that is alive, results of them beside these where they are stored. Those of parts go to shared memory
// before anything is made of them. Fitted on 6,500 plans of 25 problems: 97 % within 8 registers, or 15 %; with more than sums to read on 190 plans of a bias.
struct RingModel {
  double base, per_sum, per_several_blocks;  // the last where several of an SM are asked for
};
constexpr RingModel kProduct{26.5, 1.08, 3}, kProductAndMore{27, 1.25, 3}, kTwoProducts{25.5, 1.15, 14}, kKeptCodes{30, 1.18, 3}, kPromotedCodes{27, 1, 4};
constexpr RingModel kPart{26, 1, 0}, kPartOfPromotedCodes{12, 1, 0};

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
  if (plan.computation.has_reductions()) return is_whole ? kSummedWhole : keeps_values(plan.computation) ? kKept : kSummed;
  if (!is_whole) return kMapped;
  return is_straight(plan) && plan.blocks_per_sm == 0 ? kMappedFreely : kMappedWhole;
}

// Accesses of a thread that may reach beyond the row: when the row's length is known, the last ones.
int masked_accesses(const StreamPlan& plan) {
  if (!plan.has_fixed_columns) return plan.accesses;
  return plan.accesses - static_cast<int>(std::min<std::int64_t>(plan.accesses, plan.computation.columns() / plan.columns_per_access()));
}

// What computing elements side by side takes more; where there is no room for it the compiler does without.
double side_by_side(const StreamPlan& plan) {
  const Computation& computation = plan.computation;
  if (plan.shape != StreamPlan::Shape::rows || !plan.has_whole_rows() || plan.blocks_per_sm == 0) return 0;
  if (!stores_elements(computation) || is_exact(computation)) return 0;
  return kPerElementBeside * plan.accesses * plan.vector * std::max(0.0, reads_of(plan).operands - 1);
}

double of_lines(const LineModel& model, const StreamPlan& plan) {
  const Reads reads = reads_of(plan);
  return model.base + plan.accesses * (model.per_access + model.per_word * (reads.words + reads.column_words));
}

double of_rows(const StreamPlan& plan) {
  const RowModel& model = row_model(plan);
  const Reads reads = reads_of(plan);
  const double access = model.per_access + model.per_word * reads.words + model.per_element * plan.vector + kPerColumnWord * reads.column_words;
  double masked = kPerMaskedAddress * reads.operands;
  if (plan.loads == LoadHint::evict_first) masked += kPerMaskedPolicy;
  if (plan.blocks_per_sm > 0) masked += kPerBoundedMask;
  return model.base + (plan.threads >= kWideBlock ? kWideRow : 0) + (plan.cluster > 1 ? kShared : 0) + plan.accesses * access +
         masked_accesses(plan) * masked + side_by_side(plan);
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

bool line_spills(const StreamPlan& plan) {
  const auto is_f32 = [](const Operand& operand) { return operand.type == kFloat32; };
  const std::vector<Operand>& operands = plan.computation.operands;
  return plan.shape == StreamPlan::Shape::flat && (plan.threads >= kWideBlock || plan.stores == StoreHint::evict_first) &&
         plan.accesses * plan.vector >= kSqueezedElements && reads_of(plan).operands == 1 && std::all_of(operands.begin(), operands.end(), is_f32);
}

// Elements that go straight from loads to stores may be taken one access after the other, whatever the registers, where the row's length is known:
// neither a barrier nor a branch comes between.
bool rows_spill(const StreamPlan& plan, double needed, int most) {
  if (is_straight(plan) && plan.has_fixed_columns) return false;
  if (!stores_elements(plan.computation) && plan.threads == kSqueezedThreads && needed > kSqueezedFrom && needed <= kSqueezedTo) return true;
  const bool has_masks_in_predicates = !plan.has_fixed_columns && plan.accesses <= kPredicates;
  return needed > most + kSpare + (most == 32 ? kSpareOf32 : 0) + (has_masks_in_predicates ? kSpareOfMasks : 0);
}

const RingModel& ring_model(const RingPlan& plan) {
  if (plan.parts > 1) return plan.is_promoted() ? kPartOfPromotedCodes : kPart;
  if (plan.is_of_codes()) return plan.is_promoted() ? kPromotedCodes : kKeptCodes;
  if (plan.products() > 1) return kTwoProducts;
  return plan.reads_beside_products() ? kProductAndMore : kProduct;
}

}  // namespace

RegisterEstimate estimate_registers(const RingPlan& plan, const Gpu& gpu) {
  const resources::Roles roles = plan.roles();
  const int entry = resources::entry_registers(plan.threads(), gpu, roles.blocks_per_sm);
  const auto sums = static_cast<int>(resources::accumulators(plan.tile(), roles)) + plan.temporaries();
  if (plan.consumers > 1) return {entry, sums > resources::most_accumulators(roles.consumer_registers)};
  const RingModel& model = ring_model(plan);
  const double wanted = model.base + model.per_sum * sums + (plan.blocks_per_sm > 1 ? model.per_several_blocks : 0);
  return {std::min(entry, static_cast<int>(std::lround(wanted))), sums > resources::most_accumulators(entry)};
}

RegisterEstimate estimate_registers(const StreamPlan& plan, const Gpu& gpu) {
  const double registers = wanted(plan);
  const int most = most_registers(plan, gpu);
  const bool spills = plan.shape == StreamPlan::Shape::rows ? rows_spill(plan, registers - side_by_side(plan), most) : registers > kSlack * most || line_spills(plan);
  return {std::min(most, static_cast<int>(std::lround(registers))), spills};
}

}  // namespace kiln::generators::cuda
