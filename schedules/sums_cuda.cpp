#include "schedules/sums_cuda.h"

#include <algorithm>
#include <numeric>

#include "schedules/cuda_knobs.h"
#include "schedules/sum_of_products.h"

namespace kiln::schedules {
namespace {

// Tensor cores are faster from some rows on; the skeleton keeps the sums of eight.
constexpr std::int64_t kMostRows = 8;

struct Knobs {
  Knob columns, warps, teams;       // dots
  Knob lanes, groups, cluster;      // strips
  Knob accesses;
  MemoryKnobs memory;
};

Schedule schedule_of(const Stage& output, const SumOfProducts& product, const Knobs& k, const Point& p) {
  Schedule schedule;
  Chain chain(schedule, output.name);
  if (product.terms_are_neighbours) {
    chain.add("dots", p[k.columns], p[k.warps], p[k.teams]);
  } else {
    chain.add("strips", p[k.lanes], p[k.groups]);
    if (p[k.cluster] > 1) chain.add("cluster", p[k.cluster]);
  }
  if (p[k.accesses] > 1) chain.add("accesses", p[k.accesses]);
  add_memory(chain, k.memory, p);
  Chain(schedule, product.stage.name).add("compute_at", output.name, output.loops[0]);
  return schedule;
}

}  // namespace

bool is_sum_operator(const Algorithm& algorithm) { return find_sum_of_products(algorithm).has_value(); }

Space sums_cuda(const Algorithm& algorithm, const Problem& problem, const Device& gpu) {
  const SumOfProducts product = *find_sum_of_products(algorithm, problem);
  const Stage output = algorithm.stage(algorithm.outputs[0]);
  const bool is_dots = product.terms_are_neighbours;
  const std::vector<std::int64_t> one = {1};
  Space space("sums_cuda");
  const Knobs k{space.knob("columns", is_dots ? std::vector<std::int64_t>{1, 2, 4} : one),
                space.knob("warps", is_dots ? std::vector<std::int64_t>{1, 2, 4, 8} : one),
                space.knob("teams", is_dots ? std::vector<std::int64_t>{1, 2, 4, 8} : one),
                space.knob("lanes", is_dots ? one : std::vector<std::int64_t>{8, 16, 32}),
                space.knob("groups", is_dots ? one : std::vector<std::int64_t>{4, 8, 16, 32, 64}),
                space.knob("cluster", is_dots ? one : cluster_sizes(gpu, {1, 2, 4, 8})),
                space.knob("accesses", is_dots ? std::vector<std::int64_t>{1, 2, 4} : std::vector<std::int64_t>{1, 2, 4, 8, 16}),
                declare_memory_knobs(space, gpu)};
  const std::int64_t vector = 16 / product.type_of_columns.bytes(), along = is_dots ? product.terms : product.columns;
  space.require("sums of a few rows stay in registers: 8 at most", [rows = product.rows](std::int64_t) { return rows <= kMostRows; }, k.accesses);
  space.require("rows of the weights start at 16 bytes", [=](std::int64_t) { return along % vector == 0; }, k.accesses);
  if (is_dots) {
    space.limit("threads of a block", kMostThreadsOfBlock, [](std::int64_t w, std::int64_t t) { return 32 * w * t; }, k.warps, k.teams);
    space.limit("vectors under way in a thread", 8, [](std::int64_t c, std::int64_t a) { return c * a; }, k.columns, k.accesses);
  } else {
    space.limit("threads of a block", kMostThreadsOfBlock, [](std::int64_t l, std::int64_t g) { return l * g; }, k.lanes, k.groups);
    space.require("at least two warps", [](std::int64_t l, std::int64_t g) { return l * g >= 64; }, k.lanes, k.groups);
    space.require("accesses divide the terms", [terms = product.terms](std::int64_t a) { return terms % a == 0; }, k.accesses);
    space.limit("bytes of shared memory for the sums of a block", 98304,
                [rows = product.rows, vector](std::int64_t l, std::int64_t g) { return 4 * (g + 1) * rows * l * vector; }, k.lanes, k.groups);
  }
  space.schedule_as([=](const Point& p) { return schedule_of(output, product, k, p); });
  if (is_dots) {
    for (const auto& [columns, warps, teams] : {std::tuple{4, 8, 1}, {2, 8, 1}, {4, 1, 8}, {4, 4, 2}})
      space.seed({{"columns", columns}, {"warps", warps}, {"teams", teams}}, "the terms of a few columns shared by the warps of a block");
    if (has_dependent_launches(gpu))
      for (const auto& [columns, warps, teams] : {std::tuple{2, 1, 4}, {2, 8, 1}})
        space.seed({{"columns", columns}, {"warps", warps}, {"teams", teams}, {"loads", std::string("evict_first")}, {"stores", std::string("evict_first")},
                    {"launch", std::string("dependent")}},
                   "launched while the kernel before it ends");
  } else {
    const std::int64_t accesses = std::gcd(product.terms, std::int64_t{8});
    const auto is_there = [&](std::int64_t cluster) { return cluster_sizes(gpu, {cluster}).size() == 1; };
    for (const auto& [lanes, groups, cluster] : {std::tuple{8, 32, 2}, {8, 32, 4}, {16, 32, 2}, {16, 32, 4}, {8, 64, 1}, {8, 64, 2}})
      if (is_there(cluster)) space.seed({{"lanes", lanes}, {"groups", groups}, {"cluster", cluster}, {"accesses", accesses}}, "narrow strips, the terms shared by many groups");
    for (const std::int64_t cluster : {1, 2})
      if (is_there(cluster))
        space.seed({{"lanes", 8}, {"groups", 64}, {"cluster", cluster}, {"accesses", std::gcd(product.terms, std::int64_t{16})}, {"loads", std::string("no_l1")},
                    {"stores", std::string("evict_first")}},
                   "weights past the first cache, twice as many under way");
  }
  return space;
}

}  // namespace kiln::schedules
