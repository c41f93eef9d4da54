// What a kernel runs on: a CPU with its limits, identified by what it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/digest.h"

namespace kiln {

struct Device {
  std::string kind = "cpu";
  std::string vendor;                 // CPUID leaf 0
  std::string model;                  // brand string, white space folded
  int family = 0, model_number = 0, stepping = 0;
  std::vector<std::string> features;  // Halide's names, sorted: what CPUID offers and XCR0 lets a process use
  int cores = 1;                      // usable: affinity and cgroup
  std::int64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;  // data caches; l3 is what the whole chip shares
  int vector_bytes = 16;              // widest usable register
  int vector_registers = 16;
  bool operator==(const Device&) const = default;
};

// One line that parses back: `cpu vendor="GenuineIntel" model="…" family=6 … features=avx,avx2 cores=2 l1=49152 …`.
std::string print(const Device& device);
Device parse_device(std::string_view text);  // throws UsageError naming the key

Digest digest(const Device& device);

}  // namespace kiln
