#include "generators/cuda/resources/registers.h"

#include <fmt/format.h>

#include <algorithm>

namespace kiln::generators::cuda::resources {
namespace {

// PTX ISA, "setmaxnreg": the count is a multiple of 8 from 24 to 256.
constexpr int kLeast = 24, kMost = 256, kStep = 8;

// ptxas 13.0.88 for one wgmma of n = 256, 128 of whose registers are sums: "Try to compile with register target of 154 or higher".
constexpr int kBesideOneWgmma = 154 - 128;

std::int64_t pool_of_a_thread(int threads, const Gpu& gpu, int blocks_per_sm) {
  const std::int64_t even = rounded_down(gpu.sm_registers / blocks_per_sm / threads, gpu.register_step);
  return std::min(even, rounded_up(gpu.thread_registers, gpu.register_step));
}

std::int64_t pool_of(const Roles& roles, const Gpu& gpu) {
  return pool_of_a_thread(threads_of(roles), gpu, roles.blocks_per_sm) * threads_of(roles);
}

std::optional<Rejection> find_no_count(const char* role, int registers) {
  if (registers >= kLeast && registers <= kMost && registers % kStep == 0) return std::nullopt;
  return beyond(Reason::schedule_error, registers, kMost,
                fmt::format("setmaxnreg {} of the {}: a multiple of {} from {} to {} is needed; {} would be one", registers, role, kStep, kLeast, kMost,
                            std::clamp<std::int64_t>(rounded_down(std::max(registers, 0), kStep), kLeast, kMost)));
}

std::int64_t threads_of_a_tile(const Roles& roles) { return std::int64_t{kWarpgroupThreads} * (roles.is_pingpong ? 1 : roles.consumers); }

}  // namespace

int threads_of(const Roles& roles) { return kWarpgroupThreads * (1 + roles.consumers); }

int entry_registers(int threads, const Gpu& gpu, int blocks_per_sm) {
  return static_cast<int>(std::min<std::int64_t>(pool_of_a_thread(threads, gpu, blocks_per_sm), gpu.thread_registers));
}

int most_consumer_registers(const Roles& roles, const Gpu& gpu) {
  const std::int64_t left = pool_of(roles, gpu) - std::int64_t{kWarpgroupThreads} * roles.producer_registers;
  const std::int64_t most = rounded_down(std::max<std::int64_t>(left, 0) / kWarpgroupThreads / roles.consumers, kStep);
  return most < kLeast ? 0 : static_cast<int>(std::min<std::int64_t>(most, kMost));
}

std::optional<Rejection> find_illegal_roles(const Roles& roles, const Gpu& gpu) {
  if (roles.consumers < 1 || roles.consumers > 3)
    return beyond(Reason::schedule_error, roles.consumers, 3, fmt::format("{} warpgroups compute; there can be 1 to 3", roles.consumers));
  if (auto rejection = find_no_count("producer", roles.producer_registers)) return rejection;
  if (auto rejection = find_no_count("consumers", roles.consumer_registers)) return rejection;
  const std::int64_t asked = std::int64_t{kWarpgroupThreads} * (roles.producer_registers + roles.consumers * roles.consumer_registers);
  const std::int64_t pool = pool_of(roles, gpu);
  if (asked <= pool) return std::nullopt;
  const int most = most_consumer_registers(roles, gpu);
  return beyond(Reason::over_registers, asked, pool,
                fmt::format("setmaxnreg deals out {} registers: {} threads with {} and {} with {}; a block of {} threads has {}. {}", grouped(asked),
                            kWarpgroupThreads, roles.producer_registers, kWarpgroupThreads * roles.consumers, roles.consumer_registers, threads_of(roles),
                            grouped(pool),
                            most > 0 ? fmt::format("Beside a producer with {} each consumer may have {}.", roles.producer_registers, most)
                                     : fmt::format("A producer with {} leaves too little for any consumer.", roles.producer_registers)));
}

std::int64_t accumulators(const Tile& tile, const Roles& roles) { return divided_up(std::int64_t{tile.m} * tile.n, threads_of_a_tile(roles)); }

int most_accumulators(int consumer_registers) {
  // Compiled with CUDA 13.0.88 and read from its reports: 208 of 240 are clean and 224 spill, 192 of 216 are clean, and 144 of 160.
  const int others = consumer_registers <= 160 ? 16 : consumer_registers <= 232 ? 24 : 32;
  return std::max(0, consumer_registers - others);
}

std::optional<Rejection> find_overfull(const Tile& tile, const Roles& roles, int temporaries) {
  const std::int64_t asked = accumulators(tile, roles) + temporaries, most = most_accumulators(roles.consumer_registers);
  if (asked <= most) return std::nullopt;
  const std::int64_t n = rounded_down(std::max<std::int64_t>(most - temporaries, 0) * threads_of_a_tile(roles) / tile.m, 8);
  return beyond(Reason::over_registers, asked, most,
                fmt::format("a tile of m={} n={} takes {} registers of a consumer's thread{}; of its {} at most {} can be. {}", tile.m, tile.n, asked,
                            temporaries > 0 ? fmt::format(", {} temporaries among them", temporaries) : "", roles.consumer_registers, most,
                            n > 0 ? fmt::format("With m={} the largest n that fits is {}.", tile.m, n) : fmt::format("No n fits with m={}.", tile.m)));
}

std::optional<Rejection> find_illegal_wgmma(int n, const Roles& roles, const Gpu& gpu) {
  // PTX ISA, "wgmma.mma_async": the shapes for 16-bit and 8-bit floats.
  constexpr int kMostColumns = 256;
  if (n < 8 || n > kMostColumns || n % 8 != 0)
    return beyond(Reason::schedule_error, n, kMostColumns, fmt::format("a wgmma of n={}: n is a multiple of 8 from 8 to {}", n, kMostColumns));
  const int threads = threads_of(roles), entry = entry_registers(threads, gpu, roles.blocks_per_sm), asked = n / 2 + kBesideOneWgmma;
  if (asked <= entry) return std::nullopt;
  return beyond(Reason::over_registers, asked, entry,
                fmt::format("a wgmma of n={} needs {} registers a thread; a block of {} threads starts with {} (C7602). The largest n that fits is {}.",
                            n, asked, threads, entry, rounded_down(2 * (entry - kBesideOneWgmma), 8)));
}

}  // namespace kiln::generators::cuda::resources
