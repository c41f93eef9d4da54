// Values between registers, lanes, shared and global memory, as in generators/cuda/device/moves.cuh.
#pragma once

namespace kiln_device {

enum class Lane_ { index, exclusive_or, down };
u32 shuffle_(Lane_ how, u32 v, int by, int line);
void move_shared_(u32 address, void* registers, int bytes, bool store, int line);
void move_cluster_(u32 address, float* value, bool store, int line);
void move_matrices_(u32 address, u32* r, int count, bool transposed, bool store, int line);

u32 smem_u32(const void* p);

template <class T> DEV T ld_shared(u32 address, KILN_LINE) { T v; move_shared_(address, &v, sizeof v, false, line); return v; }
template <class T> DEV void st_shared(u32 address, T value, KILN_LINE) { move_shared_(address, &value, sizeof value, true, line); }
DEV float ld_cluster(u32 address, KILN_LINE) { float v; move_cluster_(address, &v, false, line); return v; }
DEV void st_cluster(u32 address, float v, KILN_LINE) { move_cluster_(address, &v, true, line); }

DEV u32 shfl_idx(u32 v, int lane, KILN_LINE) { return shuffle_(Lane_::index, v, lane, line); }
DEV float shfl_xor(float v, int mask, KILN_LINE) { return __uint_as_float(shuffle_(Lane_::exclusive_or, __float_as_uint(v), mask, line)); }
DEV float shfl_down(float v, int lanes, KILN_LINE) { return __uint_as_float(shuffle_(Lane_::down, __float_as_uint(v), lanes, line)); }

DEV void stmatrix_x4(u32 address, u32 a, u32 b, u32 c, u32 d, KILN_LINE) { u32 r[] = {a, b, c, d}; move_matrices_(address, r, 4, false, true, line); }
DEV void stmatrix_x4_trans(u32 address, u32 a, u32 b, u32 c, u32 d, KILN_LINE) { u32 r[] = {a, b, c, d}; move_matrices_(address, r, 4, true, true, line); }
DEV void stmatrix_x2_trans(u32 address, u32 a, u32 b, KILN_LINE) { u32 r[] = {a, b}; move_matrices_(address, r, 2, true, true, line); }
DEV void ldmatrix_x4(u32 (&r)[4], u32 address, KILN_LINE) { move_matrices_(address, r, 4, false, false, line); }
DEV void ldmatrix_x4_trans(u32 (&r)[4], u32 address, KILN_LINE) { move_matrices_(address, r, 4, true, false, line); }

}  // namespace kiln_device
