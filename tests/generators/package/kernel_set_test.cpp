#include "generators/package/kernel_set.h"

#include <functional>

#include <gtest/gtest.h>

#include "dsl/error.h"
#include "generators/package/target_features.h"
#include "generators/runtime/set_cpu.h"
#include "tests/generators/package/plain_set.h"

namespace kiln::generators::package {
namespace {

using tests::plain_set;

// The message of the UsageError that check throws after one change.
std::string refusal(const std::function<void(KernelSet&)>& change) {
  KernelSet set = plain_set();
  name_entries(set);
  change(set);
  try {
    check(set);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(kernel_set, a_lone_entry_of_an_operator_is_named_after_it) {
  KernelSet set = plain_set();
  name_entries(set);
  EXPECT_EQ(set.entries[0].c_name, "scale");
}

TEST(kernel_set, entries_of_one_operator_are_told_apart_by_params_type_and_orders) {
  KernelSet set = plain_set();
  set.entries.push_back(set.entries[0]);
  set.entries[1].type = "bf16";
  set.entries[1].orders = {{"in", "mn"}};
  name_entries(set);
  EXPECT_EQ(set.entries[0].c_name, "scale_mode_half_f32");
  EXPECT_EQ(set.entries[1].c_name, "scale_mode_half_bf16_in_mn");
}

TEST(kernel_set, equal_names_are_refused_with_both_entries) {
  KernelSet set = plain_set();
  set.entries[0].c_name = "s";
  set.entries.push_back(set.entries[0]);
  set.entries[1].type = "f64";
  try {
    name_entries(set);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "entries scale(f32, mode=half) and scale(f64, mode=half) would both be plain_s; name one with --name ENTRY=cname");
  }
}

TEST(kernel_set, what_cannot_be_packed_is_refused_with_the_reason) {
  EXPECT_EQ(refusal([](KernelSet&) {}), "accepted");
  EXPECT_EQ(refusal([](KernelSet& s) { s.name = "my-set"; }), "set name `my-set`: a C identifier with a lower-case letter, no reserved word, is needed");
  EXPECT_EQ(refusal([](KernelSet& s) { s.name = "int"; }), "set name `int`: a C identifier with a lower-case letter, no reserved word, is needed");
  EXPECT_EQ(refusal([](KernelSet& s) { s.version = "1.2"; }), "set version `1.2`: three numbers are needed, as in 0.1.0");
  EXPECT_EQ(refusal([](KernelSet& s) { s.threads = 0; }), "set plain names 0 threads, at least 1 is needed");
  EXPECT_EQ(refusal([](KernelSet& s) { s.entries.clear(); }), "set plain has no entries");
  EXPECT_EQ(refusal([](KernelSet& s) { s.entries[0].c_name = "load"; }),
            "entry scale(f32, mode=half): plain_load is already a name in this set; choose another with --name ENTRY=cname");
  EXPECT_EQ(refusal([](KernelSet& s) { s.entries[0].arguments[0].name = "in.0"; }), "entry scale(f32, mode=half): argument `in.0` is no C identifier");
  EXPECT_EQ(refusal([](KernelSet& s) { s.entries[0].arguments[0].rank = 17; }),
            "entry scale(f32, mode=half): argument in has rank 17, 0 to 16 are possible");
  EXPECT_EQ(refusal([](KernelSet& s) { s.entries[0].symbols[0].axes[0].dimension = 2; }),
            "entry scale(f32, mode=half): symbol m stands in in.2, which there is not");
  EXPECT_EQ(refusal([](KernelSet& s) { s.entries[0].variants[0].extents[0].symbol = "k"; }),
            "entry scale(f32, mode=half): a guard names k, which is no symbol of it");
  EXPECT_EQ(refusal([](KernelSet& s) { s.entries[0].variants[0].alignment_bytes["in"] = 24; }),
            "entry scale(f32, mode=half): the alignment of in is 24, a power of two is needed");
  EXPECT_EQ(refusal([](KernelSet& s) { std::swap(s.entries[0].variants[0], s.entries[0].variants[1]); }),
            "entry scale(f32, mode=half): variants are not in the order exact, bucket, generic");
  EXPECT_EQ(refusal([](KernelSet& s) { s.entries[0].variants.pop_back(); }),
            "entry scale(f32, mode=half): has no generic variant; every entry needs one, for x86-64-v2");
  EXPECT_EQ(refusal([](KernelSet& s) { s.entries[0].variants[1].target = s.entries[0].variants[0].target; }),
            "entry scale(f32, mode=half): its last generic variant needs AVX; it must run on x86-64-v2");
}

TEST(target_features, follow_what_llvm_emits_for_halides_names) {
  EXPECT_EQ(feature_names(required_features("x86-64-linux-sse41-no_runtime")), (std::vector<std::string>{"SSE41", "SSSE3"}));
  const std::uint64_t zen4 = required_features("x86-64-linux-sse41-avx-avx2-f16c-fma-avx512-avx512_skylake-avx512_cannonlake-avx512_zen4-tune_znver4-no_runtime");
  EXPECT_EQ(zen4 & KILN_CPU_BIT(AVX512BF16), KILN_CPU_BIT(AVX512BF16));
  EXPECT_EQ(zen4 & KILN_CPU_BIT(AVXVNNI), 0u);
  EXPECT_EQ(required_features("x86-64-linux-sse41-avx512_sapphirerapids-no_runtime"), zen4 | KILN_CPU_BIT(AVXVNNI) | KILN_CPU_BIT(AVX512FP16));
  EXPECT_EQ(required_features("x86-64-linux-sse41-avx-strict_float-no_runtime"), required_features("x86-64-linux-sse41-avx-no_runtime"));
}

std::string target_refusal(const std::string& target) {
  try {
    required_features(target);
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(target_features, that_have_no_guard_are_refused) {
  EXPECT_EQ(target_refusal("x86-64-linux-avx512_knl-no_runtime"), "target x86-64-linux-avx512_knl-no_runtime: a package has no guard for avx512_knl");
  EXPECT_EQ(target_refusal("x86-64-linux-no_bounds_query-no_runtime"), "target x86-64-linux-no_bounds_query-no_runtime: a package has no guard for no_bounds_query");
  EXPECT_EQ(target_refusal("x86-64-linux-sse41"), "target x86-64-linux-sse41: a package brings its own runtime; no_runtime is needed");
  EXPECT_EQ(target_refusal("arm-64-linux-no_runtime"), "target arm-64-linux-no_runtime: packages are for x86-64-linux");
}

TEST(target_features, of_this_machine_hold_what_it_runs) {
  // The tests themselves are compiled for x86-64; the instruction set is found by asking the compiler's own builtin.
  const std::uint64_t here = kiln_cpu_features();
  EXPECT_EQ((here & KILN_CPU_BIT(AVX2)) != 0, __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ((here & KILN_CPU_BIT(FMA)) != 0, __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ((here & KILN_CPU_BIT(AVX512VBMI)) != 0, __builtin_cpu_supports("avx512vbmi") != 0);
  EXPECT_EQ((here & KILN_CPU_BIT(AVX512BF16)) != 0, __builtin_cpu_supports("avx512bf16") != 0);
  EXPECT_EQ((here & KILN_CPU_BIT(SSE42)) != 0, __builtin_cpu_supports("sse4.2") != 0);
}

}  // namespace
}  // namespace kiln::generators::package
