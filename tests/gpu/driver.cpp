#include "driver.h"

#include <dlfcn.h>

#include "missing.h"

namespace kiln::gpu {
namespace {

class Library {
 public:
  Library() : handle_(dlopen("libcuda.so.1", RTLD_NOW)) {
    if (handle_ == nullptr) throw Missing("no CUDA driver: " + std::string(dlerror()));
  }
  template <class F>
  void find(F& f, const char* name) const {
    f = reinterpret_cast<F>(dlsym(handle_, name));
    if (f == nullptr) throw Missing(std::string("the CUDA driver is too old: it has no ") + name);
  }

 private:
  void* handle_;
};

Driver opened() {
  const Library library;
  Driver d{};
  library.find(d.error_string, "cuGetErrorString");
  library.find(d.load, "cuModuleLoadData");
  library.find(d.function, "cuModuleGetFunction");
  library.find(d.parameter, "cuFuncGetParamInfo");
  library.find(d.set_attribute, "cuFuncSetAttribute");
  library.find(d.allocate, "cuMemAlloc_v2");
  library.find(d.free, "cuMemFree_v2");
  library.find(d.to_device, "cuMemcpyHtoD_v2");
  library.find(d.to_host, "cuMemcpyDtoH_v2");
  library.find(d.create_stream, "cuStreamCreate");
  library.find(d.launch, "cuLaunchKernelEx");
  library.find(d.query, "cuStreamQuery");

  Status (*init)(unsigned);
  Status (*count)(int*);
  Status (*attribute)(int*, int, int);
  Status (*name)(char*, int, int);
  Status (*retain)(void**, int);
  Status (*make_current)(void*);
  Status (*entry)(const char*, void**, int, std::uint64_t, int*);
  library.find(init, "cuInit");
  library.find(count, "cuDeviceGetCount");
  library.find(attribute, "cuDeviceGetAttribute");
  library.find(name, "cuDeviceGetName");
  library.find(retain, "cuDevicePrimaryCtxRetain");
  library.find(make_current, "cuCtxSetCurrent");
  library.find(entry, "cuGetProcAddress_v2");

  int devices = 0, major = 0, minor = 0;
  if (init(0) != 0 || count(&devices) != 0 || devices == 0) throw Missing("no CUDA device");
  constexpr int kMajor = 75, kMinor = 76;
  d.check(attribute(&major, kMajor, 0), "cuDeviceGetAttribute");
  d.check(attribute(&minor, kMinor, 0), "cuDeviceGetAttribute");
  if (major != 9 || minor != 0) throw Missing("the device has compute capability " + std::to_string(major) + "." + std::to_string(minor) + "; sm_90a code runs on 9.0 only");
  char text[256] = {};
  d.check(name(text, sizeof text, 0), "cuDeviceGetName");
  d.device = text;
  void *context = nullptr, *encode = nullptr;
  d.check(retain(&context, 0), "cuDevicePrimaryCtxRetain");
  d.check(make_current(context), "cuCtxSetCurrent");
  d.check(entry("cuTensorMapEncodeTiled", &encode, 12000, 0, nullptr), "cuGetProcAddress");
  d.encode_tiled = reinterpret_cast<decltype(d.encode_tiled)>(encode);
  constexpr unsigned kNonBlocking = 1;
  d.check(d.create_stream(&d.stream, kNonBlocking), "cuStreamCreate");
  return d;
}

}  // namespace

void Driver::check(Status status, const char* what) const {
  if (status == 0) return;
  const char* text = "unknown error";
  error_string(status, &text);
  throw std::runtime_error(std::string(what) + ": " + text + " (" + std::to_string(status) + ")");
}

const Driver& driver() {
  static const Driver d = opened();
  return d;
}

}  // namespace kiln::gpu
