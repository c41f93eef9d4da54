// From raw CPU facts to the feature names of Halide's targets, as pure functions: tests feed them the facts of machines we do not have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kiln::generators::host {

struct CpuidLeaf {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

struct CpuidFacts {
  CpuidLeaf leaf1, leaf7, leaf7_1, extended1;  // 1; 7 subleaf 0; 7 subleaf 1; 0x80000001
  std::uint64_t xcr0 = 0;                      // 0 when the system does not use XSAVE
};

// Halide's names, sorted. A name appears only when every instruction set that LLVM may use under it is there: Halide turns a feature into
// an LLVM CPU ("avx2" into haswell, "avx512_zen4" into znver4), which brings more than the name says. AMX is never used, so it is never missing.
std::vector<std::string> features_of(const CpuidFacts& facts);

// Cores that a cgroup's quota allows: "150000 100000" is 1.5. Nothing for "max" and for files that are not there.
std::optional<double> quota_v2(const std::string& cpu_max);
std::optional<double> quota_v1(const std::string& cfs_quota_us, const std::string& cfs_period_us);

}  // namespace kiln::generators::host
