#include "schedules/sums_cuda.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "schedules/cuda_knobs.h"
#include "schedules/structure.h"

namespace kiln::schedules {
namespace {

// Tensor cores are faster from some rows on; the skeleton keeps the sums of eight.
constexpr std::int64_t kMostRows = 8;

struct Product {
  Stage stage;
  std::string weights;          // the argument that is read by column and term
  int bytes = 0;                // of its elements
  bool terms_are_neighbours = false;
  std::int64_t columns = 1, rows = 1, terms = 1;
};

bool is_index(const ExpressionPtr& index, Op op, const std::string& name) { return index->op == op && index->name == name; }

// The weights' load, and whether their terms are neighbours; nothing when some load has another form.
struct Loads {
  bool has_row = false;
  std::optional<bool> terms_are_neighbours;
  std::string weights;
  int bytes = 0;
};

std::optional<Loads> read_loads(const Stage& stage, const Update& update, const std::string& term) {
  Loads found;
  bool is_served = true;
  for_each_node(*update.values[0], [&](const Expression& node) {
    if (node.op != Op::load || node.name == stage.name) return;
    const bool two = node.args.size() == 2;
    if (two && is_index(node.args[0], Op::reduction, term) && is_index(node.args[1], Op::loop, stage.loops[1])) {
      found.has_row = true;
    } else if (two && is_index(node.args[0], Op::reduction, term) && is_index(node.args[1], Op::loop, stage.loops[0])) {
      found = {found.has_row, true, node.name, node.type.bytes()};
    } else if (two && is_index(node.args[0], Op::loop, stage.loops[0]) && is_index(node.args[1], Op::reduction, term)) {
      found = {found.has_row, false, node.name, node.type.bytes()};
    } else {
      is_served = false;
    }
  });
  if (!is_served || !found.has_row || !found.terms_are_neighbours) return std::nullopt;
  return found;
}

std::optional<Product> find_product(const Algorithm& algorithm) {
  if (algorithm.outputs.size() != 1 || algorithm.stage(algorithm.outputs[0]).loops.size() != 2) return std::nullopt;
  std::optional<Product> product;
  for (const Stage& stage : algorithm.stages) {
    if (is_wrapper(algorithm, stage) || stage.updates.empty()) continue;
    const Update& update = stage.updates[0];
    if (product || stage.updates.size() != 1 || stage.loops.size() != 2 || update.reduction.size() != 1 || update.predicate || algorithm.is_output(stage.name)) return std::nullopt;
    const auto loads = read_loads(stage, update, update.reduction[0].name);
    if (!loads) return std::nullopt;
    product = Product{stage, loads->weights, loads->bytes, *loads->terms_are_neighbours};
  }
  return product;
}

struct Knobs {
  Knob columns, warps, teams;       // dots
  Knob lanes, groups, cluster;      // strips
  Knob accesses;
  MemoryKnobs memory;
};

Schedule schedule_of(const Stage& output, const Product& product, const Knobs& k, const Point& p) {
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

bool is_sum_operator(const Algorithm& algorithm) { return find_product(algorithm).has_value(); }

Space sums_cuda(const Algorithm& algorithm, const Problem& problem, const Device& gpu) {
  Product product = *find_product(algorithm);
  const Stage output = algorithm.stage(algorithm.outputs[0]);
  const std::vector<std::int64_t> extents = output_extents(algorithm, problem, output.name);
  product.columns = extents[0];
  product.rows = extents[1];
  product.terms = evaluate(*product.stage.updates[0].reduction[0].extent, algorithm, problem).value_or(1);
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
  const std::int64_t vector = 16 / product.bytes, along = is_dots ? product.terms : product.columns;
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
