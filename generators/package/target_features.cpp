#include "generators/package/target_features.h"

#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include "dsl/error.h"
#include "generators/runtime/set_cpu.h"

namespace kiln::generators::package {

namespace {

constexpr std::uint64_t kSse41 = KILN_CPU_BIT(SSE41) | KILN_CPU_BIT(SSSE3);
constexpr std::uint64_t kAvx = kSse41 | KILN_CPU_BIT(SSE42) | KILN_CPU_BIT(AVX);
constexpr std::uint64_t kAvx512 = kAvx | KILN_CPU_BIT(AVX2) | KILN_CPU_BIT(FMA) | KILN_CPU_BIT(F16C) | KILN_CPU_BIT(AVX512F) | KILN_CPU_BIT(AVX512CD);
constexpr std::uint64_t kSkylake = kAvx512 | KILN_CPU_BIT(AVX512VL) | KILN_CPU_BIT(AVX512BW) | KILN_CPU_BIT(AVX512DQ);
constexpr std::uint64_t kCannonlake = kSkylake | KILN_CPU_BIT(AVX512IFMA) | KILN_CPU_BIT(AVX512VBMI);
constexpr std::uint64_t kZen4 = kCannonlake | KILN_CPU_BIT(AVX512BF16) | KILN_CPU_BIT(AVX512VNNI) | KILN_CPU_BIT(AVX512BITALG) |
                                KILN_CPU_BIT(AVX512VBMI2) | KILN_CPU_BIT(AVX512VPOPCNTDQ);

// Halide's features that change instructions, with what LLVM then uses (Halide 21, CodeGen_X86.cpp).
const std::map<std::string, std::uint64_t>& instruction_features() {
  static const std::map<std::string, std::uint64_t> features = {
      {"sse41", kSse41},
      {"avx", kAvx},
      {"f16c", kAvx | KILN_CPU_BIT(F16C)},
      {"fma", kAvx | KILN_CPU_BIT(FMA)},
      {"avx2", kAvx | KILN_CPU_BIT(AVX2)},
      {"avxvnni", kAvx | KILN_CPU_BIT(AVX2) | KILN_CPU_BIT(AVXVNNI)},
      {"avx512", kAvx512},
      {"avx512_skylake", kSkylake},
      {"avx512_cannonlake", kCannonlake},
      {"avx512_zen4", kZen4},
      {"avx512_sapphirerapids", kZen4 | KILN_CPU_BIT(AVXVNNI) | KILN_CPU_BIT(AVX512FP16)},
  };
  return features;
}

// Features that ask for nothing at run time. Those that drop Halide's checks or its bounds query are missing on purpose: plan relies on both.
bool needs_nothing(const std::string& feature) {
  static const std::set<std::string> harmless = {"no_runtime", "strict_float", "enable_llvm_loop_opt", "disable_llvm_loop_opt"};
  return harmless.contains(feature) || feature.starts_with("tune_");
}

}  // namespace

std::uint64_t required_features(const std::string& target) {
  if (!target.starts_with("x86-64-linux")) throw DataError("target " + target + ": packages are for x86-64-linux");
  std::uint64_t required = 0;
  bool has_no_runtime = false;
  std::istringstream words(target.substr(std::string("x86-64-linux").size()));
  for (std::string word; std::getline(words, word, '-');) {
    has_no_runtime |= word == "no_runtime";
    const auto found = instruction_features().find(word);
    if (found != instruction_features().end()) {
      required |= found->second;
    } else if (!word.empty() && !needs_nothing(word)) {
      throw DataError("target " + target + ": a package has no guard for " + word);
    }
  }
  if (!has_no_runtime) throw DataError("target " + target + ": a package brings its own runtime; no_runtime is needed");
  return required;
}

GpuTarget gpu_target(const std::string& target) {
  constexpr std::string_view kHead = "cuda-";
  GpuTarget gpu;
  unsigned capability = 0;
  char suffix = 0;
  if (target.starts_with(kHead)) gpu.arch = target.substr(kHead.size(), target.find('-', kHead.size()) - kHead.size());
  const int fields = std::sscanf(gpu.arch.c_str(), "sm_%u%c", &capability, &suffix);
  if (fields < 1 || capability < 10 || (fields == 2 && suffix != 'a')) throw DataError("target " + target + ": cuda-sm_80 or cuda-sm_90a, say, is needed");
  gpu.major = static_cast<int>(capability / 10);
  gpu.minor = static_cast<int>(capability % 10);
  gpu.is_of_one_capability = suffix == 'a';
  return gpu;
}

std::vector<std::string> feature_names(std::uint64_t features) {
  static const std::vector<std::string> names = {
#define KILN_CPU_ID(index, id, name, leaf, reg, bit, state) #id,
      KILN_CPU_FEATURES(KILN_CPU_ID)
#undef KILN_CPU_ID
  };
  std::vector<std::string> result;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (features >> i & 1) result.push_back(names[i]);
  }
  return result;
}

std::uint64_t x86_64_v2_features() { return kSse41 | KILN_CPU_BIT(SSE42) | KILN_CPU_BIT(POPCNT); }

}  // namespace kiln::generators::package
