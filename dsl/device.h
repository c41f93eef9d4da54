// What a kernel runs on: a CPU or a GPU with its limits, identified by what it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/digest.h"

namespace kiln {

// A GPU, in CUDA's words: an SM runs blocks of threads, 32 threads are a warp, a register has 32 bits. 0 is unknown.
struct Gpu {
  std::string arch;                                // what it is compiled for: sm_80, sm_90a
  int capability_major = 0, capability_minor = 0;  // compute capability
  int sms = 0;
  std::int64_t memory_bytes = 0, l2_bytes = 0;

  // What an SM holds at once, and in which steps it gives registers and shared memory out.
  int sm_threads = 0, sm_blocks = 0;
  int sm_barriers = 0;                     // the hardware's barriers: bar.sync and bar.arrive
  std::int64_t sm_registers = 0;           // in as many equal parts as there are partitions; a warp's lie in one of them
  std::int64_t sm_shared_bytes = 0;
  int sm_partitions = 0;
  int warp_threads = 0;
  int register_step = 0;                   // of one thread's registers
  std::int64_t shared_step_bytes = 0;

  // What one block may have, one cluster, one thread.
  int block_threads = 0;
  std::int64_t block_registers = 0;
  std::int64_t block_shared_bytes = 0;     // static and dynamic, for a kernel that opts in
  std::int64_t reserved_shared_bytes = 0;  // what CUDA takes of the SM for each block beside the block's own
  int cluster_blocks = 0;                  // of the largest cluster that every kernel may have; 0: there are no clusters
  int thread_registers = 0;

  // As a data sheet has them: formulas use them, they identify nothing.
  std::int64_t memory_bytes_per_s = 0;
  std::int64_t clock_hz = 0;               // of the SMs, at most
  std::int64_t tensor_flops = 0;           // a second, dense products of bf16 summed in f32; 2 for a multiply-add

  int sm_warps() const { return warp_threads > 0 ? sm_threads / warp_threads : 0; }
  bool operator==(const Gpu&) const = default;
};

// Of a GPU only vendor, model and `gpu` are set.
struct Device {
  std::string vendor;                 // CPUID leaf 0; NVIDIA
  std::string model;                  // brand string, white space folded; the name that the driver gives
  int family = 0, model_number = 0, stepping = 0;
  std::vector<std::string> features;  // Halide's names, sorted: what CPUID offers and XCR0 lets a process use
  int cores = 1;                      // usable: affinity and cgroup
  std::int64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;  // data caches; l3 is what the whole chip shares
  int vector_bytes = 16;              // widest usable register
  int vector_registers = 16;
  std::optional<Gpu> gpu;             // absent: a CPU

  std::string kind() const { return gpu ? "gpu" : "cpu"; }
  bool operator==(const Device&) const = default;
};

// One line that parses back: `cpu vendor="GenuineIntel" model="…" family=6 … features=avx,avx2 cores=2 l1=49152 …`,
// `gpu vendor="NVIDIA" model="NVIDIA H200" arch=sm_90a capability=9.0 sms=132 …`.
std::string print(const Device& device);
Device parse_device(std::string_view text);  // throws UsageError naming the key

// The device without its data sheet, which may be corrected, or be found after the first results were stored.
Device identity(const Device& device);

// Of the identity's text: what results are kept under.
Digest digest(const Device& device);

// Throws UsageError for a GPU: "<what> is built for CPUs; <model> is a GPU".
void require_cpu(const Device& device, std::string_view what);

}  // namespace kiln
