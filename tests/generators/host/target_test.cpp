#include <Halide.h>
#include <gtest/gtest.h>

#include "dsl/error.h"
#include "generators/host/host.h"

namespace kiln::generators::host {
namespace {

Device device_with(std::vector<std::string> features) {
  Device device;
  device.model = "Some CPU";
  device.features = std::move(features);
  return device;
}

const Device kZen4 = device_with({"avx", "avx2", "avx512", "avx512_cannonlake", "avx512_skylake", "avx512_zen4", "f16c", "fma", "sse41"});

TEST(Target, names_every_feature_of_the_device_in_the_order_of_halide) {
  EXPECT_EQ(target_string(kZen4, Isa::native, Contract::bounded),
            "x86-64-linux-sse41-avx-avx2-fma-f16c-avx512-avx512_skylake-avx512_cannonlake-avx512_zen4-no_runtime");
}

TEST(Target, the_generic_variant_has_sse41_alone) {
  EXPECT_EQ(target_string(kZen4, Isa::x86_64_v2, Contract::bounded), "x86-64-linux-sse41-no_runtime");
}

TEST(Target, the_strict_contract_adds_strict_float) {
  EXPECT_EQ(target_string(kZen4, Isa::x86_64_v2, Contract::strict), "x86-64-linux-sse41-strict_float-no_runtime");
  EXPECT_EQ(target_string(kZen4, Isa::x86_64_v2, Contract::free), "x86-64-linux-sse41-no_runtime");
}

TEST(Target, halide_reads_every_target_and_finds_in_it_what_the_device_offers) {
  for (const Device& device : {kZen4, device_with({"avxvnni", "avx512_sapphirerapids", "sse41"}), probe_cpu()}) {
    const Halide::Target target(target_string(device, Isa::native, Contract::strict));
    EXPECT_EQ(target.arch, Halide::Target::X86);
    EXPECT_EQ(target.bits, 64);
    EXPECT_TRUE(target.has_feature(Halide::Target::NoRuntime));
    EXPECT_TRUE(target.has_feature(Halide::Target::StrictFloat));
    for (const auto& [name, feature] : {std::pair{"avx2", Halide::Target::AVX2}, {"avx512_zen4", Halide::Target::AVX512_Zen4},
                                        {"avx512_sapphirerapids", Halide::Target::AVX512_SapphireRapids}, {"avxvnni", Halide::Target::AVXVNNI}}) {
      const bool offered = std::find(device.features.begin(), device.features.end(), name) != device.features.end();
      EXPECT_EQ(target.has_feature(feature), offered) << name;
    }
  }
}

TEST(Target, a_cpu_without_sse41_is_refused_by_name) {
  try {
    target_string(device_with({}), Isa::native, Contract::bounded);
    FAIL();
  } catch (const EnvironmentError& error) {
    EXPECT_STREQ(error.what(), "the CPU 'Some CPU' lacks SSE4.1, which every build of Kiln needs (x86-64-v2: any x86-64 CPU since 2009)");
  }
}

TEST(Target, a_gpu_is_refused_by_name) {
  Device device = device_with({"sse41"});
  device.model = "NVIDIA H200";
  device.gpu.emplace();
  try {
    target_string(device, Isa::native, Contract::bounded);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "an object of the host back end is built for CPUs; NVIDIA H200 is a GPU");
  }
}

TEST(Toolchain, names_halide_and_the_version_of_our_own_code_generation) { EXPECT_EQ(toolchain_text(), "halide 21.0.0\ncodegen_version 1\n"); }

TEST(ProbeCpu, this_machine_has_caches_cores_and_a_name) {
  const Device device = probe_cpu();
  EXPECT_EQ(device.kind(), "cpu");
  EXPECT_FALSE(device.vendor.empty());
  EXPECT_FALSE(device.model.empty());
  EXPECT_GE(device.cores, 1);
  EXPECT_GT(device.l1_bytes, 0);
  EXPECT_GE(device.l2_bytes, device.l1_bytes);
  EXPECT_EQ(device, probe_cpu());
}

Schedule schedule_of(const char* name) {
  Schedule schedule;
  Chain(schedule, name[0] == 'o' ? "" : "c").add(name);
  return schedule;
}

TEST(BuildKey, depends_on_algorithm_schedule_and_target_but_not_on_extents) {
  Algorithm algorithm;
  algorithm.generator = "one";
  Problem problem;
  problem.extents = {{"n", 16}};
  const Schedule schedule = schedule_of("compute_root");
  const Digest key = build_key(algorithm, schedule, problem, "x86-64-linux");
  EXPECT_EQ(key, build_key(algorithm, schedule, problem, "x86-64-linux"));
  EXPECT_NE(key, build_key(algorithm, schedule, problem, "x86-64-linux-avx"));
  EXPECT_NE(key, build_key(algorithm, schedule_of("compute_inline"), problem, "x86-64-linux"));
  EXPECT_NE(key, build_key(algorithm, {}, problem, "x86-64-linux"));
  Algorithm other = algorithm;
  other.generator = "two";
  EXPECT_NE(key, build_key(other, schedule, problem, "x86-64-linux"));
  other = algorithm;
  other.contract = Contract::strict;
  EXPECT_NE(key, build_key(other, schedule, problem, "x86-64-linux"));
  Problem larger = problem;
  larger.extents["n"] = 32;
  EXPECT_EQ(key, build_key(algorithm, schedule, larger, "x86-64-linux"));
}

TEST(BuildKey, of_an_opaque_schedule_depends_on_the_extents_too) {
  const Algorithm algorithm;
  Problem problem, larger;
  problem.extents = {{"n", 16}};
  larger.extents = {{"n", 32}};
  const Schedule own = schedule_of("own_schedule");
  EXPECT_NE(build_key(algorithm, own, problem, "t"), build_key(algorithm, own, larger, "t"));
  EXPECT_EQ(build_key(algorithm, own, problem, "t"), build_key(algorithm, own, problem, "t"));
}

TEST(Host, works_for_itself_and_for_the_gpu_beside_it) {
  Device gpu;
  gpu.model = "NVIDIA X1";
  gpu.gpu.emplace();
  EXPECT_EQ(host_beside(gpu), probe_cpu());
  Device cpu;
  cpu.model = "Xeon";
  EXPECT_EQ(host_beside(cpu), cpu);
}

}  // namespace
}  // namespace kiln::generators::host
