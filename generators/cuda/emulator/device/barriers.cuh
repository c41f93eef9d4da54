// Who waits for whom, as in generators/cuda/device/barriers.cuh.
#pragma once

namespace kiln_device {

void set_registers_(int count, bool grow, int line);

void mbar_init(u32 bar, u32 arrivals, KILN_LINE);
void fence_mbar_init(KILN_LINE);
void mbar_expect_tx(u32 bar, u32 bytes, KILN_LINE);
void mbar_arrive(u32 bar, KILN_LINE);
void mbar_arrive_remote(u32 bar, u32 rank, KILN_LINE);
void mbar_wait(u32 bar, u32 parity, KILN_LINE);

void bar_sync(int id, int threads, KILN_LINE);
void bar_arrive(int id, int threads, KILN_LINE);
bool elect_one(KILN_LINE);

void cluster_arrive(KILN_LINE);
void cluster_wait(KILN_LINE);
void cluster_sync(KILN_LINE);
u32 cluster_rank();
u32 mapa(u32 address, u32 rank);

void fence_async_proxy(KILN_LINE);

template <int REGISTERS> DEV void regs_shrink(KILN_LINE) { set_registers_(REGISTERS, false, line); }
template <int REGISTERS> DEV void regs_grow(KILN_LINE) { set_registers_(REGISTERS, true, line); }

DEV void pdl_launch_dependents() {}
void pdl_wait(KILN_LINE);

u32 ld_acquire(const u32* p, KILN_LINE);
void st_release(u32* p, u32 v, KILN_LINE);

}  // namespace kiln_device
