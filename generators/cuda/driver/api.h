// The functions of libcuda.so.1 that are used, with declarations of our own, so that nothing of CUDA is needed to build. Types, numbers and structures
// are those of cuda.h 13.0; the driver keeps old ones working.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kiln::generators::cuda::driver {

using Status = int;             // CUresult
using Address = std::uint64_t;  // CUdeviceptr

inline constexpr Status kSuccess = 0, kNotReady = 600;

using CuContext = struct CUctx_st*;
using CuEvent = struct CUevent_st*;
using CuFunction = struct CUfunc_st*;
using CuGraph = struct CUgraph_st*;
using CuGraphExec = struct CUgraphExec_st*;
using CuKernel = struct CUkern_st*;
using CuLibrary = struct CUlib_st*;
using CuStream = struct CUstream_st*;

// CUlaunchAttribute, of the kinds that are used.
struct LaunchAttribute {
  enum Kind : int { cluster_dimension = 4, programmatic_stream_serialization = 6 };
  Kind kind = cluster_dimension;
  char padding[4] = {};
  union {
    std::uint64_t words[8] = {};
    unsigned cluster[3];
    int is_allowed;
  };
};
static_assert(sizeof(LaunchAttribute) == 72 && offsetof(LaunchAttribute, words) == 8);

// CUlaunchConfig.
struct LaunchShape {
  unsigned grid[3] = {1, 1, 1}, threads[3] = {1, 1, 1}, shared_bytes = 0;
  CuStream stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};
static_assert(sizeof(LaunchShape) == 56 && offsetof(LaunchShape, stream) == 32);

// Each member is called as the function in the comment beside it is.
struct Api {
  Status (*error_name)(Status, const char**);                                             // cuGetErrorName
  Status (*error_text)(Status, const char**);                                             // cuGetErrorString
  Status (*init)(unsigned flags);                                                         // cuInit
  Status (*version)(int*);                                                                // cuDriverGetVersion
  Status (*device_count)(int*);                                                           // cuDeviceGetCount
  Status (*device)(int* device, int ordinal);                                             // cuDeviceGet
  Status (*device_name)(char* text, int bytes, int device);                               // cuDeviceGetName
  Status (*device_memory)(std::size_t* bytes, int device);                                // cuDeviceTotalMem
  Status (*device_attribute)(int*, int attribute, int device);                            // cuDeviceGetAttribute
  Status (*retain)(CuContext*, int device);                                               // cuDevicePrimaryCtxRetain
  Status (*release)(int device);                                                          // cuDevicePrimaryCtxRelease
  Status (*make_current)(CuContext);                                                      // cuCtxSetCurrent
  Status (*allocate)(Address*, std::size_t bytes);                                        // cuMemAlloc
  Status (*free)(Address);                                                                // cuMemFree
  Status (*to_device)(Address, const void*, std::size_t bytes, CuStream);                 // cuMemcpyHtoDAsync
  Status (*to_host)(void*, Address, std::size_t bytes, CuStream);                         // cuMemcpyDtoHAsync
  Status (*copy)(Address to, Address from, std::size_t bytes, CuStream);                  // cuMemcpyDtoDAsync
  Status (*fill)(Address, unsigned char, std::size_t count, CuStream);                    // cuMemsetD8Async
  Status (*load)(CuLibrary*, const void* code, int* options, void** values, unsigned count, int* library_options, void** library_values,
                 unsigned library_count);                                                 // cuLibraryLoadData
  Status (*unload)(CuLibrary);                                                            // cuLibraryUnload
  Status (*kernel)(CuKernel*, CuLibrary, const char* name);                               // cuLibraryGetKernel
  Status (*function)(CuFunction*, CuKernel);                                              // cuKernelGetFunction
  Status (*attribute)(int*, int attribute, CuFunction);                                   // cuFuncGetAttribute
  Status (*set_attribute)(CuFunction, int attribute, int value);                          // cuFuncSetAttribute
  Status (*parameter)(CuFunction, std::size_t index, std::size_t* offset, std::size_t* bytes);                 // cuFuncGetParamInfo
  Status (*blocks_per_sm)(int*, CuFunction, int threads, std::size_t shared_bytes);       // cuOccupancyMaxActiveBlocksPerMultiprocessor
  Status (*clusters)(int*, CuFunction, const LaunchShape*);                               // cuOccupancyMaxActiveClusters
  Status (*launch)(const LaunchShape*, CuFunction, void** arguments, void** extra);       // cuLaunchKernelEx
  Status (*create_stream)(CuStream*, unsigned flags);                                     // cuStreamCreate
  Status (*destroy_stream)(CuStream);                                                     // cuStreamDestroy
  Status (*query_stream)(CuStream);                                                       // cuStreamQuery
  Status (*wait_stream)(CuStream);                                                        // cuStreamSynchronize
  Status (*begin_capture)(CuStream, int mode);                                            // cuStreamBeginCapture
  Status (*end_capture)(CuStream, CuGraph*);                                              // cuStreamEndCapture
  Status (*wait_event_in_stream)(CuStream, CuEvent, unsigned flags);                      // cuStreamWaitEvent
  Status (*create_event)(CuEvent*, unsigned flags);                                       // cuEventCreate
  Status (*destroy_event)(CuEvent);                                                       // cuEventDestroy
  Status (*record_event)(CuEvent, CuStream);                                              // cuEventRecord
  Status (*query_event)(CuEvent);                                                         // cuEventQuery
  Status (*wait_event)(CuEvent);                                                          // cuEventSynchronize
  Status (*elapsed)(float* ms, CuEvent first, CuEvent last);                              // cuEventElapsedTime
  Status (*instantiate)(CuGraphExec*, CuGraph, unsigned long long flags);                 // cuGraphInstantiate
  Status (*launch_graph)(CuGraphExec, CuStream);                                          // cuGraphLaunch
  Status (*destroy_graph)(CuGraph);                                                       // cuGraphDestroy
  Status (*destroy_graph_exec)(CuGraphExec);                                              // cuGraphExecDestroy
  Status (*encode_tiled)(void* map, int type, unsigned rank, void* base, const std::uint64_t* extents, const std::uint64_t* pitches_bytes,
                         const std::uint32_t* box, const std::uint32_t* steps, int interleave, int swizzle, int l2_promotion,
                         int fill);                                                       // cuTensorMapEncodeTiled
};

}  // namespace kiln::generators::cuda::driver
