// The bit numbers are those of Intel's SDM volume 2A (CPUID) and AMD's APM volume 3 appendix E; the sets behind each Halide feature are
// those of the LLVM CPU that Halide 21 picks for it (X86.td: penryn, haswell, skylake-avx512, cannonlake, znver4, sapphirerapids).
#include "generators/host/cpu_features.h"

#include <algorithm>
#include <sstream>

namespace kiln::generators::host {
namespace {

constexpr bool bit(unsigned word, int number) { return ((word >> number) & 1u) != 0; }

// Register state that the system saves: SSE and AVX halves, then the three parts of AVX-512.
constexpr std::uint64_t kAvxState = 0x6, kAvx512State = 0xE6;
bool saves(std::uint64_t xcr0, std::uint64_t state) { return (xcr0 & state) == state; }

bool has_haswell(const CpuidFacts& f) {
  const bool bmi_lzcnt_movbe = bit(f.leaf7.ebx, 3) && bit(f.leaf7.ebx, 8) && bit(f.extended1.ecx, 5) && bit(f.leaf1.ecx, 22);
  return bit(f.leaf7.ebx, 5) && bit(f.leaf1.ecx, 12) && bit(f.leaf1.ecx, 29) && bmi_lzcnt_movbe;
}

bool has_skylake_avx512(const CpuidFacts& f) {
  const bool f_cd = bit(f.leaf7.ebx, 16) && bit(f.leaf7.ebx, 28), vl_bw_dq = bit(f.leaf7.ebx, 31) && bit(f.leaf7.ebx, 30) && bit(f.leaf7.ebx, 17);
  const bool adx_clmul_aes = bit(f.leaf7.ebx, 19) && bit(f.leaf1.ecx, 1) && bit(f.leaf1.ecx, 25);
  return saves(f.xcr0, kAvx512State) && f_cd && vl_bw_dq && adx_clmul_aes;
}

bool has_cannonlake(const CpuidFacts& f) {
  const bool ifma_vbmi_sha = bit(f.leaf7.ebx, 21) && bit(f.leaf7.ecx, 1) && bit(f.leaf7.ebx, 29);
  return has_skylake_avx512(f) && ifma_vbmi_sha;
}

// What Zen 4 and Sapphire Rapids share: VBMI2, GFNI, VAES, VPCLMULQDQ, VNNI, BITALG, VPOPCNTDQ, BF16.
bool has_ice_lake_and_bf16(const CpuidFacts& f) {
  for (const int number : {6, 8, 9, 10, 11, 12, 14})
    if (!bit(f.leaf7.ecx, number)) return false;
  return has_cannonlake(f) && bit(f.leaf7_1.eax, 5);
}

}  // namespace

std::vector<std::string> features_of(const CpuidFacts& f) {
  std::vector<std::string> names;
  if (bit(f.leaf1.ecx, 19) && bit(f.leaf1.ecx, 9)) names.emplace_back("sse41");
  if (saves(f.xcr0, kAvxState) && bit(f.leaf1.ecx, 28)) {
    names.emplace_back("avx");
    if (bit(f.leaf1.ecx, 12)) names.emplace_back("fma");
    if (bit(f.leaf1.ecx, 29)) names.emplace_back("f16c");
    if (has_haswell(f)) {
      names.emplace_back("avx2");
      const bool avx_vnni = bit(f.leaf7_1.eax, 4);
      if (avx_vnni) names.emplace_back("avxvnni");
      if (has_skylake_avx512(f)) {
        names.emplace_back("avx512");
        names.emplace_back("avx512_skylake");
      }
      if (has_cannonlake(f)) names.emplace_back("avx512_cannonlake");
      // znver4 brings SSE4a, which no Intel CPU has: LLVM shuffles bytes with it.
      if (has_ice_lake_and_bf16(f) && bit(f.extended1.ecx, 6)) names.emplace_back("avx512_zen4");
      // Its AMX is not asked for, which hypervisors like to mask: LLVM makes tile instructions only of tiles, and no schedule may have them (opaque.cpp).
      const bool avx512_fp16 = bit(f.leaf7.edx, 23);
      if (has_ice_lake_and_bf16(f) && avx_vnni && avx512_fp16) names.emplace_back("avx512_sapphirerapids");
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<double> quota_v2(const std::string& cpu_max) {
  std::istringstream words(cpu_max);
  double quota = 0, period = 0;
  if (!(words >> quota >> period) || period <= 0) return std::nullopt;
  return quota / period;
}

std::optional<double> quota_v1(const std::string& cfs_quota_us, const std::string& cfs_period_us) {
  std::istringstream quota_text(cfs_quota_us), period_text(cfs_period_us);
  double quota = 0, period = 0;
  if (!(quota_text >> quota) || !(period_text >> period) || quota <= 0 || period <= 0) return std::nullopt;  // -1: no limit
  return quota / period;
}

}  // namespace kiln::generators::host
