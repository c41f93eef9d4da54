// The words of the device code, as in generators/cuda/device/types.cuh.
#pragma once
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#define DEV __device__ __forceinline__

namespace kiln_device {

struct alignas(64) TensorMap { char opaque[128]; };  // holds an emulator::TensorMap2d
template <int BYTES> struct alignas(BYTES < 16 ? BYTES : 16) Vec { u32 w[BYTES / 4]; };

}  // namespace kiln_device
