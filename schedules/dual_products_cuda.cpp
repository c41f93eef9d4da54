#include "schedules/dual_products_cuda.h"

#include <algorithm>

#include "dsl/capability.h"
#include "schedules/cuda_knobs.h"
#include "schedules/dual_product.h"
#include "schedules/structure.h"

namespace kiln::schedules {
namespace {

bool is_short_float(DType type) { return type.is_float() && type.bits == 16; }

// On an H200 swapped tiles won up to 64 rows, and of two products unswapped ones from 256 on.
constexpr std::int64_t kMostSwappedRows = 128;
constexpr std::int64_t kMostWide = 256;     // of a wgmma
constexpr std::int64_t kElementBytes = 2;

struct Knobs {
  WordKnob kernels;           // "one"; "three": each product's, and one that reads what they stored
  WordKnob operands;          // "plain"; "swapped": the columns take the tall side of the instruction
  WordKnob roles;             // "cooperative", "pingpong"
  Knob consumers;             // warpgroups that multiply
  Knob tall, wide, depth;     // of a tile of results: along the instruction's 64, along its 8 to 256; terms of a step
  Knob stages, buffers;
  Knob blocks;                // that an SM holds at once
  WordKnob grid;              // "once": a block a tile; "persistent"
  Knob group;                 // tiles that come one after the other along the rows
  Knob promotion;             // bytes that L2 fetches at once
  WordKnob eviction, launch;
};

using Word = const std::string&;
bool is_one(Word kernels) { return kernels == "one"; }
bool is_swapped(Word operands) { return operands == "swapped"; }
bool takes_turns(Word roles) { return roles == "pingpong"; }

// The same for every point of a space.
struct Shape {
  std::int64_t rows = 1, columns = 1, terms = 1;
  bool terms_are_neighbours = false, can_be_apart = false;
  std::int64_t output_bytes = 2, stored_bytes = 2;  // of the output, of what a product's own kernel stores
  Gpu gpu;

  std::int64_t along_tall(Word operands) const { return is_swapped(operands) ? columns : rows; }
  std::int64_t along_wide(Word operands) const { return is_swapped(operands) ? rows : columns; }
  std::int64_t tiles(Word operands, std::int64_t tall, std::int64_t wide) const { return ceil_div(along_tall(operands), tall) * ceil_div(along_wide(operands), wide); }
  std::int64_t bytes(Word kernels) const { return is_one(kernels) ? output_bytes : stored_bytes; }
  std::int64_t shared_of_a_block(std::int64_t blocks) const { return blocks == 1 ? gpu.block_shared_bytes : gpu.sm_shared_bytes / blocks - gpu.reserved_shared_bytes; }
};

std::int64_t round_up(std::int64_t number, std::int64_t step) { return ceil_div(number, step) * step; }

// Matrices of columns that come with each step.
std::int64_t products_of(Word kernels) { return is_one(kernels) ? 2 : 1; }

// What a consumer stores at once beside 64 along the tall side: as generators/cuda/plan has it.
std::int64_t chunk_of(Word operands, std::int64_t wide, std::int64_t bytes) {
  if (is_swapped(operands)) return wide % 64 == 0 ? 64 : wide % 32 == 0 ? 32 : wide;
  for (const std::int64_t chunk : {64, 32})
    if (chunk * bytes <= 128 && wide % chunk == 0) return chunk;
  return 16;
}

// As generators/cuda/resources/ring.h counts.
std::int64_t shared_bytes(const Knobs& k, const Shape& shape, const Point& p) {
  const std::int64_t products = products_of(p[k.kernels]), bytes = shape.bytes(p[k.kernels]);
  const std::int64_t tall = p[k.tall] * (is_swapped(p[k.operands]) ? products : 1), wide = p[k.wide] * (is_swapped(p[k.operands]) ? 1 : products);
  const std::int64_t ring = p[k.stages] * (tall + wide) * p[k.depth] * kElementBytes;
  const std::int64_t store = p[k.consumers] * p[k.buffers] * 64 * chunk_of(p[k.operands], p[k.wide], bytes) * bytes;
  return round_up(ring, 1024) + round_up(store, 1024) + p[k.stages] * 16 + 1024;
}

// Sums of one thread that stay in registers, by what setmaxnreg or the launch bounds leave it: see generators/cuda/resources/registers.h.
std::int64_t most_sums(std::int64_t consumers, std::int64_t blocks) {
  if (consumers == 3) return 144;
  return blocks > 1 ? 80 : 208;
}

Knobs declare_knobs(Space& space, const Shape& shape) {
  std::vector<std::int64_t> wide;
  for (std::int64_t w = 8; w <= kMostWide; w += w < 64 ? 8 : 16) wide.push_back(w);
  return {.kernels = space.words("kernels", shape.can_be_apart ? std::vector<std::string>{"one", "three"} : std::vector<std::string>{"one"}),
          .operands = space.words("operands", {"plain", "swapped"}),
          .roles = space.words("roles", {"cooperative", "pingpong"}),
          .consumers = space.knob("consumers", {1, 2, 3}),
          .tall = space.knob("tall", {64, 128, 192, 256}),
          .wide = space.knob("wide", wide),
          .depth = space.knob("depth", {64, 128}),
          .stages = space.knob("stages", {2, 3, 4, 5, 6, 7, 8}),
          .buffers = space.knob("buffers", {1, 2}),
          .blocks = space.knob("blocks", {1, 2}),
          .grid = space.words("grid", {"once", "persistent"}),
          .group = space.knob("group", {4, 8, 16}),
          .promotion = space.knob("promotion", {64, 128, 256}),
          .eviction = space.words("eviction", {"normal", "first"}),
          .launch = space.words("launch", {"plain", "dependent"})};
}

void require_instruction(Space& space, const Knobs& k, const Shape& shape) {
  space.require("rows of all matrices start at 16 bytes", [=](Word) { return shape.columns % 8 == 0 && shape.terms % 8 == 0; }, k.operands);
  space.require("few rows take the wide side", [=](Word operands) { return !is_swapped(operands) || shape.rows <= kMostSwappedRows; }, k.operands);
  space.require("what is stored swapped has 16 bits", [=](Word kernels, Word operands) { return !is_swapped(operands) || shape.bytes(kernels) == 2; }, k.kernels, k.operands);
  space.require("two consumers take tiles in turn", [](Word roles, std::int64_t consumers) { return !takes_turns(roles) || consumers == 2; }, k.roles, k.consumers);
  space.require("each consumer of a tile has 64 of its tall side, or a multiple",
                [](Word roles, std::int64_t consumers, std::int64_t tall) { return tall % (64 * (takes_turns(roles) ? 1 : consumers)) == 0; }, k.roles, k.consumers, k.tall);
  space.require("consumers that share two products' columns have 64 of each",
                [](Word kernels, Word operands, Word roles, std::int64_t consumers, std::int64_t tall) {
                  return !is_one(kernels) || !is_swapped(operands) || takes_turns(roles) || consumers == 1 || tall == 64 * consumers;
                },
                k.kernels, k.operands, k.roles, k.consumers, k.tall);
  space.require("no tile is larger than the products",
                [=](Word operands, std::int64_t tall, std::int64_t wide) {
                  return tall <= round_up(shape.along_tall(operands), 64) && wide <= round_up(shape.along_wide(operands), is_swapped(operands) ? 8 : 64);
                },
                k.operands, k.tall, k.wide);
  const std::int64_t step = shape.terms_are_neighbours ? 16 : 64;
  space.require("columns are copied as they lie: 64 at a time where they are neighbours, else stored 16 at a time",
                [=](Word operands, std::int64_t wide) { return is_swapped(operands) || wide % step == 0; }, k.operands, k.wide);
  space.require("one wgmma takes the columns of both products, and fits the registers with which the threads of a block begin",
                [](Word kernels, Word operands, std::int64_t consumers, std::int64_t wide) {
                  return wide * (is_swapped(operands) ? 1 : products_of(kernels)) <= (consumers == 3 ? 192 : kMostWide);
                },
                k.kernels, k.operands, k.consumers, k.wide);
}

void require_room(Space& space, const Knobs& k, const Shape& shape) {
  space.require("the sums of a tile stay in the registers of its consumers",
                [=](Word kernels, Word roles, std::int64_t consumers, std::int64_t tall, std::int64_t wide, std::int64_t blocks) {
                  return products_of(kernels) * tall * wide / (128 * (takes_turns(roles) ? 1 : consumers)) <= most_sums(consumers, blocks);
                },
                k.kernels, k.roles, k.consumers, k.tall, k.wide, k.blocks);
  space.require("several blocks on an SM have one consumer each", [](std::int64_t consumers, std::int64_t blocks) { return blocks == 1 || consumers == 1; }, k.consumers, k.blocks);
  space.require_over("ring and store buffers fit the shared memory of a block",
                     {k.kernels.index, k.operands.index, k.consumers.index, k.tall.index, k.wide.index, k.depth.index, k.stages.index, k.buffers.index, k.blocks.index},
                     [=](const Point& p) { return shared_bytes(k, shape, p) <= shape.shared_of_a_block(p[k.blocks]); });
  space.require("deep steps are for small tiles: large ones have too few stages then",
                [=](Word kernels, std::int64_t tall, std::int64_t wide, std::int64_t depth) { return depth == 64 || products_of(kernels) * tall * wide <= 8192; }, k.kernels, k.tall, k.wide,
                k.depth);
}

void require_grid(Space& space, const Knobs& k, const Shape& shape) {
  space.require("blocks go on to other tiles where there are more tiles than blocks at once",
                [=](Word operands, std::int64_t tall, std::int64_t wide, std::int64_t blocks, Word grid) {
                  return grid == "once" || shape.tiles(operands, tall, wide) > shape.gpu.sms * blocks;
                },
                k.operands, k.tall, k.wide, k.blocks, k.grid);
  space.require("only who has several tiles takes turns", [](Word roles, Word grid) { return !takes_turns(roles) || grid == "persistent"; }, k.roles, k.grid);
}

// A stage whose element-wise kernel or epilogue the tiles are of, and the sums computed in it.
void add_ring(Schedule& schedule, const Stage& stored, const std::vector<SumOfProducts>& products, const Knobs& k, const Point& p, bool is_root, bool is_dependent) {
  const std::string &n = stored.loops[0], &m = stored.loops[1];
  const auto part = [&](const std::string& loop, const char* which) { return new_loop(stored, loop + which); };
  const std::string no = part(n, "o"), mo = part(m, "o"), ni = part(n, "i"), mi = part(m, "i");
  const bool swaps = is_swapped(p[k.operands]);
  Chain chain(schedule, stored.name);
  if (is_root) chain.add("compute_root");
  chain.add("tile", n, m, no, mo, ni, mi, p[swaps ? k.tall : k.wide], p[swaps ? k.wide : k.tall], "GuardWithIf").add("gpu_blocks", no, mo);
  chain.add("warps", 1, p[k.consumers], p[k.roles]);
  if (swaps) chain.add("swap_operands");
  chain.add("store_through", "shared", p[k.buffers]);
  if (p[k.blocks] > 1) chain.add("blocks_per_sm", p[k.blocks]);
  if (p[k.grid] == "persistent") chain.add("persistent");
  chain.add("raster", mo, p[k.group]);
  if (p[k.promotion] != 256) {
    chain.add("l2_promotion", products[0].rows_of, p[k.promotion]);
    for (const SumOfProducts& product : products) chain.add("l2_promotion", product.columns_of, p[k.promotion]);
  }
  if (p[k.eviction] == "first")
    for (const SumOfProducts& product : products) chain.add("evict", product.columns_of, "first");
  if (is_dependent) chain.add("dependent_launch");
  for (const SumOfProducts& product : products) {
    const std::string& terms = product.stage.updates[0].reduction[0].name;
    const std::string ko = new_loop(product.stage, terms + "o"), ki = new_loop(product.stage, terms + "i");
    Chain(schedule, product.stage.name).add("compute_at", stored.name, no);
    Chain(schedule, product.stage.name, 0).add("split", terms, ko, ki, p[k.depth]).add("stage_in", ko, "shared", p[k.stages]).add("tensorize", ki, "wgmma");
  }
}

// What reads both products, a line of elements: one vector a thread, which latency does not bind.
void add_line(Schedule& schedule, const Stage& output, std::int64_t vector, bool is_dependent) {
  constexpr std::int64_t kThreads = 256;
  const std::string line = new_loop(output, "i"), block = new_loop(output, "b"), thread = new_loop(output, "t"), lane = new_loop(output, "v");
  Chain chain(schedule, output.name);
  chain.add("fuse", output.loops[0], output.loops[1], line).add("split", line, block, line, vector * kThreads, "GuardWithIf").add("split", line, thread, lane, vector);
  chain.add("gpu_blocks", block).add("gpu_threads", thread).add("vectorize", lane);
  if (is_dependent) chain.add("dependent_launch");
}

Schedule schedule_of(const Algorithm& algorithm, const DualProduct& dual, const Shape& shape, const Knobs& k, const Point& p) {
  const Stage& output = algorithm.stage(algorithm.outputs[0]);
  const bool is_dependent = p[k.launch] == "dependent";
  Schedule schedule;
  if (is_one(p[k.kernels])) {
    add_ring(schedule, output, {dual.products[0], dual.products[1]}, k, p, false, is_dependent);
    return schedule;
  }
  add_line(schedule, output, 16 / std::max(shape.output_bytes, shape.stored_bytes), is_dependent);
  for (std::size_t i = 0; i < 2; ++i)  // the first of several kernels waits for all before it: add_memory says why
    add_ring(schedule, algorithm.stage(dual.stored[i]), {dual.products[i]}, k, p, true, is_dependent && i > 0);
  return schedule;
}

// What won on an H200 in a trial by hand, by rows. Where a wish is no point of this problem's space, nothing is added.
void seed_few_rows(Space& space, std::int64_t rows) {
  struct Wish {
    std::int64_t consumers, tall, depth, stages, buffers, blocks;
  };
  const std::int64_t wide = round_up(rows, 8);
  for (const Wish& w : {Wish{2, 128, 64, 4, 2, 1}, {1, 64, 64, 4, 1, 2}, {1, 64, 128, 4, 2, 1}, {2, 128, 128, 2, 2, 1}, {1, 64, 64, 6, 2, 1}})
    for (const char* eviction : {"first", "normal"})
      space.seed({{"operands", std::string("swapped")}, {"consumers", w.consumers}, {"tall", w.tall}, {"wide", wide}, {"depth", w.depth}, {"stages", w.stages}, {"buffers", w.buffers},
                  {"blocks", w.blocks}, {"promotion", 128}, {"eviction", std::string(eviction)}},
                 "few rows: the weights on the tall side, 8 to 11 MB of them under way");
}

void seed_many_rows(Space& space) {
  struct Wish {
    const char *roles, *grid;
    std::int64_t consumers, tall, wide, stages, buffers;
  };
  for (const Wish& w : {Wish{"pingpong", "persistent", 2, 128, 64, 6, 2}, {"pingpong", "persistent", 2, 128, 96, 4, 2}, {"cooperative", "persistent", 2, 256, 64, 4, 2},
                        {"cooperative", "persistent", 2, 128, 128, 4, 1}, {"cooperative", "once", 1, 64, 64, 8, 1}, {"cooperative", "once", 2, 128, 64, 6, 2}})
    space.seed({{"roles", std::string(w.roles)}, {"grid", std::string(w.grid)}, {"consumers", w.consumers}, {"tall", w.tall}, {"wide", w.wide}, {"stages", w.stages}, {"buffers", w.buffers}, {"group", 8}},
               "large tiles of both products, and results that leave while the next are computed");
}

void seed_three_kernels(Space& space, std::int64_t rows) {
  const auto three = std::string("three");
  space.seed({{"kernels", three}, {"operands", std::string("swapped")}, {"consumers", 2}, {"tall", 128}, {"wide", round_up(rows, 8)}, {"depth", 128}, {"stages", 4}, {"buffers", 2}, {"promotion", 128}},
             "each product as it is fast alone");
  space.seed({{"kernels", three}, {"roles", std::string("pingpong")}, {"grid", std::string("persistent")}, {"consumers", 2}, {"tall", 128}, {"wide", 192}, {"stages", 4}, {"buffers", 2}, {"group", 8}},
             "each product as it is fast alone");
  space.seed({{"kernels", three}, {"consumers", 2}, {"tall", 128}, {"wide", 192}, {"stages", 5}, {"buffers", 1}, {"group", 8}}, "each product as it is fast alone");
}

}  // namespace

bool is_dual_tensor_product(const Algorithm& algorithm, const Device& device) {
  if (!device.gpu || capability_of(*device.gpu) != kWgmma) return false;
  const auto dual = find_dual_product(algorithm);
  if (!dual) return false;
  const SumOfProducts& product = dual->products[0];
  const DType stored = algorithm.stage(algorithm.outputs[0]).types[0];
  return product.type_of_columns == product.type_of_rows && is_short_float(product.type_of_rows) && (is_short_float(stored) || stored == kFloat32);
}

Space dual_products_cuda(const Algorithm& algorithm, const Problem& problem, const Device& device) {
  const DualProduct dual = *find_dual_product(algorithm, problem);
  const SumOfProducts& product = dual.products[0];
  const bool can_be_apart = dual.can_be_apart();
  const std::int64_t stored_bytes = can_be_apart ? algorithm.stage(dual.stored[0]).types[0].bytes() : 0;
  const Shape shape{product.rows,  product.columns, product.terms, product.terms_are_neighbours, can_be_apart, algorithm.stage(algorithm.outputs[0]).types[0].bytes(),
                    stored_bytes, *device.gpu};
  Space space("dual_products_cuda");
  const Knobs k = declare_knobs(space, shape);
  require_instruction(space, k, shape);
  require_room(space, k, shape);
  require_grid(space, k, shape);
  space.schedule_as([=](const Point& p) { return schedule_of(algorithm, dual, shape, k, p); });
  if (product.rows <= kMostSwappedRows) seed_few_rows(space, product.rows);
  seed_many_rows(space);
  if (can_be_apart) seed_three_kernels(space, product.rows);
  return space;
}

}  // namespace kiln::schedules
