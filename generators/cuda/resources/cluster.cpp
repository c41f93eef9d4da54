#include "generators/cuda/resources/cluster.h"

#include <fmt/format.h>

#include <algorithm>

#include "generators/cuda/resources/spelling.h"

namespace kiln::generators::cuda::resources {
namespace {

std::optional<Rejection> find_odd_tile(const char* dimension, std::int64_t tiles, int of_cluster) {
  if (tiles % of_cluster == 0) return std::nullopt;
  return beyond(Reason::over_grid, tiles, rounded_down(tiles, of_cluster),
                fmt::format("{} tiles along {} do not divide among clusters of {}: {} would wait for partners; clusters of 1 along {} always do", tiles,
                            dimension, of_cluster, tiles % of_cluster, dimension));
}

}  // namespace

std::optional<Rejection> find_illegal_cluster(const Cluster& cluster, std::int64_t tiles_m, std::int64_t tiles_n, const Gpu& gpu) {
  if (cluster.blocks() == 1) return std::nullopt;
  if (gpu.cluster_blocks == 0)
    return beyond(Reason::over_grid, cluster.blocks(), 1, fmt::format("{} has no clusters; they need compute capability 9.0", gpu.arch));
  if (cluster.blocks() > gpu.cluster_blocks)
    return beyond(Reason::over_grid, cluster.blocks(), gpu.cluster_blocks,
                  fmt::format("a cluster of {} x {} = {} blocks; every launch may have {}", cluster.m, cluster.n, cluster.blocks(), gpu.cluster_blocks));
  if (auto rejection = find_odd_tile("m", tiles_m, cluster.m)) return rejection;
  return find_odd_tile("n", tiles_n, cluster.n);
}

std::int64_t persistent_blocks(const Cluster& cluster, std::int64_t clusters_at_once, std::int64_t tiles) {
  return cluster.blocks() * std::min(clusters_at_once, divided_up(tiles, cluster.blocks()));
}

}  // namespace kiln::generators::cuda::resources
