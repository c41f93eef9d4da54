// Copies that go on by themselves: TMA tiles, bulk copies, cp.async. All need 16-byte aligned ends; a tile in shared memory needs the alignment of
// its swizzle (128 bytes without one, 1024 with 128-byte rows).
#pragma once

// L2 policies in the encoding that createpolicy.fractional with fraction 1.0 gives.
enum : u64 { HINT_NORMAL = 0x1000000000000000ull, HINT_EVICT_FIRST = 0x12F0000000000000ull, HINT_EVICT_LAST = 0x14F0000000000000ull };

// ---- TMA, two dimensions: x counts elements along a row, y rows. Outside the tensor loads give zeros and stores write nothing.
DEV void tma_load(u32 dst, const TensorMap* map, u32 bar, int x, int y, u64 hint) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%3, %4}], [%2], %5;"
               ::"r"(dst), "l"(map), "r"(bar), "r"(x), "r"(y), "l"(hint) : "memory");
}
// Into the same offset of every block whose bit is set, each counting on its own barrier at that offset.
DEV void tma_load_multicast(u32 dst, const TensorMap* map, u32 bar, int x, int y, u16 ranks, u64 hint) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%0], [%1, {%3, %4}], [%2], %5, %6;"
               ::"r"(dst), "l"(map), "r"(bar), "r"(x), "r"(y), "h"(ranks), "l"(hint) : "memory");
}
DEV void tma_store(const TensorMap* map, u32 src, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map), "r"(src), "r"(x), "r"(y) : "memory");
}
DEV void tma_prefetch_map(const TensorMap* map) { asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory"); }

// ---- bulk copies: a run of bytes, a multiple of 16
DEV void bulk_load(u32 dst, const void* src, u32 bytes, u32 bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(dst), "l"(src), "r"(bytes), "r"(bar) : "memory");
}
DEV void bulk_store(void* dst, u32 src, u32 bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(dst), "r"(src), "r"(bytes) : "memory");
}

// ---- groups of the stores that this thread issued. `read`: the shared memory may be overwritten; `all`: global memory is written
DEV void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int GROUPS> DEV void bulk_wait_read() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(GROUPS) : "memory"); }
DEV void bulk_wait_all() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

// ---- cp.async: 16 bytes a thread, through the ordinary proxy
DEV void cp_async_16(u32 dst, const void* src) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(dst), "l"(src) : "memory"); }
DEV void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int GROUPS> DEV void cp_async_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(GROUPS) : "memory"); }
