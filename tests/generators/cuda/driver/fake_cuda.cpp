// A CUDA driver for tests without a GPU: it says that there is one H200, its memory is the process's, kernels do nothing, and every call is written down. Time
// passes only as a test says: on the host by what each call costs, on the device by what events are told to be apart.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "generators/cuda/driver/api.h"

using namespace kiln::generators::cuda::driver;

// What every launch of a kernel does at once; null: nothing.
void (*fake_kernel)(const std::string& name, const LaunchShape& shape, void** parameters) = nullptr;

namespace {

// As an H200 answers to cuDeviceGetAttribute, by CUDA's numbers.
const std::map<int, int> kH200 = {{1, 1024},   {10, 32},      {12, 65536},   {13, 1980000}, {16, 132},    {36, 3201000}, {37, 6144}, {38, 62914560}, {39, 2048},
                                  {75, 9},     {76, 0},       {81, 233472},  {82, 65536},   {97, 232448}, {106, 32},     {111, 1024}, {120, 1}};

std::map<int, int> attributes = kH200;
std::map<std::string, Status> failing;
std::string calls, told;

std::map<std::string, std::int64_t> costs;  // ns of the host, by call
std::int64_t host_ns = 0;
std::vector<float> elapsed_ms = {0.5f};     // between two events: one after the other, and again from the first
std::size_t elapsed_at = 0;
std::uint64_t sm_mhz = 1500;
std::vector<CuContext> current;             // pushed by this process
void (*on_launch)(const char* kernel, const LaunchShape*, void** arguments) = nullptr;
std::map<std::string, std::string> kernels; // by name; an entry's address stands for the kernel

// A process that finds KILN_FAKE_CUDA_BREAKS in its environment breaks its device with the first kernel that it launches, as an access to a wrong address does:
// every later call fails. When it is the path of a file, the file then remembers that the device is broken for all processes.
constexpr Status kIllegalAddress = 700, kUncorrectable = 214;
bool is_broken = false;

Status status_of_device(const std::string& name) {
  const char* breaks = std::getenv("KILN_FAKE_CUDA_BREAKS");
  const bool is_of_driver = name == "cuInit" || name.starts_with("cuDeviceGet") || name == "cuDeviceTotalMem";  // they ask the device for nothing
  if (breaks == nullptr || is_of_driver) return kSuccess;
  if (access(breaks, F_OK) == 0) return kUncorrectable;
  return is_broken ? kIllegalAddress : kSuccess;
}

void launch_something() {
  is_broken = true;
  const char* breaks = std::getenv("KILN_FAKE_CUDA_BREAKS");
  if (breaks != nullptr && breaks[0] == '/') std::ofstream(breaks) << "broken";
}

// Writes the call down and says how it ends.
Status note(const std::string& name, const std::string& what = "") {
  if (fake_kernel != nullptr) return kSuccess;  // a long life under a real program: nobody reads along
  calls += (calls.empty() ? "" : "; ") + name + (what.empty() ? "" : " ") + what;
  if (const auto cost = costs.find(name); cost != costs.end()) host_ns += cost->second;
  const auto found = failing.find(name);
  return found == failing.end() ? status_of_device(name) : found->second;
}

template <typename Pointer>
void point_at_something(Pointer* pointer) {
  static int something;
  *pointer = reinterpret_cast<Pointer>(&something);
}

std::string text(std::size_t number) { return std::to_string(number); }

std::string described(const LaunchShape& shape) {
  std::string line = text(shape.grid[0]) + "x" + text(shape.grid[1]) + "x" + text(shape.grid[2]) + " blocks of " + text(shape.threads[0]) + "x" +
                     text(shape.threads[1]) + "x" + text(shape.threads[2]) + " with " + text(shape.shared_bytes);
  for (unsigned i = 0; i < shape.attribute_count; ++i) {
    const LaunchAttribute& attribute = shape.attributes[i];
    if (attribute.kind == LaunchAttribute::cluster_dimension)
      line += " cluster " + text(attribute.cluster[0]) + "x" + text(attribute.cluster[1]) + "x" + text(attribute.cluster[2]);
    else
      line += " serialized " + std::to_string(attribute.is_allowed);
  }
  return line;
}

}  // namespace

extern "C" {

void fake_reset() {
  attributes = kH200;
  failing.clear();
  calls.clear();
  costs.clear();
  elapsed_ms = {0.5f};
  elapsed_at = 0;
  sm_mhz = 1500;
}
const char* fake_calls() {
  told = calls;
  calls.clear();
  return told.c_str();
}
void fake_on_launch(void (*hear)(const char*, const LaunchShape*, void**)) { on_launch = hear; }
void fake_fail(const char* name, int status) { failing[name] = status; }
void fake_cost(const char* name, std::int64_t ns) { costs[name] = ns; }
std::int64_t fake_now() { return host_ns; }
void fake_elapsed(const float* ms, std::size_t count) { elapsed_ms.assign(ms, ms + count), elapsed_at = 0; }
void fake_sm_mhz(std::uint64_t mhz) { sm_mhz = mhz; }
void fake_attribute(int attribute, int value) { attributes[attribute] = value; }

Status cuGetErrorName(Status status, const char** name) {
  *name = status == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : status == 100 ? "CUDA_ERROR_NO_DEVICE" : status == kUncorrectable ? "CUDA_ERROR_ECC_UNCORRECTABLE"
          : status == kIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS" : nullptr;
  return *name == nullptr ? 1 : kSuccess;
}
Status cuGetErrorString(Status status, const char** string) {
  *string = status == 2 ? "out of memory" : status == 100 ? "no CUDA-capable device is detected" : status == kUncorrectable ? "uncorrectable ECC error encountered"
            : status == kIllegalAddress ? "an illegal memory access was encountered" : nullptr;
  return *string == nullptr ? 1 : kSuccess;
}
Status cuInit(unsigned) { return note("cuInit"); }
Status cuGetExportTable(const void** table, const void*) { return *table = nullptr, 500; }  // NVRTC asks a driver that it finds, and does without
Status cuDriverGetVersion(int* version) { return *version = 13000, note("cuDriverGetVersion"); }
Status cuDeviceGetCount(int* count) { return *count = 1, note("cuDeviceGetCount"); }
Status cuDeviceGet(int* device, int ordinal) { return *device = ordinal + 40, note("cuDeviceGet", text(static_cast<std::size_t>(ordinal))); }
Status cuDeviceGetName(char* name, int bytes, int device) {
  std::strncpy(name, device == 40 ? "NVIDIA H200" : "another", static_cast<std::size_t>(bytes));
  return note("cuDeviceGetName");
}
Status cuDeviceTotalMem_v2(std::size_t* bytes, int) { return *bytes = 150'100'000'000, note("cuDeviceTotalMem"); }
Status cuDeviceGetAttribute(int* value, int attribute, int) { return *value = attributes.at(attribute), note("cuDeviceGetAttribute", std::to_string(attribute)); }
Status cuDevicePrimaryCtxRetain(CuContext* context, int device) { return point_at_something(context), note("cuDevicePrimaryCtxRetain", std::to_string(device)); }
Status cuDevicePrimaryCtxRelease_v2(int device) { return note("cuDevicePrimaryCtxRelease", std::to_string(device)); }
Status cuCtxGetCurrent(CuContext* context) { return *context = current.empty() ? nullptr : current.back(), note("cuCtxGetCurrent"); }
Status cuCtxGetDevice(int* device) { return *device = 40, note("cuCtxGetDevice"); }
Status cuCtxPushCurrent_v2(CuContext context) { return current.push_back(context), note("cuCtxPushCurrent"); }
Status cuCtxPopCurrent_v2(CuContext* context) { return *context = current.back(), current.pop_back(), note("cuCtxPopCurrent"); }
Status cuCtxSetCurrent(CuContext) { return note("cuCtxSetCurrent"); }
Status cuMemAlloc_v2(Address* address, std::size_t bytes) {
  const Status status = note("cuMemAlloc", text(bytes));
  *address = status == kSuccess ? reinterpret_cast<Address>(std::calloc(1, bytes)) : 0;
  return status;
}
Status cuMemFree_v2(Address address) { return std::free(reinterpret_cast<void*>(address)), note("cuMemFree"); }
Status cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t bytes, CuStream) {
  return std::memcpy(reinterpret_cast<void*>(to), from, bytes), note("cuMemcpyHtoDAsync", text(bytes));
}
Status cuMemcpyDtoDAsync_v2(Address to, Address from, std::size_t bytes, CuStream) {
  return std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes), note("cuMemcpyDtoDAsync", text(bytes));
}
Status cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes, CuStream) {
  return std::memcpy(to, reinterpret_cast<void*>(from), bytes), note("cuMemcpyDtoHAsync", text(bytes));
}
Status cuMemsetD8Async(Address to, unsigned char byte, std::size_t count, CuStream) {
  return std::memset(reinterpret_cast<void*>(to), byte, count), note("cuMemsetD8Async", text(count));
}
Status cuLibraryLoadData(CuLibrary* library, const void*, int*, void**, unsigned, int*, void**, unsigned) {
  return point_at_something(library), note("cuLibraryLoadData");
}
Status cuLibraryUnload(CuLibrary) { return note("cuLibraryUnload"); }
Status cuLibraryGetKernel(CuKernel* kernel, CuLibrary, const char* name) {
  *kernel = reinterpret_cast<CuKernel>(&(kernels[name] = name));
  return note("cuLibraryGetKernel", name);
}
Status cuKernelGetFunction(CuFunction* function, CuKernel kernel) {
  *function = reinterpret_cast<CuFunction>(kernel);
  return note("cuKernelGetFunction");
}
Status cuFuncGetAttribute(int* value, int attribute, CuFunction) { return *value = 1000 + attribute, note("cuFuncGetAttribute", std::to_string(attribute)); }
Status cuFuncSetAttribute(CuFunction, int attribute, int value) {
  return note("cuFuncSetAttribute", std::to_string(attribute) + " to " + std::to_string(value));
}
Status cuFuncGetParamInfo(CuFunction, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  if (index >= 3) return 1;
  *offset = 8 * index;
  *bytes = index == 2 ? 128 : 8;
  return kSuccess;
}
Status cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CuFunction, int threads, std::size_t shared_bytes) {
  return *blocks = 2, note("cuOccupancyMaxActiveBlocksPerMultiprocessor", std::to_string(threads) + " " + text(shared_bytes));
}
Status cuOccupancyMaxActiveClusters(int* clusters, CuFunction, const LaunchShape* shape) {
  return *clusters = 66, note("cuOccupancyMaxActiveClusters", described(*shape));
}
Status cuLaunchKernelEx(const LaunchShape* shape, CuFunction function, void** arguments, void**) {
  const std::string& name = *reinterpret_cast<const std::string*>(function);
  if (fake_kernel != nullptr) {
    fake_kernel(name, *shape, arguments);
    return note("cuLaunchKernelEx");
  }
  if (on_launch != nullptr) on_launch(name.c_str(), shape, arguments);
  if (name != "kiln_hold") {
    const Status status = note("cuLaunchKernelEx", described(*shape));
    launch_something();
    return status;
  }
  const std::uint64_t ns = *static_cast<const std::uint64_t*>(arguments[1]), told[] = {ns * sm_mhz / 1000, ns};
  std::memcpy(reinterpret_cast<void*>(*static_cast<const Address*>(arguments[0])), told, sizeof told);
  return note("cuLaunchKernelEx", "hold " + text(ns));
}
Status cuStreamCreate(CuStream* stream, unsigned flags) { return point_at_something(stream), note("cuStreamCreate", text(flags)); }
Status cuStreamDestroy_v2(CuStream) { return note("cuStreamDestroy"); }
Status cuStreamQuery(CuStream) { return note("cuStreamQuery"); }
Status cuStreamSynchronize(CuStream) { return note("cuStreamSynchronize"); }
Status cuStreamBeginCapture_v2(CuStream, int mode) { return note("cuStreamBeginCapture", std::to_string(mode)); }
Status cuStreamEndCapture(CuStream, CuGraph* graph) { return point_at_something(graph), note("cuStreamEndCapture"); }
Status cuStreamWaitEvent(CuStream, CuEvent, unsigned) { return note("cuStreamWaitEvent"); }
Status cuEventCreate(CuEvent* event, unsigned flags) { return point_at_something(event), note("cuEventCreate", text(flags)); }
Status cuEventDestroy_v2(CuEvent) { return note("cuEventDestroy"); }
Status cuEventRecord(CuEvent, CuStream) { return note("cuEventRecord"); }
Status cuEventQuery(CuEvent) { return note("cuEventQuery"); }
Status cuEventSynchronize(CuEvent) { return note("cuEventSynchronize"); }
Status cuEventElapsedTime(float* ms, CuEvent, CuEvent) { return *ms = elapsed_ms[elapsed_at++ % elapsed_ms.size()], note("cuEventElapsedTime"); }
Status cuGraphInstantiateWithFlags(CuGraphExec* graph, CuGraph, unsigned long long) { return point_at_something(graph), note("cuGraphInstantiate"); }
Status cuGraphLaunch(CuGraphExec, CuStream) { return note("cuGraphLaunch"); }
Status cuGraphDestroy(CuGraph) { return note("cuGraphDestroy"); }
Status cuGraphExecDestroy(CuGraphExec) { return note("cuGraphExecDestroy"); }
Status cuTensorMapEncodeTiled(void* map, int type, unsigned rank, void* base, const std::uint64_t* extents, const std::uint64_t* pitches_bytes,
                              const std::uint32_t* box, const std::uint32_t* steps, int interleave, int swizzle, int l2_promotion, int fill) {
  std::string line = std::to_string(type) + " at " + text(reinterpret_cast<std::size_t>(base));
  for (unsigned d = 0; d < rank; ++d) line += " " + text(extents[d]) + "/" + text(box[d]) + "/" + text(steps[d]);
  for (unsigned d = 0; d + 1 < rank; ++d) line += " pitch " + text(pitches_bytes[d]);
  for (const int choice : {interleave, swizzle, l2_promotion, fill}) line += " " + std::to_string(choice);
  std::memset(map, 7, 128);
  return note("cuTensorMapEncodeTiled", line);
}

}  // extern "C"
