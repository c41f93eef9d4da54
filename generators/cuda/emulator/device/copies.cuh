// Copies that go on by themselves, as in generators/cuda/device/copies.cuh. Hints change nothing here.
#pragma once

namespace kiln_device {

void bulk_wait_(int groups, bool read_only, int line);
void cp_async_wait_(int groups, int line);

enum : u64 { HINT_NORMAL = 0x1000000000000000ull, HINT_EVICT_FIRST = 0x12F0000000000000ull, HINT_EVICT_LAST = 0x14F0000000000000ull };

void tma_load(u32 dst, const TensorMap* map, u32 bar, int x, int y, u64 hint, KILN_LINE);
void tma_load_multicast(u32 dst, const TensorMap* map, u32 bar, int x, int y, u16 ranks, u64 hint, KILN_LINE);
void tma_store(const TensorMap* map, u32 src, int x, int y, KILN_LINE);
DEV void tma_prefetch_map(const TensorMap*) {}

void bulk_load(u32 dst, const void* src, u32 bytes, u32 bar, KILN_LINE);
void bulk_store(void* dst, u32 src, u32 bytes, KILN_LINE);

void bulk_commit(KILN_LINE);
template <int GROUPS> DEV void bulk_wait_read(KILN_LINE) { bulk_wait_(GROUPS, true, line); }
DEV void bulk_wait_all(KILN_LINE) { bulk_wait_(0, false, line); }

void cp_async_16(u32 dst, const void* src, KILN_LINE);
void cp_async_commit(KILN_LINE);
template <int GROUPS> DEV void cp_async_wait(KILN_LINE) { cp_async_wait_(GROUPS, line); }

}  // namespace kiln_device
