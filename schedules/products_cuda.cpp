#include "schedules/products_cuda.h"

#include <algorithm>

#include "dsl/float8_pattern.h"
#include "dsl/capability.h"
#include "dsl/numerics.h"
#include "schedules/structure.h"
#include "schedules/ring_room.h"
#include "schedules/sum_of_products.h"

namespace kiln::schedules {
namespace {

bool is_short_float(DType type) { return type.is_float() && type.bits == 16; }

// Rows from which on the tall side of the instruction is full without exchanging the operands, and then some: on an H200 unswapped tiles won from 64 on.
constexpr std::int64_t kMostSwappedRows = 128;

struct Knobs {
  WordKnob operands;          // "plain"; "swapped": the columns take the tall side of the instruction
  WordKnob roles;             // "cooperative", "pingpong"
  Knob consumers;             // warpgroups that multiply
  Knob tall, wide, depth;     // of a tile: along the instruction's 64, along its 8 to 256; terms of a step
  Knob stages, buffers;
  WordKnob sums;              // "plain": where the contract lets the tensor cores keep sums of codes; else "promoted"
  Knob parts;                 // blocks that share the terms of a tile
  Knob blocks;                // that an SM holds at once
  WordKnob grid;              // "once": a block a tile; "persistent"
  Knob group;                 // tiles that come one after the other along the rows
  Knob promotion;             // bytes that L2 fetches at once
  WordKnob eviction, launch;
};

// The same for every point of a space.
struct Shape {
  std::int64_t rows = 1, columns = 1, terms = 1;
  bool terms_are_neighbours = false;
  std::int64_t element_bytes = 2, output_bytes = 2, sms = 1, shared_bytes = 0, sm_shared_bytes = 0, reserved_bytes = 0;

  std::int64_t along_tall(bool is_swapped) const { return is_swapped ? columns : rows; }
  std::int64_t along_wide(bool is_swapped) const { return is_swapped ? rows : columns; }
  std::int64_t tiles(bool is_swapped, std::int64_t tall, std::int64_t wide) const { return ceil_div(along_tall(is_swapped), tall) * ceil_div(along_wide(is_swapped), wide); }
  bool may_keep_sums = false;
  bool is_of_codes() const { return element_bytes == 1; }           // whose sums of 128 terms are added up outside the tensor cores, if promoted
  std::int64_t line() const { return 128 / element_bytes; }         // terms
  std::int64_t shared_of_a_block(std::int64_t blocks) const { return blocks == 1 ? shared_bytes : sm_shared_bytes / blocks - reserved_bytes; }
};

Knobs declare_knobs(Space& space, const Shape& shape) {
  std::vector<std::int64_t> wide;
  for (std::int64_t w = 8; w <= 256; w += w < 64 ? 8 : 16) wide.push_back(w);
  Knobs k{.operands = space.words("operands", {"plain", "swapped"}),
          .roles = space.words("roles", {"cooperative", "pingpong"}),
          .consumers = space.knob("consumers", {1, 2, 3}),
          .tall = space.knob("tall", {64, 128, 192, 256}),
          .wide = space.knob("wide", wide),
          .depth = space.knob("depth", {shape.line(), 2 * shape.line()}),
          .stages = space.knob("stages", {2, 3, 4, 5, 6, 7, 8, 9, 10}),
          .buffers = space.knob("buffers", {1, 2, 4}),
          .sums = space.words("sums", shape.may_keep_sums ? std::vector<std::string>{"plain", "promoted"} : std::vector<std::string>{"promoted"}),
          .parts = space.knob("parts", {1, 2, 3, 4, 8}),
          .blocks = space.knob("blocks", {1, 2}),
          .grid = space.words("grid", {"once", "persistent"}),
          .group = space.knob("group", {1, 4, 8, 16}),
          .promotion = space.knob("promotion", {64, 128, 256}),
          .eviction = space.words("eviction", {"normal", "first"}),
          .launch = space.words("launch", {"plain", "dependent"})};
  return k;
}

using Word = const std::string&;
bool is_swapped(Word operands) { return operands == "swapped"; }
bool takes_turns(Word roles) { return roles == "pingpong"; }

void require_instruction(Space& space, const Knobs& k, const Shape& shape) {
  space.require("rows of all matrices start at 16 bytes",
                [=](Word) { return shape.columns % (16 / shape.output_bytes) == 0 && (shape.terms_are_neighbours || shape.columns % 8 == 0) && shape.terms % (16 / shape.element_bytes) == 0; },
                k.operands);
  space.require("terms of 8-bit floats are neighbours in both", [=](Word) { return !shape.is_of_codes() || shape.terms_are_neighbours; }, k.operands);
  space.require("consumers in turn leave the waits of promoted sums unfilled", [=](Word roles, Word sums) { return !shape.is_of_codes() || sums == "plain" || !takes_turns(roles); }, k.roles, k.sums);
  space.require("few rows take the wide side", [=](Word operands) { return !is_swapped(operands) || shape.rows <= kMostSwappedRows; }, k.operands);
  space.require("two consumers take tiles in turn", [](Word roles, std::int64_t consumers) { return !takes_turns(roles) || consumers == 2; }, k.roles, k.consumers);
  space.require("each consumer of a tile has 64 of its tall side, or a multiple",
                [](Word roles, std::int64_t consumers, std::int64_t tall) { return tall % (64 * (takes_turns(roles) ? 1 : consumers)) == 0; }, k.roles, k.consumers, k.tall);
  space.require("no tile is larger than the product",
                [=](Word operands, std::int64_t tall, std::int64_t wide) {
                  return tall <= round_up(shape.along_tall(is_swapped(operands)), 64) && wide <= round_up(shape.along_wide(is_swapped(operands)), is_swapped(operands) ? 8 : 64);
                },
                k.operands, k.tall, k.wide);
  const std::int64_t step = shape.terms_are_neighbours ? 16 : 64;
  space.require("columns are copied as they lie: 64 at a time where they are neighbours, else stored 16 at a time",
                [=](Word operands, std::int64_t wide) { return is_swapped(operands) || wide % step == 0; }, k.operands, k.wide);
  space.require("a wgmma fits the registers with which the threads of a block begin", [](std::int64_t consumers, std::int64_t wide) { return consumers < 3 || wide <= 192; }, k.consumers,
                k.wide);
}

void require_room(Space& space, const Knobs& k, const Shape& shape) {
  space.require("the sums of a tile stay in the registers of its consumers",
                [=](Word roles, std::int64_t consumers, std::int64_t tall, std::int64_t wide, std::int64_t blocks, Word sums) {
                  const std::int64_t temporaries = shape.is_of_codes() && sums != "plain" ? wide / 2 : 0;
                  return tall * wide / (128 * (takes_turns(roles) ? 1 : consumers)) + temporaries <= most_ring_sums(consumers, blocks);
                },
                k.roles, k.consumers, k.tall, k.wide, k.blocks, k.sums);
  space.require("several blocks on an SM have one consumer each", [](std::int64_t consumers, std::int64_t blocks) { return blocks == 1 || consumers == 1; }, k.consumers, k.blocks);
  space.require("ring and store buffers fit the shared memory of a block",
                [=](Word operands, std::int64_t tall, std::int64_t wide, std::int64_t depth, std::int64_t stages, std::int64_t consumers, std::int64_t buffers, std::int64_t blocks) {
                  const RingStore store{is_swapped(operands), wide, shape.output_bytes, consumers, buffers};
                  return ring_shared_bytes({tall, wide, depth, stages, shape.element_bytes}, store) <= shape.shared_of_a_block(blocks);
                },
                k.operands, k.tall, k.wide, k.depth, k.stages, k.consumers, k.buffers, k.blocks);
  space.require("deep steps are for small tiles: large ones have too few stages then", [=](std::int64_t tall, std::int64_t wide, std::int64_t depth) { return depth == shape.line() || tall * wide <= (shape.is_of_codes() ? 16384 : 8192); },
                k.tall, k.wide, k.depth);
}

void require_grid(Space& space, const Knobs& k, const Shape& shape) {
  const auto tiles = [=](Word operands, std::int64_t tall, std::int64_t wide) { return shape.tiles(is_swapped(operands), tall, wide); };
  space.require("blocks go on to other tiles where there are more tiles than blocks at once",
                [=](Word operands, std::int64_t tall, std::int64_t wide, std::int64_t blocks, Word grid) { return grid == "once" || tiles(operands, tall, wide) > shape.sms * blocks; },
                k.operands, k.tall, k.wide, k.blocks, k.grid);
  space.require("only who has several tiles takes turns", [](Word roles, Word grid) { return !takes_turns(roles) || grid == "persistent"; }, k.roles, k.grid);
  space.require("parts of a tile meet once, and all consumers at it", [](Word roles, Word grid, std::int64_t parts) { return parts == 1 || (grid == "once" && !takes_turns(roles)); }, k.roles,
                k.grid, k.parts);
  space.require("terms are split where tiles leave SMs without work",
                [=](Word operands, std::int64_t tall, std::int64_t wide, std::int64_t parts) { return parts == 1 || tiles(operands, tall, wide) * parts <= shape.sms + shape.sms / 4; },
                k.operands, k.tall, k.wide, k.parts);
  space.require("each part has four steps or more", [=](std::int64_t depth, std::int64_t parts) { return parts == 1 || shape.terms >= 4 * parts * depth; }, k.depth, k.parts);
  space.require("the sums of a tile fit where the ring was",
                [=](std::int64_t tall, std::int64_t wide, std::int64_t depth, std::int64_t stages, std::int64_t parts) {
                  return parts == 1 || 4 * tall * wide <= stages * (tall + wide) * depth * shape.element_bytes;
                },
                k.tall, k.wide, k.depth, k.stages, k.parts);
}

Schedule schedule_of(const Stage& output, const SumOfProducts& product, const Knobs& k, const Point& p) {
  const std::string &n = output.loops[0], &m = output.loops[1], &terms = product.stage.updates[0].reduction[0].name;
  const auto part = [&](const std::string& loop, const char* which) { return new_loop(output, loop + which); };
  const std::string no = part(n, "o"), mo = part(m, "o"), ni = part(n, "i"), mi = part(m, "i"), ko = new_loop(product.stage, terms + "o"), ki = new_loop(product.stage, terms + "i");
  const bool swaps = is_swapped(p[k.operands]);
  Schedule schedule;
  Chain chain(schedule, output.name);
  chain.add("tile", n, m, no, mo, ni, mi, p[swaps ? k.tall : k.wide], p[swaps ? k.wide : k.tall], "GuardWithIf").add("gpu_blocks", no, mo);
  chain.add("warps", 1, p[k.consumers], p[k.roles]);
  if (swaps) chain.add("swap_operands");
  chain.add("store_through", "shared", p[k.buffers]);
  if (p[k.blocks] > 1) chain.add("blocks_per_sm", p[k.blocks]);
  if (p[k.grid] == "persistent") chain.add("persistent");
  chain.add("raster", mo, p[k.group]);
  if (p[k.promotion] != 256) chain.add("l2_promotion", product.rows_of, p[k.promotion]).add("l2_promotion", product.columns_of, p[k.promotion]);
  if (p[k.eviction] == "first") chain.add("evict", product.columns_of, "first");
  if (p[k.launch] == "dependent") chain.add("dependent_launch");
  Chain(schedule, product.stage.name).add("compute_at", output.name, no);
  Chain sum(schedule, product.stage.name, 0);
  sum.add("split", terms, ko, ki, p[k.depth]).add("stage_in", ko, "shared", p[k.stages]);
  if (p[k.sums] == "plain") sum.add("tensorize", ki, "wgmma", "plain");
  else sum.add("tensorize", ki, "wgmma");
  if (p[k.parts] > 1) sum.add("split_reduction", ko, p[k.parts], "fixed");
  return schedule;
}

// What won on an H200 in a trial by hand, by rows. Where a wish is no point of this problem's space, nothing is added.
void seed_few_rows(Space& space, std::int64_t rows) {
  struct Wish {
    std::int64_t consumers, tall, depth, stages, blocks;
  };
  const std::int64_t wide = round_up(rows, 8);
  for (const Wish& w : {Wish{2, 128, 128, 4, 1}, {1, 128, 128, 4, 1}, {1, 128, 64, 7, 1}, {1, 64, 64, 5, 2}, {3, 192, 64, 6, 1}, {1, 64, 128, 8, 1}})
    for (const char* eviction : {"first", "normal"})
      space.seed({{"operands", std::string("swapped")}, {"consumers", w.consumers}, {"tall", w.tall}, {"wide", wide}, {"depth", w.depth}, {"stages", w.stages}, {"buffers", 2}, {"blocks", w.blocks},
                  {"promotion", 128}, {"eviction", std::string(eviction)}},
                 "few rows: the weights on the tall side, 8 to 11 MB of them under way");
}

void seed_some_rows(Space& space) {
  struct Wish {
    std::int64_t consumers, tall, wide, stages;
  };
  for (const Wish& w : {Wish{1, 64, 192, 6}, {1, 64, 96, 7}, {2, 128, 96, 7}, {1, 64, 128, 8}, {2, 128, 192, 5}, {2, 128, 64, 8}})
    space.seed({{"consumers", w.consumers}, {"tall", w.tall}, {"wide", w.wide}, {"stages", w.stages}, {"buffers", 1}, {"promotion", 128}, {"group", 8}}, "tiles just enough for all SMs");
  for (const std::int64_t parts : {2, 4})
    space.seed({{"consumers", 2}, {"tall", 128}, {"wide", 128}, {"stages", 6}, {"buffers", 2}, {"parts", parts}, {"group", 8}}, "few tiles and many terms");
}

void seed_many_rows(Space& space) {
  struct Wish {
    const char* roles;
    std::int64_t tall, wide, stages, buffers;
  };
  for (const Wish& w : {Wish{"pingpong", 128, 192, 4, 2}, {"pingpong", 128, 128, 6, 2}, {"cooperative", 128, 256, 4, 1}, {"cooperative", 256, 192, 3, 2}, {"cooperative", 128, 192, 5, 1}, {"cooperative", 256, 128, 4, 2}})
    space.seed({{"roles", std::string(w.roles)}, {"consumers", 2}, {"tall", w.tall}, {"wide", w.wide}, {"stages", w.stages}, {"buffers", w.buffers}, {"grid", std::string("persistent")}, {"group", 8}},
               "large tiles, and results that leave while the next are computed");
}

}  // namespace

bool is_tensor_product(const Algorithm& algorithm, const Device& device) {
  if (!device.gpu || capability_of(*device.gpu) != kWgmma) return false;
  const auto product = find_sum_of_products(algorithm);
  if (!product || product->type_of_columns != product->type_of_rows || !(is_short_float(product->type_of_rows) || product->is_of_codes)) return false;
  const Stage& output = algorithm.stage(algorithm.outputs[0]);
  const auto code = match_encode_float8(*output.values[0]);
  return is_short_float(output.types[0]) || output.types[0] == kFloat32 || (code && code->format.name == kE4M3FN.name);
}

Space products_cuda(const Algorithm& algorithm, const Problem& problem, const Device& device) {
  const SumOfProducts product = *find_sum_of_products(algorithm, problem);
  const Stage output = algorithm.stage(algorithm.outputs[0]);
  const Gpu& gpu = *device.gpu;
  const Shape shape{product.rows, product.columns, product.terms, product.terms_are_neighbours, product.type_of_rows.bytes(), output.types[0].bytes(), gpu.sms, gpu.block_shared_bytes, gpu.sm_shared_bytes,
                    gpu.reserved_shared_bytes, product.is_of_codes && most_allowed(algorithm.contract) >= NumericsEffect::approximates};
  Space space(kProducts);
  const Knobs k = declare_knobs(space, shape);
  require_instruction(space, k, shape);
  require_room(space, k, shape);
  require_grid(space, k, shape);
  space.schedule_as([=](const Point& p) { return schedule_of(output, product, k, p); });
  if (product.rows <= 64) seed_few_rows(space, product.rows);
  seed_some_rows(space);
  seed_many_rows(space);
  return space;
}

}  // namespace kiln::schedules
