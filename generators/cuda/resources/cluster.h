// Blocks that share what they load: whether a cluster of them may be launched, and how many of a persistent kernel run at once.
#pragma once

#include <cstdint>
#include <optional>

#include "dsl/device.h"
#include "generators/rejection.h"

namespace kiln::generators::cuda::resources {

struct Cluster {
  int m = 1, n = 1;  // tiles of one cluster along each dimension
  int blocks() const { return m * n; }
};

// Why a grid of tiles_m x tiles_n blocks cannot run in such clusters: there are none, they are too large, or a tile would have no partner to load its
// share. Nothing when it can.
std::optional<Rejection> find_illegal_cluster(const Cluster& cluster, std::int64_t tiles_m, std::int64_t tiles_n, const Gpu& gpu);

// Blocks of a kernel that stays on the SMs until all tiles are done: as many whole clusters as run at once (cuOccupancyMaxActiveClusters: a cluster lies
// in one group of SMs, so not every SM finds one), and no more than there are tiles for.
std::int64_t persistent_blocks(const Cluster& cluster, std::int64_t clusters_at_once, std::int64_t tiles);

}  // namespace kiln::generators::cuda::resources
