#include "dsl/footprint.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "dsl/boundaries.h"
#include "dsl/expression.h"
#include "dsl/footprint_interval.h"
#include "dsl/footprint_parts.h"
#include "dsl/footprint_read.h"
#include "dsl/least_traffic.h"
#include "dsl/legality.h"
#include "tests/dsl/footprint_oracle.h"
#include "tests/support/random_schedule.h"
#include "tests/support/small_algorithms.h"

namespace kiln {
namespace {

using tests::Counted;

Problem product_problem(std::int64_t m, std::int64_t n, std::int64_t k) {
  Problem problem;
  problem.operator_name = "product";
  problem.extents = {{"m", m}, {"n", n}, {"k", k}};
  problem.symbol_order = {"m", "n", "k"};
  return problem;
}

// Three stages, each of three neighbours: rows(x, y) of the input, sums(x, y) of rows, out(x, y) of sums and rows.
Algorithm stencil() {
  Algorithm algorithm = tests::blurs();
  algorithm.generator = "stencil";
  algorithm.arguments[1].type = kFloat32;
  algorithm.stages.resize(2);
  const auto stage = [&](const char* name, const char* value) {
    algorithm.stages.push_back({name, {"x", "y"}, {kFloat32}, {parse_expression(value)}, {}});
  };
  stage("rows", "(add f32 (add f32 (load f32 gray 0 (sub i32 x 1) y) (load f32 gray 0 x y)) (load f32 gray 0 (add i32 x 1) y))");
  stage("out", "(mul f32 (add f32 (add f32 (load f32 rows 0 x (sub i32 y 1)) (load f32 rows 0 x y)) (load f32 rows 0 x (add i32 y 1))) (load f32 gray 0 x y))");
  algorithm.stages[0].values = {parse_expression("(load f32 input 0 d0 d1)")};
  algorithm.stages[1].values = {parse_expression("(mul f32 (load f32 input.in 0 (add i32 x 1) (add i32 y 1)) (constant f32 2))")};
  return algorithm;
}

Problem stencil_problem(std::int64_t w, std::int64_t h) {
  Problem problem;
  problem.operator_name = "stencil";
  problem.extents = {{"input.0", w + 2}, {"input.1", h + 2}, {"out.0", w}, {"out.1", h}};
  problem.symbol_order = {"input.0", "input.1", "out.0", "out.1"};
  return problem;
}

struct LoopSums {
  std::int64_t whole = 0, swept = 0;
};

// The largest over the places where a loop stands.
void list_sums(const FootprintPart& part, std::map<std::string, LoopSums>& out) {
  for (const FootprintNode& node : part.children) {
    std::set<int> inside;
    for (const FootprintPart& inner : node.parts) {
      list_sums(inner, out);
      inside.merge(allocated_inside(inner));
    }
    if (node.name.empty()) continue;
    std::int64_t swept = 0;
    for (const auto& [buffer, count] : node.swept)
      if (!inside.contains(buffer)) swept += count;
    LoopSums& sums = out[node.name];
    sums = {std::max(sums.whole, total(node.whole)), std::max(sums.swept, swept)};
  }
}

// The closed forms against counting, element by element.
void expect_as_counted(const Algorithm& algorithm, const std::string& text, const Problem& problem) {
  SCOPED_TRACE(print(problem) + "\n" + text);
  const Schedule schedule = parse_schedule(text);
  const ClosedForms forms = read_footprint(algorithm, schedule, problem);
  ASSERT_TRUE(forms.tree) << forms.why_not;
  const Counted counted = tests::count(algorithm, schedule, problem);
  EXPECT_EQ(flops(*forms.tree), counted.flops);
  std::map<std::string, LoopSums> sums;
  list_sums(forms.tree->root, sums);
  for (const WorkingSet& set : working_sets(*forms.tree)) {
    EXPECT_EQ(iterations(*forms.tree, set.loop), counted.iterations.at(set.loop)) << set.loop;
    EXPECT_EQ(set.touched, counted.touched.at(set.loop)) << set.loop;
    EXPECT_EQ(sums.at(set.loop).whole, counted.whole.at(set.loop)) << set.loop;
    EXPECT_EQ(sums.at(set.loop).swept, counted.swept.at(set.loop)) << set.loop;
  }
  for (const FootprintBuffer& buffer : forms.tree->buffers) {
    const auto known = counted.allocated.find(buffer.name);
    if (known == counted.allocated.end()) continue;
    EXPECT_EQ(buffer.bytes, known->second) << buffer.name;
  }
  for (const std::int64_t elements : {16, 40, 100, 300, 1000}) {
    const auto crossing = traffic(*forms.tree, {elements * 4, Memory::Owner::core, 1});
    ASSERT_TRUE(crossing);
    EXPECT_GE(total(*crossing), 4 * tests::fewest_crossings(counted.trace, static_cast<std::size_t>(elements))) << elements;
    EXPECT_GE(total(*crossing), compulsory_bytes(*forms.tree)) << elements;
  }
}

std::size_t below(std::mt19937_64& random, std::size_t count) { return static_cast<std::size_t>(random() % count); }

template <typename T>
T pick(std::mt19937_64& random, std::vector<T> from) {
  return from[below(random, from.size())];
}

std::string random_product_schedule(std::mt19937_64& random) {
  const auto factor = [&] { return 2 + below(random, 4); };
  std::string text = fmt::format("y.tile(n, m, no, mo, ni, mi, {}, {}, GuardWithIf)", factor(), factor());
  text += pick<std::string>(random, {"", ".reorder(ni, mi, mo, no)", ".reorder(mi, ni, no, mo)"}) + "\n";
  const std::string place = pick<std::string>(random, {"compute_at(y, no)", "compute_at(y, mo)", "compute_root()"});
  // A stage at the outer of the two loops is computed over all of the inner one: any place that encloses the tile will do.
  text += "c." + place + "\n";
  text += fmt::format("c.update(0).split(k, ko, ki, {}).split(n, a, b, {}, GuardWithIf)", factor(), factor());
  text += pick<std::string>(random, {".reorder(ki, b, a, m, ko)", ".reorder(b, ki, m, ko, a)", ".reorder(m, b, ki, a, ko)", ""}) + "\n";
  text += pick<std::string>(random, {"", "A.in().compute_at(c, ko)\n", "B.in().compute_at(c, ko)\n", "A.in().compute_root()\n"});
  return text;
}

TEST(ClosedForms, of_random_products_are_what_counting_gives) {
  std::mt19937_64 random(tests::test_seed(1));
  for (int i = 0; i < 30 && !testing::Test::HasFailure(); ++i) {
    const auto extent = [&] { return 3 + static_cast<std::int64_t>(below(random, 7)); };
    expect_as_counted(tests::product(), random_product_schedule(random), product_problem(extent(), extent(), extent()));
  }
}

std::string random_stencil_schedule(std::mt19937_64& random) {
  const auto factor = [&] { return 2 + below(random, 4); };
  std::string text = fmt::format("out.tile(x, y, xo, yo, xi, yi, {}, {}, GuardWithIf)\n", factor(), factor());
  text += "rows." + pick<std::string>(random, {"compute_root()", "compute_at(out, xo)", "compute_at(out, yo)", "compute_at(out, yi)", "compute_inline()"}) + "\n";
  text += "gray." + pick<std::string>(random, {"compute_root()", "compute_at(out, xo)", "compute_at(out, yo)", "compute_inline()"}) + "\n";
  return text;
}

TEST(ClosedForms, of_random_stencils_are_what_counting_gives) {
  std::mt19937_64 random(tests::test_seed(2));
  const Algorithm algorithm = stencil();
  for (int counted = 0; counted < 40 && !testing::Test::HasFailure();) {
    const auto extent = [&] { return 6 + static_cast<std::int64_t>(below(random, 8)); };
    const Problem problem = stencil_problem(extent(), extent());
    const std::string schedule = random_stencil_schedule(random);
    if (find_illegal(parse_schedule(schedule), algorithm, &problem)) continue;  // gray read further out than it is computed
    expect_as_counted(algorithm, schedule, problem);
    ++counted;
  }
}

// Directives that make stages, or whose loops depend on the call.
bool has_closed_forms(const Schedule& schedule) {
  return std::none_of(schedule.directives.begin(), schedule.directives.end(), [](const Directive& directive) {
    return directive.name == "rfactor" || directive.name == "compute_with" || directive.name == "specialize" || !directive.condition.empty();
  });
}

TEST(ClosedForms, exist_for_every_legal_schedule_of_one_shape) {
  std::mt19937_64 random(tests::test_seed(3));
  const Problem product = product_problem(24, 40, 16);
  for (int counted = 0; counted < 200;) {
    const Schedule schedule = tests::random_legal_schedule(tests::product(), product, random);
    const ClosedForms forms = read_footprint(tests::product(), schedule, product);
    if (!has_closed_forms(schedule)) {
      EXPECT_NE(forms.why_not, "") << print(schedule);
      continue;
    }
    ++counted;
    ASSERT_TRUE(forms.tree) << forms.why_not << "\n" << print(schedule);
    EXPECT_GE(*flops(*forms.tree), 2.0 * 24 * 40 * 16) << print(schedule);
    EXPECT_GE(total(*traffic(*forms.tree, {1 << 20, Memory::Owner::chip, 2})), compulsory_bytes(*forms.tree)) << print(schedule);
    EXPECT_GE(peak_intermediate_bytes(*forms.tree, 2), 0) << print(schedule);
  }
}

TEST(ClosedForms, a_reason_is_given_where_there_are_none) {
  EXPECT_EQ(read_footprint(tests::product(), parse_schedule("own_schedule()"), product_problem(8, 8, 8)).why_not,
            "what own_schedule() does is known when it is lowered");
  EXPECT_EQ(read_footprint(tests::product(), parse_schedule("y.unroll(q)"), product_problem(8, 8, 8)).why_not,
            "`y.unroll(q)`: y has no loop 'q'; its loops are n, m");
  Schedule factored;
  Chain(factored, "c", 0).add("rfactor", "k");
  EXPECT_EQ(read_footprint(tests::product(), factored, product_problem(8, 8, 8)).why_not, "what c.update(0).rfactor(k) does is known when it is lowered");
  Algorithm gather = stencil();
  gather.stages[3].values = {parse_expression("(load f32 rows 0 (cast i32 (load f32 gray 0 x y)) y)")};
  EXPECT_EQ(read_footprint(gather, parse_schedule("rows.compute_root()"), stencil_problem(8, 8)).why_not,
            "how much of rows is needed along 'x' depends on values");
}

TEST(ClosedForms, parallel_tasks_share_a_core_s_memory_and_no_task_s) {
  const std::string text = "y.parallel(m)\nc.compute_at(y, m)\nc.update(0).reorder(n, k, m)\n";
  const ClosedForms forms = read_footprint(tests::product(), parse_schedule(text), product_problem(6, 8, 10));
  const std::int64_t room = 1 << 20, arguments = 4 * (60 + 80 + 48);
  EXPECT_EQ(total(*traffic(*forms.tree, {room, Memory::Owner::core, 1})), arguments);
  EXPECT_EQ(total(*traffic(*forms.tree, {room, Memory::Owner::task, 1})), arguments + 5 * 4 * 80);  // B once a row
  EXPECT_EQ(peak_intermediate_bytes(*forms.tree, 2), 2 * 4 * 8);
  EXPECT_EQ(parallel_tasks(*forms.tree), 6);
}

TEST(ClosedForms, fused_parallel_loops_are_as_many_tasks_as_the_two_were) {
  const std::string text = "y.tile(n, m, no, mo, ni, mi, 4, 2).fuse(no, mo, t).parallel(t)\nc.compute_at(y, t)\n";
  const ClosedForms forms = read_footprint(tests::product(), parse_schedule(text), product_problem(6, 8, 10));
  EXPECT_EQ(parallel_tasks(*forms.tree), 6);
  EXPECT_EQ(iterations(*forms.tree, "y.t"), 6);
  EXPECT_EQ(total(*traffic(*forms.tree, {4096, Memory::Owner::task, 1})), 4 * (2 * 60 + 3 * 80 + 48));  // A twice, B three times
}

// A window of three rows that slides down computes one new row an iteration.
TEST(ClosedForms, a_stage_stored_further_out_computes_only_what_is_new) {
  const std::string text = "rows.compute_at(out, y).store_root()\n";
  const ClosedForms forms = read_footprint(stencil(), parse_schedule(text), stencil_problem(16, 12));
  ASSERT_TRUE(forms.tree) << forms.why_not;
  EXPECT_EQ(iterations(*forms.tree, "rows.y"), 12);
  EXPECT_EQ(iterations(*read_footprint(stencil(), parse_schedule("rows.compute_at(out, y)\n"), stencil_problem(16, 12)).tree, "rows.y"), 3 * 12);
}

// The first chunk of rows reads above the input, that is nothing: the second has nothing in common with it.
TEST(ClosedForms, what_reads_nothing_shares_nothing) {
  Algorithm shifted = stencil();
  shifted.stages[3].values = {parse_expression("(select f32 (lt bool y 8) (constant f32 0) (load f32 gray 0 x (sub i32 y 8)))")};
  const ClosedForms forms = read_footprint(shifted, parse_schedule("out.split(y, yo, yi, 4)\n"), stencil_problem(8, 16));
  ASSERT_TRUE(forms.tree) << forms.why_not;
  EXPECT_EQ(iterations(*forms.tree, "out.yo"), 4);
  // Sixteen rows of the output and nine of the input, one of them read by the second chunk.
  EXPECT_EQ(total(*traffic(*forms.tree, {1 << 20, Memory::Owner::chip, 1})), (16 + 9) * 8 * 4);
}

TEST(Held, what_one_step_leaves_makes_room_for_the_next) {
  // Each iteration reads 100 bytes of a, then 60 of b; c stays.
  FootprintTree tree;
  tree.buffers = {{"a", 1000, true, false}, {"b", 600, true, false}, {"c", 8, false, false}};
  const auto step = [](int buffer, std::int64_t bytes) {
    FootprintNode node;
    node.whole = node.swept = {{buffer, bytes}, {2, 8}};
    node.parts = {{.trips = bytes, .touched = {{buffer, 1}, {2, 8}}, .direct = {{buffer, 1}, {2, 8}}, .children = {}}};
    return node;
  };
  FootprintNode loop;
  loop.name = "f.i";
  loop.whole = loop.swept = {{0, 1000}, {1, 600}, {2, 8}};
  loop.parts = {{.trips = 10, .touched = {{0, 100}, {1, 60}, {2, 8}}, .direct = {}, .children = {step(0, 100), step(1, 60)}}};
  tree.root.children = {loop};
  tree.root.touched = loop.whole;
  EXPECT_EQ(working_sets(tree), (std::vector<WorkingSet>{{"f.i", 168, 108}}));
}

TEST(LeastTraffic, of_a_product_is_that_of_the_best_tiling) {
  const Algorithm product = tests::product();
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{12, 20, 9}, {7, 7, 30}, {1, 16, 16}})
    for (const std::int64_t room : {64, 160, 400, 1000, 100000}) {
      std::int64_t least = std::numeric_limits<std::int64_t>::max();
      const auto pieces = [](std::int64_t whole, std::int64_t piece) { return (whole + piece - 1) / piece; };
      for (std::int64_t tm = 1; tm <= m; ++tm)
        for (std::int64_t tn = 1; tn <= n; ++tn)
          for (std::int64_t tk = 1; tk <= k; ++tk) {
            if (tk == 1 && 4 * (tm + tn + tm * tn) <= room) least = std::min(least, m * k * pieces(n, tn) + k * n * pieces(m, tm) + m * n);
            const std::int64_t sums = 2 * m * n * (pieces(k, tk) - 1);
            if (tn == 1 && 4 * (tm * tk + tk + tm) <= room) least = std::min(least, m * k + k * n * pieces(m, tm) + m * n + sums);
            if (tm == 1 && 4 * (tn * tk + tk + tn) <= room) least = std::min(least, k * n + m * k * pieces(n, tn) + m * n + sums);
          }
      EXPECT_EQ(least_traffic(product, product_problem(m, n, k), room).bytes, 4 * least) << m << " " << n << " " << k << " in " << room;
    }
  EXPECT_EQ(least_traffic(product, product_problem(1024, 1024, 1024), 1 << 20).because, "tiles of 342 x 763 of c");
}

TEST(LeastTraffic, of_anything_else_is_every_argument_once) {
  const LeastTraffic least = least_traffic(stencil(), stencil_problem(16, 12), 1024);
  EXPECT_EQ(least.bytes, 4 * (18 * 14 + 16 * 12));
  EXPECT_EQ(least.because, "every argument once");
}

TEST(Boundaries, are_ranked_by_what_crosses) {
  const auto schedule_of = [](const std::vector<bool>& cut) {
    return parse_schedule(std::string("out.parallel(y)\n") + (cut[0] ? "gray.compute_root().parallel(y)\n" : "") + (cut[1] ? "rows.compute_root().parallel(y)\n" : ""));
  };
  const auto ranked = rank_boundaries(stencil(), stencil_problem(32, 32), {"gray", "rows"}, schedule_of, {4096, Memory::Owner::task, 1});
  ASSERT_EQ(ranked.size(), 4u);
  EXPECT_EQ(ranked.front().kernels, (std::vector<std::string>{"out"}));
  EXPECT_TRUE(ranked.front().at_root.empty());
  for (std::size_t i = 1; i < ranked.size(); ++i) EXPECT_GE(ranked[i].traffic_bytes, ranked[i - 1].traffic_bytes);
}

Range range(const char* text, Range x) {
  return range_of(*parse_expression(text), [&](const Expression& e) { return e.name == "x" ? std::optional(x) : std::nullopt; }, {});
}

TEST(Range, follows_every_integer_operation) {
  EXPECT_EQ(range("(add i32 (mul i32 x -2) 7)", {0, 5}), (Range{-3, 7}));
  EXPECT_EQ(range("(div i32 x 4)", {-1, 9}), (Range{-1, 2}));
  EXPECT_EQ(range("(mod i32 x 4)", {9, 10}), (Range{1, 2}));
  EXPECT_EQ(range("(mod i32 x 4)", {2, 5}), (Range{0, 3}));
  EXPECT_EQ(range("(max i32 (min i32 (sub i32 x 1) 9) 0)", {0, 40}), (Range{0, 9}));
  EXPECT_EQ(range("(select i32 (lt bool x 3) (add i32 x 8) x)", {0, 5}), (Range{0, 13}));
  EXPECT_EQ(range("(max i32 (min i32 (load i32 table 0 x) 255) 0)", {0, 5}), (Range{0, 255}));
  EXPECT_EQ(range("(cast i32 (load u8 bytes 0 x))", {0, 5}), (Range{0, 255}));
  EXPECT_EQ(range("(cast u8 x)", {0, 300}), (Range{0, 255}));
  EXPECT_FALSE(range("(load i32 table 0 x)", {0, 5}).is_bounded());
}

}  // namespace
}  // namespace kiln
