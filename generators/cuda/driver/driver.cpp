#include "generators/cuda/driver/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace kiln::generators::cuda::driver {
namespace {

// Fills the members of an Api from a library that is open.
class Finder {
 public:
  Finder(void* library, const std::string& file) : library_(library), file_(file) {}

  template <typename Function>
  void operator()(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(dlsym(library_, name));
    if (function == nullptr)
      throw DriverMissing(fmt::format("{} is no CUDA driver, or one that is too old: it has no {}; CUDA 12.4 or newer is needed", file_, name));
  }

 private:
  void* library_;
  const std::string& file_;
};

void find_devices(Api& api, const Finder& find) {
  find(api.error_name, "cuGetErrorName");
  find(api.error_text, "cuGetErrorString");
  find(api.init, "cuInit");
  find(api.version, "cuDriverGetVersion");
  find(api.device_count, "cuDeviceGetCount");
  find(api.device, "cuDeviceGet");
  find(api.device_name, "cuDeviceGetName");
  find(api.device_memory, "cuDeviceTotalMem_v2");
  find(api.device_attribute, "cuDeviceGetAttribute");
  find(api.retain, "cuDevicePrimaryCtxRetain");
  find(api.release, "cuDevicePrimaryCtxRelease_v2");
  find(api.make_current, "cuCtxSetCurrent");
  find(api.allocate, "cuMemAlloc_v2");
  find(api.free, "cuMemFree_v2");
  find(api.to_device, "cuMemcpyHtoDAsync_v2");
  find(api.to_host, "cuMemcpyDtoHAsync_v2");
  find(api.copy, "cuMemcpyDtoDAsync_v2");
  find(api.fill, "cuMemsetD8Async");
}

void find_kernels(Api& api, const Finder& find) {
  find(api.load, "cuLibraryLoadData");
  find(api.unload, "cuLibraryUnload");
  find(api.kernel, "cuLibraryGetKernel");
  find(api.function, "cuKernelGetFunction");
  find(api.attribute, "cuFuncGetAttribute");
  find(api.set_attribute, "cuFuncSetAttribute");
  find(api.parameter, "cuFuncGetParamInfo");
  find(api.blocks_per_sm, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  find(api.clusters, "cuOccupancyMaxActiveClusters");
  find(api.launch, "cuLaunchKernelEx");
  find(api.encode_tiled, "cuTensorMapEncodeTiled");
}

void find_streams(Api& api, const Finder& find) {
  find(api.create_stream, "cuStreamCreate");
  find(api.destroy_stream, "cuStreamDestroy_v2");
  find(api.query_stream, "cuStreamQuery");
  find(api.wait_stream, "cuStreamSynchronize");
  find(api.begin_capture, "cuStreamBeginCapture_v2");
  find(api.end_capture, "cuStreamEndCapture");
  find(api.wait_event_in_stream, "cuStreamWaitEvent");
  find(api.create_event, "cuEventCreate");
  find(api.destroy_event, "cuEventDestroy_v2");
  find(api.record_event, "cuEventRecord");
  find(api.query_event, "cuEventQuery");
  find(api.wait_event, "cuEventSynchronize");
  find(api.elapsed, "cuEventElapsedTime");
  find(api.instantiate, "cuGraphInstantiateWithFlags");
  find(api.launch_graph, "cuGraphLaunch");
  find(api.destroy_graph, "cuGraphDestroy");
  find(api.destroy_graph_exec, "cuGraphExecDestroy");
}

// "out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)". A driver knows no words for a number that is no status of its.
std::string described(const Api& api, Status status) {
  const char *text = nullptr, *name = nullptr;
  if (api.error_text(status, &text) != kSuccess || api.error_name(status, &name) != kSuccess || text == nullptr || name == nullptr)
    return fmt::format("unknown error ({})", status);
  return fmt::format("{} ({}, {})", text, name, status);
}

}  // namespace

Driver Driver::load(const std::string& library) {
  void* const opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) throw DriverMissing(fmt::format("no CUDA driver: {}; it comes with NVIDIA's driver for the GPU", dlerror()));
  auto api = std::make_shared<Api>();
  const Finder find(opened, library);
  find_devices(*api, find);
  find_kernels(*api, find);
  find_streams(*api, find);
  if (const Status status = api->init(0); status != kSuccess)
    throw DriverMissing(fmt::format("the CUDA driver does not start: cuInit: {}", described(*api, status)));
  return Driver(std::move(api));
}

int Driver::version() const {
  int version = 0;
  check(api_->version(&version), "cuDriverGetVersion");
  return version;
}

int Driver::devices() const {
  int count = 0;
  check(api_->device_count(&count), "cuDeviceGetCount");
  return count;
}

int Driver::find(int ordinal) const {
  const int count = devices();
  if (ordinal < 0 || ordinal >= count) throw EnvironmentError(fmt::format("there is no cuda:{}: this process sees {} CUDA devices", ordinal, count));
  int device = 0;
  check(api_->device(&device, ordinal), fmt::format("cuDeviceGet of {}", ordinal));
  return device;
}

void Driver::check(Status status, std::string_view call) const {
  if (status != kSuccess) throw DriverError(status, fmt::format("{}: {}", call, described(*api_, status)));
}

}  // namespace kiln::generators::cuda::driver
