// The words of the device code: integers, tensor maps, vectors of words. Included first; no file of this folder includes another, so that
// NVRTC needs no include path and a kernel's text names what it uses. Shared-memory addresses are 32-bit addresses of the shared window.
#pragma once
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#define DEV __device__ __forceinline__

struct alignas(64) TensorMap { char opaque[128]; };                             // same layout as CUtensorMap
template <int BYTES> struct alignas(BYTES < 16 ? BYTES : 16) Vec { u32 w[BYTES / 4]; };  // 4, 8, 16 or 32 bytes
