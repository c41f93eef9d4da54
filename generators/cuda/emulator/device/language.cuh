// The CUDA language for the host's compiler, as far as a kernel's text may use it; included before the text. What waits or touches memory takes
// its caller's line as a hidden last argument, so that a message can say where. The emulator (../) defines what is only declared here.
#pragma once
#define __device__
#define __global__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __grid_constant__
#define __restrict__
#define __shared__
#define __align__(n)
// `extern __shared__ __align__(1024) char smem_raw[];` becomes the declaration of a function that returns the block's array.
#define smem_raw (*kiln_shared_memory())
extern "C" char smem_raw[];
#define KILN_LINE int line = __builtin_LINE()
typedef decltype(sizeof 0) size_t;

namespace kiln_device {

struct Dim3 { unsigned x, y, z; };
extern Dim3 threadIdx, blockIdx, blockDim, gridDim;  // set whenever another thread goes on

struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
inline float fminf(float a, float b) { return __builtin_fminf(a, b); }
inline float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
inline float fabsf(float a) { return __builtin_fabsf(a); }
inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline float expf(float a) { return __builtin_expf(a); }
inline float logf(float a) { return __builtin_logf(a); }
inline float sqrtf(float a) { return __builtin_sqrtf(a); }
inline float sinf(float a) { return __builtin_sinf(a); }
inline float cosf(float a) { return __builtin_cosf(a); }
inline float tanf(float a) { return __builtin_tanf(a); }
inline float asinf(float a) { return __builtin_asinf(a); }
inline float acosf(float a) { return __builtin_acosf(a); }
inline float atanf(float a) { return __builtin_atanf(a); }
inline float atan2f(float a, float b) { return __builtin_atan2f(a, b); }
inline float sinhf(float a) { return __builtin_sinhf(a); }
inline float coshf(float a) { return __builtin_coshf(a); }
inline float tanhf(float a) { return __builtin_tanhf(a); }
inline float erff(float a) { return __builtin_erff(a); }
inline float powf(float a, float b) { return __builtin_powf(a, b); }
inline float floorf(float a) { return __builtin_floorf(a); }
inline float ceilf(float a) { return __builtin_ceilf(a); }
inline float truncf(float a) { return __builtin_truncf(a); }
inline float rintf(float a) { return __builtin_rintf(a); }
inline bool isnan(float a) { return __builtin_isnan(a); }
inline bool isinf(float a) { return __builtin_isinf(a); }
inline bool isfinite(float a) { return __builtin_isfinite(a); }
inline float __uint_as_float(unsigned v) { return __builtin_bit_cast(float, v); }
inline unsigned __float_as_uint(float v) { return __builtin_bit_cast(unsigned, v); }

void __syncthreads(KILN_LINE);
void __syncwarp(unsigned mask = ~0u, KILN_LINE);
void __threadfence(KILN_LINE);
unsigned atomicAdd(unsigned* p, unsigned v, KILN_LINE);
unsigned atomicMax(unsigned* p, unsigned v, KILN_LINE);

// Plain loads and stores are seen without any wrapper: the text is compiled with -fsanitize=thread, whose hooks the emulator defines.
template <class T> __forceinline__ T __ldcg(const T* p) { return *p; }
template <class T> __forceinline__ T __ldg(const T* p) { return *p; }
template <class T> __forceinline__ void __stcg(T* p, T v) { *p = v; }

}  // namespace kiln_device
using namespace kiln_device;

// How the host enters: arguments as cuLaunchKernel takes them.
template <class... A> void kiln_call_(void (*kernel)(A...), void** arguments) {
  int i = 0;
  struct Call { Call(void (*f)(A...), A... a) { f(a...); } };
  Call{kernel, *static_cast<A*>(arguments[i++])...};  // braces evaluate in order
}
#define KILN_ENTRY(kernel) extern "C" void kiln_entry(void** arguments) { kiln_call_(kernel, arguments); }
