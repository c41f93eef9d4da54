#include "generators/host/cpu_features.h"

#include <gtest/gtest.h>

namespace kiln::generators::host {
namespace {

using Names = std::vector<std::string>;

constexpr std::uint64_t kSse = 0x3, kAvx = 0x7, kAvx512 = 0xE7, kAmx = 0x600E7;

unsigned bits(std::initializer_list<int> numbers) {
  unsigned word = 0;
  for (const int number : numbers) word |= 1u << number;
  return word;
}

// CPUID words by the machines they are from; only the bits that matter here.
CpuidFacts nehalem() { return {.leaf1 = {.ecx = bits({0, 9, 19, 20, 23})}, .leaf7 = {}, .leaf7_1 = {}, .extended1 = {.ecx = bits({0})}, .xcr0 = kSse}; }

CpuidFacts haswell() {
  CpuidFacts facts = nehalem();
  facts.leaf1.ecx |= bits({1, 12, 22, 25, 27, 28, 29});
  facts.leaf7.ebx = bits({3, 5, 8});
  facts.extended1.ecx = bits({0, 5});
  facts.xcr0 = kAvx;
  return facts;
}

CpuidFacts skylake_server() {
  CpuidFacts facts = haswell();
  facts.leaf7.ebx |= bits({16, 17, 19, 28, 30, 31});
  facts.xcr0 = kAvx512;
  return facts;
}

CpuidFacts zen4() {
  CpuidFacts facts = skylake_server();
  facts.leaf7.ebx |= bits({21, 29});
  facts.leaf7.ecx = bits({1, 6, 8, 9, 10, 11, 12, 14});
  facts.leaf7_1.eax = bits({5});
  facts.extended1.ecx |= bits({6});
  return facts;
}

CpuidFacts sapphire_rapids() {
  CpuidFacts facts = zen4();
  facts.extended1.ecx &= ~bits({6});
  facts.leaf7_1.eax = bits({4, 5});
  facts.leaf7.edx = bits({22, 23, 24, 25});
  facts.xcr0 = kAmx;
  return facts;
}

const Names kToHaswell{"avx", "avx2", "f16c", "fma", "sse41"};

Names with(Names base, std::initializer_list<const char*> more) {
  base.insert(base.end(), more.begin(), more.end());
  std::sort(base.begin(), base.end());
  return base;
}

TEST(CpuFeatures, a_cpu_without_avx_offers_sse41_alone) { EXPECT_EQ(features_of(nehalem()), Names{"sse41"}); }
TEST(CpuFeatures, haswell_offers_avx2_with_fma_and_f16c) { EXPECT_EQ(features_of(haswell()), kToHaswell); }
TEST(CpuFeatures, skylake_server_offers_its_avx512) { EXPECT_EQ(features_of(skylake_server()), with(kToHaswell, {"avx512", "avx512_skylake"})); }

TEST(CpuFeatures, zen4_offers_avx512_zen4) {
  EXPECT_EQ(features_of(zen4()), with(kToHaswell, {"avx512", "avx512_skylake", "avx512_cannonlake", "avx512_zen4"}));
}

TEST(CpuFeatures, sapphire_rapids_offers_its_own_but_not_zen4_since_it_lacks_sse4a) {
  EXPECT_EQ(features_of(sapphire_rapids()), with(kToHaswell, {"avxvnni", "avx512", "avx512_skylake", "avx512_cannonlake", "avx512_sapphirerapids"}));
}

TEST(CpuFeatures, a_hypervisor_that_masks_amx_takes_nothing_away_that_is_used) {
  CpuidFacts facts = sapphire_rapids();
  facts.leaf7.edx = bits({23});
  facts.xcr0 = kAvx512;
  EXPECT_EQ(features_of(facts), features_of(sapphire_rapids()));
}

TEST(CpuFeatures, each_missing_instruction_set_of_sapphire_rapids_leaves_it_at_cannonlake) {
  const Names left = with(kToHaswell, {"avxvnni", "avx512", "avx512_skylake", "avx512_cannonlake"});
  CpuidFacts facts = sapphire_rapids();
  facts.leaf7.edx &= ~bits({23});  // AVX512_FP16
  EXPECT_EQ(features_of(facts), left);
  facts = sapphire_rapids();
  facts.leaf7_1.eax &= ~bits({5});  // AVX512_BF16
  EXPECT_EQ(features_of(facts), left);
  for (const int number : {6, 8, 9, 10, 11, 12, 14}) {
    facts = sapphire_rapids();
    facts.leaf7.ecx &= ~bits({number});
    EXPECT_EQ(features_of(facts), left) << "leaf 7 ecx bit " << number;
  }
}

TEST(CpuFeatures, a_system_that_saves_no_zmm_registers_leaves_avx2) {
  CpuidFacts facts = zen4();
  facts.xcr0 = kAvx;
  EXPECT_EQ(features_of(facts), kToHaswell);
}

TEST(CpuFeatures, a_system_that_saves_no_ymm_registers_leaves_sse41) {
  CpuidFacts facts = zen4();
  facts.xcr0 = kSse;
  EXPECT_EQ(features_of(facts), Names{"sse41"});
}

TEST(CpuFeatures, each_missing_instruction_set_of_znver4_takes_avx512_zen4_away) {
  const auto has_zen4 = [](const CpuidFacts& facts) {
    const Names names = features_of(facts);
    return std::find(names.begin(), names.end(), "avx512_zen4") != names.end();
  };
  ASSERT_TRUE(has_zen4(zen4()));
  for (const int number : {1, 6, 8, 9, 10, 11, 12, 14}) {
    CpuidFacts facts = zen4();
    facts.leaf7.ecx &= ~bits({number});
    EXPECT_FALSE(has_zen4(facts)) << "leaf 7 ecx bit " << number;
  }
  CpuidFacts without_bf16 = zen4();
  without_bf16.leaf7_1.eax = 0;
  EXPECT_FALSE(has_zen4(without_bf16));
}

TEST(CpuFeatures, avx2_needs_what_the_haswell_cpu_of_llvm_brings) {
  CpuidFacts facts = haswell();
  facts.leaf7.ebx &= ~bits({8});  // BMI2
  EXPECT_EQ(features_of(facts), (Names{"avx", "f16c", "fma", "sse41"}));
}

TEST(CgroupQuota, version_2_divides_quota_by_period) {
  EXPECT_EQ(quota_v2("150000 100000\n"), 1.5);
  EXPECT_EQ(quota_v2("max 100000\n"), std::nullopt);
  EXPECT_EQ(quota_v2(""), std::nullopt);
}

TEST(CgroupQuota, version_1_says_no_limit_as_minus_one) {
  EXPECT_EQ(quota_v1("400000\n", "100000\n"), 4.0);
  EXPECT_EQ(quota_v1("-1\n", "100000\n"), std::nullopt);
  EXPECT_EQ(quota_v1("", ""), std::nullopt);
}

}  // namespace
}  // namespace kiln::generators::host
