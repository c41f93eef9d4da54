// Every space over the shipped operators: each point drawn from it is a schedule that prints, parses back and is legal.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "dsl/legality.h"
#include "dsl/problem.h"
#include "dsl/read_algorithm.h"
#include "generators/operators/operators.h"
#include "schedules/devices.h"
#include "schedules/sketch.h"
#include "schedules/spaces.h"

namespace kiln::schedules {
namespace {

constexpr const char* kTarget = "x86-64-linux-sse41-avx-avx2-f16c-fma-no_runtime";

struct Case {
  Algorithm algorithm;
  Problem problem;
};

Case read(const std::string& text) {
  static const std::vector<std::string> kOperators = generators::shipped_operators();
  const ProblemText parsed = parse_problem_text(text);
  const OperatorSignature signature = signature_of(parsed.operator_name, kTarget);
  Case result;
  result.algorithm = read_algorithm(parsed.operator_name, params_of(parsed, signature.default_params, signature.type_param), kTarget);
  result.problem = resolve(parsed, result.algorithm);
  return result;
}

// Extents of 1, primes, one more and one less than tiles, and the sizes that applications call.
const std::vector<std::string> kProblems = {
    "matmul(m=256, n=1024, k=1024, epilogue=silu)", "matmul(m=1, n=1024, k=1024, epilogue=silu)", "matmul(m=1536, n=1024, k=1024)",
    "matmul(m=97, n=101, k=103, epilogue=relu)", "matmul(m=7, n=65, k=1)", "matmul(m=1, n=1, k=1)", "matmul(m=5, n=1, k=13)", "matmul(m=2, n=63, k=31)",
    "swiglu(m=256, n=4096)", "swiglu(m=1, n=1)", "swiglu(m=13, n=1009)", "swiglu(m=1, n=12288)",
    "matmul(m=256, n=1024, k=1024, bf16)", "matmul(m=256, n=1024, k=1024, bf16, pairs=true, epilogue=gelu)", "matmul(m=1, n=1, k=2, bf16, pairs=true)",
    "matmul(m=97, n=101, k=106, bf16, pairs=true, has_bias=true)", "matmul(m=3, n=1024, k=64, bf16, pairs=true, output=f32)",
    "matmul(m=64, n=128, k=256, bf16, weights=kn)", "matmul(m=13, n=101, k=103, weights=kn, has_bias=true, has_residual=true)", "matmul_fp8(m=13, n=101, k=103)",
    "ffn(m=64, h=64, n=128, k=64, bf16)", "ffn(m=13, h=31, n=101, k=103, weights=kn)", "ffn(m=1, h=1, n=1, k=1)",
    "matmul_swiglu(m=64, n=128, k=256, bf16)", "matmul_swiglu(m=13, n=101, k=103, weights=kn)", "matmul_swiglu(m=1, n=1, k=1, products=f32)",
    "rmsnorm(m=256, n=4096)", "rmsnorm(m=1, n=1)", "rmsnorm(m=13, n=101)",
    "softmax(m=256, n=4096)", "softmax(m=1, n=1)", "softmax(m=13, n=101)", "softmax(m=1, n=32000)",
    "swiglu(m=256, n=4096, bf16)", "rmsnorm(m=256, n=4096, bf16)", "softmax(m=13, n=101, f16)",
    "swiglu_quant(m=256, n=4096, bf16)", "swiglu_quant(m=1, n=1)", "swiglu_quant(m=13, n=101, scale=row)",
    "matvec(m=1, n=4096, k=4096, bf16)", "matvec(m=8, n=101, k=103, bf16, weights=kn)", "matvec(m=1, n=1, k=1, weights=kn)",
    "transpose(m=1024, n=4096)", "transpose(m=1, n=1, u8)", "transpose(m=13, n=101, bf16)",
    "conv(co=64, ci=64, w=96, h=64)", "conv(co=1, ci=1, w=1, h=1)", "conv(co=13, ci=7, w=31, h=17)",
    "unsharp(w=1536, h=1024, c=3)", "unsharp(w=1, h=1, c=3)", "unsharp(w=67, h=37, c=3)"};

std::string fault_of(const Legality& legality, const Schedule& schedule) {
  const std::string text = print(schedule);
  if (print(parse_schedule(text)) != text) return "does not print as it parses:\n" + text;
  if (!(parse_schedule(text) == schedule)) return "parses as another schedule:\n" + text;
  if (const auto illegal = legality.find_illegal(schedule)) return illegal->message + "\n" + text;
  return "";
}

class ShippedSpaces : public testing::TestWithParam<std::string> {};

TEST_P(ShippedSpaces, every_point_drawn_is_a_legal_schedule_and_points_differ_in_theirs) {
  const Case c = read(GetParam());
  const Legality legality(c.algorithm, &c.problem);
  for (const char* name : {"x86-64-v2", "x86-64-v3", "zen4"}) {
    const std::optional<Space> space = space_for(c.algorithm, c.problem, device_named(name));
    ASSERT_TRUE(space.has_value());
    ASSERT_EQ(space->unsatisfiable(), std::nullopt) << name;
    ASSERT_FALSE(space->seeds().empty()) << name;
    for (const Seed& seed : space->seeds()) EXPECT_EQ(fault_of(legality, space->schedule(seed.point)), "") << seed.origin;
    std::map<std::string, Point> by_text;
    Random random(17);
    for (int i = 0; i < 200; ++i) {
      const Point point = space->sample(random);
      const Schedule schedule = space->schedule(point);
      ASSERT_EQ(fault_of(legality, schedule), "") << name << ": " << print(point);
      const auto [other, is_new] = by_text.emplace(print(schedule), point);
      if (space->name() != "sketch") {
        EXPECT_TRUE(is_new || other->second == point) << print(other->second) << "\n" << print(point);
      }
    }
  }
}

TEST_P(ShippedSpaces, the_sketch_serves_them_too) {
  const Case c = read(GetParam());
  const Legality legality(c.algorithm, &c.problem);
  for (const char* name : {"x86-64-v3", "zen4"}) {
    const Space space = sketch(c.algorithm, c.problem, device_named(name));
    ASSERT_EQ(space.unsatisfiable(), std::nullopt);
    ASSERT_FALSE(space.seeds().empty());
    Random random(19);
    for (int i = 0; i < 150; ++i) {
      const Point point = space.sample(random);
      ASSERT_EQ(fault_of(legality, space.schedule(point)), "") << print(point);
    }
  }
}

TEST_P(ShippedSpaces, the_fallback_is_legal_and_guards_every_split) {
  const Case c = read(GetParam());
  const Schedule schedule = any_extent_schedule(c.algorithm, device_named("x86-64-v3"));
  EXPECT_EQ(fault_of(Legality(c.algorithm, nullptr), schedule), "");
  for (const Directive& directive : schedule.directives) {
    if (directive.name == "vectorize") {
      EXPECT_EQ(std::get<std::string>(directive.arguments.back()), "GuardWithIf") << print(directive);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Problems, ShippedSpaces, testing::ValuesIn(kProblems), [](const auto& test) {
  std::string name;
  for (const char c : test.param) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
    else if (!name.empty() && name.back() != '_') name += '_';
  }
  return name + std::to_string(test.index);
});

std::string space_name(const std::string& problem) {
  const Case c = read(problem);
  return space_for(c.algorithm, c.problem, device_named("zen4"))->name();
}

TEST(Spaces, each_operator_gets_the_space_of_its_structure) {
  EXPECT_EQ(space_name("matmul(m=64, n=64, k=64, epilogue=silu)"), "matmul_host");
  EXPECT_EQ(space_name("swiglu(m=64, n=64)"), "pointwise_host");
  EXPECT_EQ(space_name("matmul(m=64, n=64, k=64, bf16, pairs=true, epilogue=gelu_tanh)"), "matmul_host");
  EXPECT_EQ(space_name("rmsnorm(m=64, n=64)"), "rows_host");
  EXPECT_EQ(space_name("softmax(m=64, n=64)"), "rows_host");
  for (const char* name : {"rmsnorm", "softmax"}) EXPECT_EQ(space_name(std::string(name) + "(m=64, n=64, bf16)"), "rows_host") << name;
  EXPECT_EQ(space_name("swiglu(m=64, n=64, bf16)"), "pointwise_host");
  EXPECT_EQ(space_name("swiglu_quant(m=64, n=64, bf16)"), "pointwise_host");
  EXPECT_EQ(space_name("swiglu_quant(m=64, n=64, bf16, scale=row)"), "sketch");
  EXPECT_EQ(space_name("matvec(m=1, n=64, k=64, bf16)"), "matmul_host");
  EXPECT_EQ(space_name("matvec(m=1, n=64, k=64, bf16, weights=kn)"), "sketch");
  EXPECT_EQ(space_name("transpose(m=64, n=64)"), "sketch");
  EXPECT_EQ(space_name("conv(co=64, ci=64, w=8, h=8)"), "sketch");
  EXPECT_EQ(space_name("unsharp(w=64, h=64, c=3)"), "sketch");
}

TEST(Spaces, the_first_seed_of_matmul_is_the_hand_schedule_in_the_device_s_own_vectors) {
  const Case c = read("matmul(m=256, n=1024, k=1024, epilogue=silu)");
  const auto seed = [&](const std::string& device) {
    const Space space = *space_for(c.algorithm, c.problem, device_named(device));
    return print(space.schedule(space.seeds().at(0).point));
  };
  EXPECT_EQ(seed("zen4"),
            "y.tile(n, m, no, mo, ni, mi, 64, 6, ShiftInwards).reorder(ni, mi, mo, no).parallel(no).vectorize(ni, 16).unroll(ni).unroll(mi)\n"
            "c.compute_at(y, mo).vectorize(n, 16).unroll(n).unroll(m)\n"
            "c.update(0).reorder(n, m, k).vectorize(n, 16).unroll(n).unroll(m)\n"
            "B.in().compute_at(y, no).vectorize(d0, 16)\n");
  EXPECT_EQ(seed("x86-64-v3"),
            "y.tile(n, m, no, mo, ni, mi, 16, 6, ShiftInwards).reorder(ni, mi, mo, no).parallel(no).vectorize(ni, 8).unroll(ni).unroll(mi)\n"
            "c.compute_at(y, mo).vectorize(n, 8).unroll(n).unroll(m)\n"
            "c.update(0).reorder(n, m, k).vectorize(n, 8).unroll(n).unroll(m)\n"
            "B.in().compute_at(y, no).vectorize(d0, 8)\n");
}

TEST(Spaces, the_first_seed_of_a_product_in_pairs_adds_two_terms_a_step_and_packs_a_panel) {
  const Case c = read("matmul(m=256, n=1024, k=1024, bf16, pairs=true)");
  const Space space = *space_for(c.algorithm, c.problem, device_named("sapphire_rapids"));
  EXPECT_EQ(print(space.schedule(space.seeds().at(0).point)),
            "y.tile(n, m, no, mo, ni, mi, 32, 8, ShiftInwards).reorder(ni, mi, mo, no).parallel(no).vectorize(ni, 16).unroll(ni).unroll(mi)\n"
            "c.compute_at(y, mo).vectorize(n, 16).unroll(n).unroll(m)\n"
            "c.update(0).reorder(k.x, n, m, k.y).atomic().vectorize(k.x).vectorize(n, 16).unroll(n).unroll(m)\n"
            "packed.compute_at(y, no).unroll(p).vectorize(n, 16)\n");
}

TEST(Spaces, a_product_in_pairs_under_a_strict_contract_is_left_to_the_sketch) {
  Case c = read("matmul(m=64, n=64, k=64, bf16, pairs=true)");
  c.algorithm.contract = Contract::strict;
  EXPECT_EQ(space_for(c.algorithm, c.problem, device_named("zen4"))->name(), "sketch");
}

TEST(Spaces, the_first_seed_of_softmax_keeps_a_row_s_exponentials) {
  const Case c = read("softmax(m=256, n=4096)");
  const Space space = *space_for(c.algorithm, c.problem, device_named("zen4"));
  EXPECT_EQ(print(space.schedule(space.seeds().at(0).point)),
            "y.split(m, task, mi, 64, GuardWithIf).parallel(task).split(n, nu, nv, 64, ShiftInwards).vectorize(nv, 16).unroll(nv)\n"
            "scale.compute_at(y, mi)\n"
            "sum.compute_at(y, mi)\n"
            "sum.update(0).split(k, ro, ri, 128, GuardWithIf).atomic().vectorize(ri)\n"
            "peak.compute_at(y, mi)\n"
            "peak.update(0).split(k, ro, ri, 128, GuardWithIf).atomic().vectorize(ri)\n"
            "e.compute_at(y, mi).split(n, nu, nv, 16, ShiftInwards).vectorize(nv, 16)\n");
}

// Vectors of the arithmetic: as many f32 as a register holds, whatever is read and written.
TEST(Spaces, of_narrow_types_cut_vectors_to_what_is_computed) {
  const auto first_line = [](const std::string& problem) {
    const Case c = read(problem);
    const Space space = *space_for(c.algorithm, c.problem, device_named("zen4"));
    const std::string text = print(space.schedule(space.seeds().at(0).point));
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(first_line("swiglu(m=256, n=4096, bf16)"), first_line("swiglu(m=256, n=4096)"));
  EXPECT_EQ(first_line("swiglu_quant(m=256, n=4096, bf16)"), first_line("swiglu(m=256, n=4096)"));
  EXPECT_EQ(first_line("rmsnorm(m=256, n=4096, bf16)"), first_line("rmsnorm(m=256, n=4096)"));
  EXPECT_NE(first_line("swiglu(m=256, n=4096)").find("vectorize(nv, 16)"), std::string::npos) << first_line("swiglu(m=256, n=4096)");
}

TEST(Spaces, what_all_rows_of_a_task_read_is_not_kept_row_by_row) {
  const Case c = read("softmax(m=256, n=4096)");
  const Space space = *space_for(c.algorithm, c.problem, device_named("zen4"));
  const std::string start = "lanes=16 unroll=1 tail=ShiftInwards rows=8 vectors.peak=8 vectors.sum=8 ";
  EXPECT_TRUE(space.is_valid(space.parse(start + "place.peak=task place.e=inline unroll.e=1 place.sum=task")));
  EXPECT_TRUE(space.is_valid(space.parse(start + "place.peak=task place.e=row unroll.e=4 place.sum=row")));
  for (const char* places : {"place.peak=row place.e=inline unroll.e=1 place.sum=task", "place.peak=task place.e=row unroll.e=1 place.sum=task"})
    EXPECT_EQ(space.first_violated(space.parse(start + places)), "what all rows of a task read is not computed row by row") << places;
}

TEST(Spaces, register_pressure_is_a_late_limit_with_both_numbers) {
  const Case c = read("matmul(m=256, n=1024, k=1024)");
  const Space space = *space_for(c.algorithm, c.problem, device_named("x86-64-v3"));
  const Point wide = space.parse("form=tile lanes=8 vectors=4 rows=6 panel=1 chunks=1 order=nm parallel=n stage_b=1 unroll_k=1 columns=1 tail=ShiftInwards");
  EXPECT_EQ(space.first_violated(wide), "vector registers for the sums and one step's operands: 28 asked, at most 16");
  const Point unsound = space.parse("form=tile lanes=8 vectors=4 rows=6 panel=1 chunks=1 order=mn parallel=m stage_b=1 unroll_k=1 columns=1 tail=RoundUp");
  EXPECT_EQ(space.first_violated(unsound), "rows are shared out only when they are cut into chunks, columns only when they are not");
}

TEST(Spaces, tiles_are_not_powers_of_two_only) {
  const Case c = read("matmul(m=1536, n=1024, k=1024)");
  const Space space = *space_for(c.algorithm, c.problem, device_named("zen4"));
  EXPECT_TRUE(space.is_valid(space.parse("form=tile lanes=16 vectors=3 rows=7 panel=1 chunks=3 order=nm parallel=both stage_b=1 unroll_k=2 columns=1 tail=ShiftInwards")));
}

}  // namespace
}  // namespace kiln::schedules
