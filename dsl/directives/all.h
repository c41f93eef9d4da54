// Every directive, in the order of their names. A new one is a file like split.h, an include and a name here.
#pragma once

#include "dsl/directives/accesses.h"
#include "dsl/directives/align_bounds.h"
#include "dsl/directives/align_storage.h"
#include "dsl/directives/async.h"
#include "dsl/directives/atomic.h"
#include "dsl/directives/autoschedule.h"
#include "dsl/directives/blocks_per_sm.h"
#include "dsl/directives/bound.h"
#include "dsl/directives/bound_extent.h"
#include "dsl/directives/cache.h"
#include "dsl/directives/cluster.h"
#include "dsl/directives/compute_at.h"
#include "dsl/directives/compute_inline.h"
#include "dsl/directives/compute_root.h"
#include "dsl/directives/compute_with.h"
#include "dsl/directives/dependent_launch.h"
#include "dsl/directives/dots.h"
#include "dsl/directives/evict.h"
#include "dsl/directives/fix.h"
#include "dsl/directives/fold_storage.h"
#include "dsl/directives/fuse.h"
#include "dsl/directives/gpu_blocks.h"
#include "dsl/directives/gpu_threads.h"
#include "dsl/directives/hoist_storage.h"
#include "dsl/directives/hoist_storage_root.h"
#include "dsl/directives/l2_promotion.h"
#include "dsl/directives/own_schedule.h"
#include "dsl/directives/parallel.h"
#include "dsl/directives/partition.h"
#include "dsl/directives/persistent.h"
#include "dsl/directives/prefetch.h"
#include "dsl/directives/raster.h"
#include "dsl/directives/rename.h"
#include "dsl/directives/reorder.h"
#include "dsl/directives/reorder_storage.h"
#include "dsl/directives/rfactor.h"
#include "dsl/directives/rows.h"
#include "dsl/directives/serial.h"
#include "dsl/directives/specialize.h"
#include "dsl/directives/split.h"
#include "dsl/directives/split_reduction.h"
#include "dsl/directives/stage_in.h"
#include "dsl/directives/store_at.h"
#include "dsl/directives/store_in.h"
#include "dsl/directives/store_root.h"
#include "dsl/directives/store_through.h"
#include "dsl/directives/strips.h"
#include "dsl/directives/swap_operands.h"
#include "dsl/directives/tensorize.h"
#include "dsl/directives/tile.h"
#include "dsl/directives/unroll.h"
#include "dsl/directives/vector.h"
#include "dsl/directives/vectorize.h"
#include "dsl/directives/warps.h"

namespace kiln::directive {

template <typename... Directives>
struct List {};

// Those that rewrite loops and become Halide calls, the two that stand alone, those that only the CUDA back end runs, and what no back end can run.
using Applied = List<AlignBounds, AlignStorage, Atomic, Bound, BoundExtent, ComputeAt, ComputeInline, ComputeRoot, ComputeWith, FoldStorage, Fuse,
                     HoistStorage, HoistStorageRoot, Parallel, Partition, Prefetch, Rename, Reorder, ReorderStorage, Rfactor, Serial, Specialize, Split,
                     StoreAt, StoreIn, StoreRoot, Tile, Unroll, Vectorize>;
using Alone = List<Autoschedule, OwnSchedule>;
using OnGpu = List<Accesses, BlocksPerSm, Cache, Cluster, DependentLaunch, Dots, Evict, Fix, GpuBlocks, GpuThreads, L2Promotion, Persistent, Raster, Rows,
                   SplitReduction, StageIn, StoreThrough, Strips, SwapOperands, Tensorize, Vector, Warps>;
using Refused = List<Async>;

}  // namespace kiln::directive
