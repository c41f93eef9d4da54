// Two forms. `tile`: `vectors` x `rows` accumulators stay in registers over the whole of k; column panels of B, one or more tiles wide, are copied
// once and reused by every row tile. `stream`: with a row or a few, B is read once whatever is done, so whole rows of it are streamed past sums in L1.
// A product in pairs of k has the first form alone, with panels of B whose rows lie side by side in twos: then its step is one instruction of AVX512_BF16.
// Figures quoted below: f32 1024^3, one thread, Zen 4 with AVX-512, relative to the best schedule known there.
#include "schedules/matmul_host.h"

#include <algorithm>

namespace kiln::schedules {
namespace {

// Above this many rows the sums of `stream` would be read and written more often than B.
constexpr std::int64_t kMostStreamedRows = 4;

struct Knobs {
  WordKnob form, order, parallel, tail;
  Knob lanes, vectors, rows, panel, chunks, stage_b, unroll_k, columns;
};

bool may_stream(const Contraction& product) { return product.extent_m <= kMostStreamedRows && !product.in_pairs(); }

// Row tiles of one task when the rows are cut into `chunks`.
std::int64_t tiles_per_chunk(std::int64_t extent_m, std::int64_t rows, std::int64_t chunks) { return ceil_div(ceil_div(extent_m, rows), chunks); }

Knobs declare_knobs(Space& space, const Contraction& product, const Device& device) {
  const std::int64_t lanes = lanes_of(device, product.type), narrow = vector_widths(lanes, product.extent_n).back();
  const bool few_rows = may_stream(product);
  Knobs k;
  k.form = space.words("form", few_rows ? std::vector<std::string>{"tile", "stream"} : std::vector<std::string>{"tile"});
  k.lanes = space.knob("lanes", vector_widths(lanes, product.extent_n));
  // The register tile is worth up to 1.8x: 1x12 0.74, 2x8 0.98, 4x6 1, 2x16 0.54 (spills).
  k.vectors = space.knob("vectors", at_most({1, 2, 3, 4, 5, 6, 8}, product.extent_n / narrow));
  k.rows = space.knob("rows", at_most(range(1, 16), product.extent_m));
  // Tiles side by side that share a row tile's share of A while it is in L1. Rows of 4 KiB are a page each, which the prefetcher does not cross (the
  // likely reason, not measured): two tiles bring 3 % at 1024^3 on Sapphire Rapids, eight (a panel of 2 MiB, all of L2) lose 40 %.
  k.panel = space.knob("panel", at_most({1, 2, 3, 4, 6}, product.extent_n / narrow));
  k.chunks = space.knob("chunks", at_most({1, 2, 3, 4, 6, 8, 12, 16, 24, 32}, product.extent_m));
  k.order = space.words("order", product.in_pairs() ? std::vector<std::string>{"nm"} : std::vector<std::string>{"nm", "mn"});
  k.parallel = space.words("parallel", {"n", "m", "both"});
  // Pairs that are not laid side by side once are put together at every use: 0.41 of the speed.
  k.stage_b = space.knob("stage_b", product.in_pairs() ? std::vector<std::int64_t>{1} : std::vector<std::int64_t>{0, 1});
  // Four steps at once brought nothing over two at 1024^3; eight were not timed for tiles, and take LLVM twice as long (224 against 97 ms).
  k.unroll_k = space.knob("unroll_k", at_most(few_rows ? std::vector<std::int64_t>{1, 2, 4, 8} : std::vector<std::int64_t>{1, 2, 4}, product.extent_k));
  k.columns = space.knob("columns", few_rows ? at_most({4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256}, std::max<std::int64_t>(1, product.extent_n / narrow))
                                             : std::vector<std::int64_t>{1});
  k.tail = space.words("tail", {"ShiftInwards", "RoundUp"});
  return k;
}

// A knob that the form does not read keeps its first value, so that no schedule has two points.
template <typename Kind, typename Value>
void pin(Space& space, const Knobs& k, const std::string& form, const std::string& name, Kind knob, Value first) {
  space.require("`" + name + "` is a knob of the other form", [=](const std::string& f, const Value& v) { return f != form || v == first; }, k.form, knob);
}

void require_tile(Space& space, const Contraction& product, const Knobs& k) {
  const std::int64_t n = product.extent_n, m = product.extent_m;
  const auto is_tile = [](const std::string& form) { return form == "tile"; };
  space.require("the tile must not be wider than the output",
                [=](const std::string& f, std::int64_t l, std::int64_t v) { return !is_tile(f) || l * v <= n; }, k.form, k.lanes, k.vectors);
  space.require("chunks must differ in the row tiles they hold", [=](const std::string& f, std::int64_t r, std::int64_t c) {
    return !is_tile(f) || ceil_div(ceil_div(m, r), tiles_per_chunk(m, r, c)) == c;
  }, k.form, k.rows, k.chunks);
  space.require("rows are shared out only when they are cut into chunks, columns only when they are not", [=](const std::string& f, std::int64_t c, const std::string& p) {
    return !is_tile(f) || (p == "n") == (c == 1);
  }, k.form, k.chunks, k.parallel);
  space.require("columns are shared out only when their loop is outside that of the rows",
                [=](const std::string& f, const std::string& o, const std::string& p) { return !is_tile(f) || o == "nm" || p == "m"; },
                k.form, k.order, k.parallel);
  space.require("a panel of several tiles is walked inside the loop of the rows",
                [=](const std::string& f, const std::string& o, std::int64_t w) { return !is_tile(f) || w == 1 || o == "nm"; }, k.form, k.order, k.panel);
  space.require("a panel must not be wider than the output", [=](const std::string& f, std::int64_t l, std::int64_t v, std::int64_t w) {
    return !is_tile(f) || w == 1 || l * v * (w - 1) < n;
  }, k.form, k.lanes, k.vectors, k.panel);
  const bool in_pairs = product.in_pairs();
  space.require("a panel of B is copied only where row tiles reuse it", [=](const std::string& f, std::int64_t r, std::int64_t c, const std::string& o, std::int64_t b) {
    return !is_tile(f) || b == 0 || in_pairs || (o == "nm" && tiles_per_chunk(m, r, c) > 1);
  }, k.form, k.rows, k.chunks, k.order, k.stage_b);
  space.require("RoundUp needs tiles that divide the output",
                [=](const std::string& f, std::int64_t l, std::int64_t v, std::int64_t r, const std::string& t) {
                  return !is_tile(f) || t != "RoundUp" || (n % (l * v) == 0 && m % r == 0);
                },
                k.form, k.lanes, k.vectors, k.rows, k.tail);
}

void require_stream(Space& space, const Contraction& product, const Knobs& k) {
  const std::int64_t n = product.extent_n;
  const auto is_stream = [](const std::string& form) { return form == "stream"; };
  space.require("the streamed columns must not be wider than the output",
                [=](const std::string& f, std::int64_t l, std::int64_t c) { return !is_stream(f) || l * c <= n; }, k.form, k.lanes, k.columns);
  space.require("RoundUp needs columns that divide the output", [=](const std::string& f, std::int64_t l, std::int64_t c, const std::string& t) {
    return !is_stream(f) || t != "RoundUp" || n % (l * c) == 0;
  }, k.form, k.lanes, k.columns, k.tail);
}

void constrain(Space& space, const Contraction& product, const Device& device, const Knobs& k) {
  require_tile(space, product, k);
  require_stream(space, product, k);
  const auto first = [&](Knob knob) { return std::get<std::int64_t>(space.knobs()[knob.index].values[0]); };
  pin(space, k, "stream", "vectors", k.vectors, first(k.vectors));
  pin(space, k, "stream", "rows", k.rows, first(k.rows));
  pin(space, k, "stream", "panel", k.panel, first(k.panel));
  pin(space, k, "stream", "chunks", k.chunks, first(k.chunks));
  pin(space, k, "stream", "stage_b", k.stage_b, first(k.stage_b));
  pin<WordKnob, std::string>(space, k, "stream", "order", k.order, "nm");
  pin<WordKnob, std::string>(space, k, "stream", "parallel", k.parallel, "n");
  pin(space, k, "tile", "columns", k.columns, first(k.columns));
  // All sums, and the vectors of the shorter side of one step: 4x7 and 2x15 of 32 registers still run at 0.99, 2x16 at 0.54.
  space.limit("vector registers for the sums and one step's operands", device.vector_registers,
              [](const std::string& f, std::int64_t v, std::int64_t r) { return f == "tile" ? v * r + std::min(v, r) : std::int64_t{1}; },
              k.form, k.vectors, k.rows);
}

struct Names {
  std::string n, m, no, mo, ni, mi, panel, chunk, task, k, ko, ki;
};

Names names_of(const Contraction& product) {
  const auto fresh = [&](const std::string& name) {
    return new_name(name, {product.output_n, product.output_m, product.product_n, product.product_m, product.k});
  };
  const std::string &n = product.output_n, &m = product.output_m;
  return {n, m, fresh(n + "o"), fresh(m + "o"), fresh(n + "i"), fresh(m + "i"), fresh(n + "p"), fresh(m + "c"), fresh("task"), product.k, fresh("ko"), fresh("ki")};
}

void vectorize(Chain chain, const std::string& loop, std::int64_t lanes) {
  if (lanes > 1) chain.add("vectorize", loop, lanes);
}

// The loop over whatever shares one copy of B: single tile columns, or panels of several.
const std::string& columns_loop(const Names& l, const Knobs& k, const Point& p) { return p[k.panel] > 1 ? l.panel : l.no; }

// Output: tile, order of the tile loops, which of them runs in parallel.
void schedule_output(Schedule& schedule, const Contraction& product, const Names& l, const Knobs& k, const Point& p) {
  const std::int64_t chunk = p[k.chunks] > 1 ? tiles_per_chunk(product.extent_m, p[k.rows], p[k.chunks]) : 0;
  Chain output(schedule, product.output);
  output.add("tile", l.n, l.m, l.no, l.mo, l.ni, l.mi, p[k.lanes] * p[k.vectors], p[k.rows], p[k.tail]);
  // Whole tiles are left out at the end of the last panel and of the last chunk; within a tile nothing is guarded.
  if (p[k.panel] > 1) output.add("split", l.no, l.panel, l.no, p[k.panel], "GuardWithIf");
  if (chunk > 0) output.add("split", l.mo, l.chunk, l.mo, chunk, "GuardWithIf");
  std::vector<std::string> loops = {l.ni, l.mi};
  if (p[k.panel] > 1) {
    loops.insert(loops.end(), {l.no, l.mo, l.panel});
  } else if (p[k.order] == "nm") {
    loops.insert(loops.end(), {l.mo, l.no});
  } else {
    loops.insert(loops.end(), {l.no, l.mo});
  }
  if (chunk > 0) loops.push_back(l.chunk);
  output.add("reorder", loops);
  if (p[k.parallel] == "both") {
    output.add("fuse", columns_loop(l, k, p), l.chunk, l.task).add("parallel", l.task);
  } else {
    output.add("parallel", p[k.parallel] == "n" ? columns_loop(l, k, p) : l.chunk);
  }
  vectorize(output, l.ni, p[k.lanes]);
  output.add("unroll", l.ni).add("unroll", l.mi);
}

// The steps of k around the tile. Those of a pair are lanes that Halide adds up within each sum: what it matches with a dot product.
void schedule_sum(Schedule& schedule, const Contraction& product, const Names& l, const Knobs& k, const Point& p) {
  Chain sum(schedule, product.product, 0);
  if (p[k.unroll_k] > 1) sum.add("split", l.k, l.ko, l.ki, p[k.unroll_k]);
  std::vector<std::string> loops;
  if (product.in_pairs()) loops.push_back(product.pair);
  loops.insert(loops.end(), {product.product_n, product.product_m});
  if (p[k.unroll_k] > 1) {
    loops.insert(loops.end(), {l.ki, l.ko});
  } else {
    loops.push_back(l.k);
  }
  sum.add("reorder", loops);
  if (product.in_pairs()) sum.add("atomic").add("vectorize", product.pair);
  vectorize(sum, product.product_n, p[k.lanes]);
  sum.add("unroll", product.product_n).add("unroll", product.product_m);
  if (p[k.unroll_k] > 1) sum.add("unroll", l.ki);
}

Schedule tile_form(const Contraction& product, const std::string& b, const Knobs& k, const Point& p) {
  const Names l = names_of(product);
  Schedule schedule;
  schedule_output(schedule, product, l, k, p);
  // Unrolling both loops is what keeps the sums in registers: without it 0.24.
  Chain init(schedule, product.product);
  init.add("compute_at", product.output, p[k.order] == "nm" && p[k.panel] == 1 ? l.mo : l.no);
  vectorize(init, product.product_n, p[k.lanes]);
  init.add("unroll", product.product_n).add("unroll", product.product_m);
  schedule_sum(schedule, product, l, k, p);
  if (p[k.stage_b] == 1) {
    Chain panel(schedule, b);
    panel.add("compute_at", product.output, p[k.parallel] == "both" ? l.task : columns_loop(l, k, p));
    // Both rows of a pair at once: their stores alternate and become one.
    if (product.in_pairs()) panel.add("unroll", product.b_pair);
    vectorize(panel, product.b_inner, p[k.lanes]);
  }
  return schedule;
}

Schedule stream_form(const Contraction& product, const Knobs& k, const Point& p) {
  const Names l = names_of(product);
  Schedule schedule;
  Chain output(schedule, product.output);
  output.add("split", l.n, l.no, l.ni, p[k.lanes] * p[k.columns], p[k.tail]).add("reorder", l.ni, l.m, l.no).add("parallel", l.no);
  vectorize(output, l.ni, p[k.lanes]);
  Chain init(schedule, product.product);
  init.add("compute_at", product.output, l.no);
  vectorize(init, product.product_n, p[k.lanes]);
  Chain sum(schedule, product.product, 0);
  if (p[k.unroll_k] > 1) {
    sum.add("split", l.k, l.ko, l.ki, p[k.unroll_k]).add("reorder", l.ki, product.product_n, l.ko, product.product_m);
  } else {
    sum.add("reorder", product.product_n, l.k, product.product_m);
  }
  vectorize(sum, product.product_n, p[k.lanes]);
  if (p[k.unroll_k] > 1) sum.add("unroll", l.ki);
  return schedule;
}

// bf16 1024^3, one thread, Zen 4: tiles of 2 vectors x 8 or 10 rows reach 214 GFLOP/s, 1.9 times the best of f32; wider ones 0.3 to 0.4 of that. Sapphire
// Rapids starts one such dot product in two cycles and two f32 FMAs in one: 86 against 175 GFLOP/s a core from registers, so pairs lose there.
void add_pair_seeds(Space& space, std::int64_t lanes, bool many) {
  const std::vector<std::int64_t> rows = many ? std::vector<std::int64_t>{8, 10} : std::vector<std::int64_t>{4, 6};
  for (const std::int64_t r : rows) space.seed({{"lanes", lanes}, {"vectors", 2}, {"rows", r}}, "hand schedule for pairs at 1024^3");
  if (space.seeds().empty()) space.seed({{"lanes", lanes}}, "narrowest tile");
}

// Measured by hand on Zen 4 with AVX-512 against OpenBLAS: 1.05x its better kernels at 1024^3, within 2 % for 2 vectors x 8 rows. Panels of two
// tiles with two steps of k at once bring 3 % on Sapphire Rapids. Devices with 16 registers hold half the sums: 2 vectors x 6 rows.
void add_seeds(Space& space, const Contraction& product, const Device& device) {
  const std::int64_t lanes = lanes_of(device, product.type);
  const bool many = device.vector_registers >= 32;
  if (product.in_pairs()) {
    add_pair_seeds(space, lanes, many);
    return;
  }
  const std::int64_t panel = product.extent_m > 6 ? 1 : 0;
  if (may_stream(product)) {
    for (const std::int64_t columns : {64, 32}) {
      space.seed({{"form", "stream"}, {"lanes", lanes}, {"unroll_k", 4}, {"columns", columns}}, "hand schedule for one row");
    }
  }
  const std::map<std::string, KnobValue> tile = {{"lanes", lanes}, {"vectors", many ? 4 : 2}, {"rows", 6}, {"stage_b", panel}};
  std::map<std::string, KnobValue> other = tile, two_tiles = tile;
  if (!space.seed(tile, "hand schedule for 1024^3")) space.seed({{"lanes", lanes}}, "narrowest tile");
  two_tiles["unroll_k"] = 2;
  two_tiles["panel"] = 2;
  space.seed(two_tiles, "hand schedule for 1024^3, two tiles a panel and two steps of k at once");
  other["vectors"] = 2;
  other["rows"] = many ? 8 : 4;
  space.seed(other, "second hand schedule for 1024^3");
  std::map<std::string, KnobValue> rows_shared = two_tiles;
  rows_shared["chunks"] = 2;
  rows_shared["parallel"] = "m";
  space.seed(rows_shared, "hand schedule with the rows shared out");
}

}  // namespace

Space matmul_host(const Contraction& product, const std::string& b_reference, const Device& device) {
  Space space("matmul_host");
  const Knobs knobs = declare_knobs(space, product, device);
  constrain(space, product, device, knobs);
  space.schedule_as([=](const Point& p) {
    return p[knobs.form] == "tile" ? tile_form(product, b_reference, knobs, p) : stream_form(product, knobs, p);
  });
  add_seeds(space, product, device);
  return space;
}

}  // namespace kiln::schedules
