#include "schedules/ring_knobs.h"

#include <utility>

#include "schedules/ring_room.h"
#include "schedules/structure.h"

namespace kiln::schedules {
namespace {

// On an H200 swapped tiles won up to 64 rows, and of two products unswapped ones from 256 on.
constexpr std::int64_t kMostSwappedRows = 128;
constexpr std::int64_t kMostWide = 256;     // of a wgmma
constexpr std::int64_t kElementBytes = 2;

using Word = const std::string&;
bool is_swapped(Word operands) { return operands == "swapped"; }
bool takes_turns(Word roles) { return roles == "pingpong"; }

std::int64_t along_tall(const RingShape& shape, Word operands) { return is_swapped(operands) ? shape.columns : shape.rows; }
std::int64_t along_wide(const RingShape& shape, Word operands) { return is_swapped(operands) ? shape.rows : shape.columns; }

std::int64_t shared_of_a_block(const Gpu& gpu, std::int64_t blocks) { return blocks == 1 ? gpu.block_shared_bytes : gpu.sm_shared_bytes / blocks - gpu.reserved_shared_bytes; }

std::int64_t shared_bytes(const RingKnobs& k, const RingShape& shape, const Point& p) {
  const bool swaps = is_swapped(p[k.operands]);
  const std::int64_t tall = p[k.tall] * (swaps ? shape.products : 1), wide = p[k.wide] * (swaps ? 1 : shape.products);
  return ring_shared_bytes({tall, wide, p[k.depth], p[k.stages], kElementBytes}, {swaps, p[k.wide], shape.output_bytes, p[k.consumers], p[k.buffers]});
}

void require_instruction(Space& space, const RingKnobs& k, const RingShape& shape) {
  space.require("rows of all matrices start at 16 bytes", [=](Word) { return shape.columns % 8 == 0 && shape.terms % 8 == 0; }, k.operands);
  space.require("few rows take the wide side", [=](Word operands) { return !is_swapped(operands) || shape.rows <= kMostSwappedRows; }, k.operands);
  space.require("two consumers take tiles in turn", [](Word roles, std::int64_t consumers) { return !takes_turns(roles) || consumers == 2; }, k.roles, k.consumers);
  space.require("each consumer of a tile has 64 of its tall side, or a multiple",
                [](Word roles, std::int64_t consumers, std::int64_t tall) { return tall % (64 * (takes_turns(roles) ? 1 : consumers)) == 0; }, k.roles, k.consumers, k.tall);
  space.require("consumers that share two products' columns have 64 of each",
                [=](Word operands, Word roles, std::int64_t consumers, std::int64_t tall) {
                  return shape.products == 1 || !is_swapped(operands) || takes_turns(roles) || consumers == 1 || tall == 64 * consumers;
                },
                k.operands, k.roles, k.consumers, k.tall);
  space.require("no tile is larger than the product",
                [=](Word operands, std::int64_t tall, std::int64_t wide) {
                  return tall <= round_up(along_tall(shape, operands), 64) && wide <= round_up(along_wide(shape, operands), is_swapped(operands) ? 8 : 64);
                },
                k.operands, k.tall, k.wide);
  const std::int64_t step = shape.terms_are_neighbours ? 16 : 64;
  space.require("columns are copied as they lie: 64 at a time where they are neighbours, else stored 16 at a time",
                [=](Word operands, std::int64_t wide) { return is_swapped(operands) || wide % step == 0; }, k.operands, k.wide);
  space.require("one wgmma takes the columns of all products, and fits the registers with which the threads of a block begin",
                [=](Word operands, std::int64_t consumers, std::int64_t wide) { return wide * (is_swapped(operands) ? 1 : shape.products) <= (consumers == 3 ? 192 : kMostWide); },
                k.operands, k.consumers, k.wide);
}

void require_room(Space& space, const RingKnobs& k, const RingShape& shape) {
  space.require("the sums of a tile stay in the registers of its consumers",
                [=](Word roles, std::int64_t consumers, std::int64_t tall, std::int64_t wide, std::int64_t blocks) {
                  return shape.products * tall * wide / (128 * (takes_turns(roles) ? 1 : consumers)) <= most_ring_sums(consumers, blocks);
                },
                k.roles, k.consumers, k.tall, k.wide, k.blocks);
  space.require("several blocks on an SM have one consumer each", [](std::int64_t consumers, std::int64_t blocks) { return blocks == 1 || consumers == 1; }, k.consumers, k.blocks);
  space.require_over("ring and store buffers fit the shared memory of a block",
                     {k.operands.index, k.consumers.index, k.tall.index, k.wide.index, k.depth.index, k.stages.index, k.buffers.index, k.blocks.index},
                     [=](const Point& p) { return shared_bytes(k, shape, p) <= shared_of_a_block(shape.gpu, p[k.blocks]); });
  space.require("deep steps are for small tiles: large ones have too few stages then",
                [=](std::int64_t tall, std::int64_t wide, std::int64_t depth) { return depth == 64 || shape.products * tall * wide <= 8192; }, k.tall, k.wide, k.depth);
}

void require_grid(Space& space, const RingKnobs& k, const RingShape& shape) {
  space.require("blocks go on to other tiles where there are more tiles than blocks at once",
                [=](Word operands, std::int64_t tall, std::int64_t wide, std::int64_t blocks, Word grid) {
                  return grid == "once" || ceil_div(along_tall(shape, operands), tall) * ceil_div(along_wide(shape, operands), wide) > shape.gpu.sms * blocks;
                },
                k.operands, k.tall, k.wide, k.blocks, k.grid);
  space.require("only who has several tiles takes turns", [](Word roles, Word grid) { return !takes_turns(roles) || grid == "persistent"; }, k.roles, k.grid);
}

// The weights on the tall side, 8 to 11 MB of them under way over the chip.
std::vector<RingWish> wishes_of_few_rows(std::int64_t rows, std::int64_t products) {
  struct Wish {
    std::int64_t consumers, tall, depth, stages, buffers, blocks;
  };
  const std::int64_t wide = round_up(rows, 8);
  const std::vector<Wish> one = {{2, 128, 128, 4, 2, 1}, {1, 128, 64, 7, 2, 1}, {1, 64, 64, 5, 2, 2}, {3, 192, 64, 6, 2, 1}, {1, 64, 128, 8, 2, 1}};
  const std::vector<Wish> two = {{2, 128, 64, 4, 2, 1}, {1, 64, 64, 4, 1, 2}, {1, 64, 128, 4, 2, 1}, {2, 128, 128, 2, 2, 1}, {1, 64, 64, 6, 2, 1}};
  std::vector<RingWish> wishes;
  for (const Wish& w : products == 1 ? one : two)
    for (const char* eviction : {"first", "normal"})
      wishes.push_back({{"operands", std::string("swapped")}, {"consumers", w.consumers}, {"tall", w.tall}, {"wide", wide}, {"depth", w.depth}, {"stages", w.stages}, {"buffers", w.buffers},
                        {"blocks", w.blocks}, {"promotion", 128}, {"eviction", std::string(eviction)}});
  return wishes;
}

// Large tiles, and results that leave while the next are computed; then tiles small enough for all SMs.
std::vector<RingWish> wishes_of_many_rows(std::int64_t products) {
  struct Wish {
    const char *roles, *grid;
    std::int64_t consumers, tall, wide, stages, buffers;
  };
  const std::vector<Wish> one = {{"pingpong", "persistent", 2, 128, 192, 4, 2},    {"pingpong", "persistent", 2, 128, 128, 6, 2}, {"cooperative", "persistent", 2, 128, 256, 4, 1},
                                 {"cooperative", "persistent", 2, 256, 128, 4, 2}, {"cooperative", "once", 2, 128, 192, 5, 1},    {"cooperative", "once", 1, 64, 128, 8, 1}};
  const std::vector<Wish> two = {{"pingpong", "persistent", 2, 128, 64, 6, 2},     {"pingpong", "persistent", 2, 128, 96, 4, 2}, {"cooperative", "persistent", 2, 256, 64, 4, 2},
                                 {"cooperative", "persistent", 2, 128, 128, 4, 1}, {"cooperative", "once", 1, 64, 64, 8, 1},     {"cooperative", "once", 2, 128, 64, 6, 2}};
  std::vector<RingWish> wishes;
  for (const Wish& w : products == 1 ? one : two)
    wishes.push_back({{"roles", std::string(w.roles)}, {"grid", std::string(w.grid)}, {"consumers", w.consumers}, {"tall", w.tall}, {"wide", w.wide}, {"stages", w.stages}, {"buffers", w.buffers},
                      {"group", 8}});
  return wishes;
}

}  // namespace

RingKnobs declare_ring_knobs(Space& space, const std::string& prefix) {
  std::vector<std::int64_t> wide;
  for (std::int64_t w = 8; w <= kMostWide; w += w < 64 ? 8 : 16) wide.push_back(w);
  return {.prefix = prefix,
          .operands = space.words(prefix + "operands", {"plain", "swapped"}),
          .roles = space.words(prefix + "roles", {"cooperative", "pingpong"}),
          .consumers = space.knob(prefix + "consumers", {1, 2, 3}),
          .tall = space.knob(prefix + "tall", {64, 128, 192, 256}),
          .wide = space.knob(prefix + "wide", wide),
          .depth = space.knob(prefix + "depth", {64, 128}),
          .stages = space.knob(prefix + "stages", {2, 3, 4, 5, 6, 7, 8}),
          .buffers = space.knob(prefix + "buffers", {1, 2}),
          .blocks = space.knob(prefix + "blocks", {1, 2}),
          .grid = space.words(prefix + "grid", {"once", "persistent"}),
          .group = space.knob(prefix + "group", {4, 8, 16}),
          .promotion = space.knob(prefix + "promotion", {64, 128, 256}),
          .eviction = space.words(prefix + "eviction", {"normal", "first"})};
}

void require_ring(Space& space, const RingKnobs& knobs, const RingShape& shape) {
  require_instruction(space, knobs, shape);
  require_room(space, knobs, shape);
  require_grid(space, knobs, shape);
}

void add_ring_kernel(Schedule& schedule, const RingKernelWords& kernel, const RingKnobs& k, const Point& p) {
  const Stage& stored = kernel.stored;
  const std::string &n = stored.loops[0], &m = stored.loops[1];
  const auto part = [&](const std::string& loop, const char* which) { return new_loop(stored, loop + which); };
  const std::string no = part(n, "o"), mo = part(m, "o"), ni = part(n, "i"), mi = part(m, "i");
  const bool swaps = is_swapped(p[k.operands]);
  Chain chain(schedule, stored.name);
  if (kernel.is_root) chain.add("compute_root");
  chain.add("tile", n, m, no, mo, ni, mi, p[swaps ? k.tall : k.wide], p[swaps ? k.wide : k.tall], "GuardWithIf").add("gpu_blocks", no, mo);
  chain.add("warps", 1, p[k.consumers], p[k.roles]);
  if (swaps) chain.add("swap_operands");
  chain.add("store_through", "shared", p[k.buffers]);
  if (p[k.blocks] > 1) chain.add("blocks_per_sm", p[k.blocks]);
  if (p[k.grid] == "persistent") chain.add("persistent");
  chain.add("raster", mo, p[k.group]);
  if (p[k.promotion] != 256)
    for (const SumOfProducts& product : kernel.products) chain.add("l2_promotion", product.columns_of, p[k.promotion]);
  if (p[k.eviction] == "first")
    for (const SumOfProducts& product : kernel.products) chain.add("evict", product.columns_of, "first");
  if (kernel.is_dependent) chain.add("dependent_launch");
  for (const SumOfProducts& product : kernel.products) {
    const std::string& terms = product.stage.updates[0].reduction[0].name;
    const std::string ko = new_loop(product.stage, terms + "o"), ki = new_loop(product.stage, terms + "i");
    Chain(schedule, product.stage.name).add("compute_at", stored.name, no);
    Chain(schedule, product.stage.name, 0).add("split", terms, ko, ki, p[k.depth]).add("stage_in", ko, "shared", p[k.stages]).add("tensorize", ki, "wgmma");
  }
}

std::vector<RingWish> ring_wishes(const RingKnobs& knobs, const RingShape& shape) {
  std::vector<RingWish> wishes;
  if (shape.rows <= kMostSwappedRows) wishes = wishes_of_few_rows(shape.rows, shape.products);
  for (RingWish& wish : wishes_of_many_rows(shape.products)) wishes.push_back(std::move(wish));
  for (RingWish& wish : wishes) {
    RingWish named;
    for (auto& [knob, value] : wish) named.emplace(knobs.prefix + knob, std::move(value));
    wish = std::move(named);
  }
  return wishes;
}

}  // namespace kiln::schedules
