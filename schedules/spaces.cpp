#include "schedules/spaces.h"

#include <algorithm>

#include "schedules/dual_products_cuda.h"
#include "schedules/ffn_cuda.h"
#include "schedules/lines_cuda.h"
#include "schedules/matmul_host.h"
#include "schedules/placement.h"
#include "schedules/pointwise_host.h"
#include "schedules/products_cuda.h"
#include "schedules/rows_cuda.h"
#include "schedules/rows_host.h"
#include "schedules/sketch.h"
#include "schedules/stage_graph.h"
#include "schedules/structure.h"
#include "schedules/sums_cuda.h"
#include "schedules/turned_cuda.h"

namespace kiln::schedules {
namespace {

// Up to so many rows each thread's own sums are as fast as the memory, and the tensor cores' tiles mostly empty.
constexpr std::int64_t kMostSummedRows = 2;

std::int64_t rows_of(const Algorithm& algorithm, const Problem& problem) { return output_extents(algorithm, problem, algorithm.outputs[0])[1]; }

std::optional<Space> cuda_space_for(const Algorithm& algorithm, const Problem& problem, const Device& device) {
  if (is_turned_operator(algorithm)) return turned_cuda(algorithm, problem, device);
  if (is_sum_operator(algorithm)) {
    if (!is_tensor_product(algorithm, device) || rows_of(algorithm, problem) <= kMostSummedRows) return sums_cuda(algorithm, problem, device);
    Space products = products_cuda(algorithm, problem, device);
    if (!products.unsatisfiable()) return products;
    Space sums = sums_cuda(algorithm, problem, device);  // takes rows that begin anywhere, if they are few
    return sums.unsatisfiable() ? std::move(products) : std::move(sums);
  }
  if (is_dual_tensor_product(algorithm, device)) return dual_products_cuda(algorithm, problem, device);
  if (is_feed_forward(algorithm, device)) return ffn_cuda(algorithm, problem, device);
  if (is_line_operator(algorithm)) return lines_cuda(algorithm, problem, device);
  if (is_row_kernel(algorithm)) return rows_cuda(algorithm, problem, device);
  return std::nullopt;
}

}  // namespace

std::optional<Space> space_for(const Algorithm& algorithm, const Problem& problem, const Device& device) {
  if (device.gpu) return cuda_space_for(algorithm, problem, device);
  if (const auto product = find_contraction(with_stored_outputs(algorithm), problem)) return matmul_host(*product, reference(algorithm, product->b), device);
  if (is_pointwise(algorithm)) return pointwise_host(algorithm, problem, device);
  if (is_row_operator(algorithm)) return rows_host(algorithm, problem, device);
  return sketch(algorithm, problem, device);
}

bool is_of_tensor_products(const Space& space) { return space.name() == kProducts || space.name() == kDualProducts || space.name() == kFeedForward; }

std::vector<ShippedSpace> shipped_spaces() {
  return {
      {kDualProducts, "on a GPU with tensor cores: two products of bf16 or f16 of the same rows for each element, read point by point by one output: in one kernel or apart"},
      {kFeedForward, "on a GPU with tensor cores: two products as those of dual_products_cuda, and a third of the rows that come of them: in two kernels or four"},
      {"lines_cuda", "on a GPU: one output computed element by element from arguments of its own dimensions"},
      {"matmul_host", "one product(n, m) += a(k, m) * b(n, k), or the same in pairs of k, and point by point from there to one output"},
      {"pointwise_host", "one output computed element by element"},
      {kProducts, "on a GPU with tensor cores: one sum of products of bf16, f16 or E4M3 for each element, of three rows and more, read point by point by one output"},
      {"rows_cuda", "on a GPU: the same as pointwise_host and rows_host, of two dimensions"},
      {"rows_host", "reductions over whole rows, read by one output of the same rows"},
      {"sketch", "everything else on a CPU"},
      {"sums_cuda", "on a GPU: one sum of products for each element, of a few rows, read point by point by one output"},
      {"turned_cuda", "on a GPU: one output that reads a matrix by columns"},
  };
}

Schedule any_extent_schedule(const Algorithm& algorithm, const Device& device) {
  require_cpu(device, "the schedule for any extent");
  // Read in several places, a stage would be written out in each, and what it reads in each of those; at root it is right for every reader.
  constexpr std::int64_t kMostReads = 2;
  Schedule schedule;
  std::vector<std::string> inlined;
  for (const PlacedStage& placed : placed_stages(algorithm)) {
    std::int64_t reads = 0;
    for (const Reader& reader : placed.readers) reads += reader.loads;
    if (placed.is_pure && reads <= kMostReads) inlined.push_back(algorithm.stages[placed.stage].name);
  }
  for (const Stage& stage : algorithm.stages) {
    if (is_wrapper(algorithm, stage) || std::count(inlined.begin(), inlined.end(), stage.name) > 0) continue;
    if (!algorithm.is_output(stage.name)) Chain(schedule, stage.name).add("compute_root");
    LoopStyle style;
    style.lanes = stage.types.empty() ? 1 : lanes_of(device, stage.types[0]);
    style.loop_inside = true;
    schedule_definitions(schedule, stage, style, true);
  }
  return schedule;
}

}  // namespace kiln::schedules
