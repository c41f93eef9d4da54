#include "generators/package/opened.h"

#include <dlfcn.h>

#include "dsl/error.h"
#include "generators/runtime/dlpack_view.h"
#include "generators/runtime/set_numbers.h"

namespace kiln::generators::package {

namespace {

// The first members of every set's options; the library takes the rest as zero.
struct Options {
  std::uint32_t size = sizeof(Options);
  std::int32_t threads = 0;
};

struct Plan {
  std::uint64_t words[2];
  std::uint64_t workspace_bytes;
  std::uint64_t more[KILN_PLAN_BYTES / 8 - 3];
};

DLDataType dl_type(DType type) {
  static constexpr std::uint8_t kCodes[] = {kDLInt, kDLUInt, kDLFloat, kDLBfloat};
  if (type == kBool) return {kDLBool, 8, 1};
  return {kCodes[static_cast<int>(type.kind)], static_cast<std::uint8_t>(type.bits), 1};
}

// A DLTensor with the shape it points to: outermost first, as DLPack counts.
struct View {
  std::vector<std::int64_t> shape, strides;
  DLTensor tensor = {};

  explicit View(const BufferView& buffer) : shape(buffer.extents.rbegin(), buffer.extents.rend()), strides(buffer.strides.rbegin(), buffer.strides.rend()) {
    tensor.data = buffer.data;
    tensor.device.device_type = buffer.gpu ? kDLCUDA : kDLCPU;
    tensor.device.device_id = buffer.gpu.value_or(0);
    tensor.ndim = static_cast<std::int32_t>(shape.size());
    tensor.dtype = dl_type(buffer.type);
  }

  const DLTensor* point() {
    tensor.shape = shape.data();
    tensor.strides = strides.empty() ? nullptr : strides.data();
    return &tensor;
  }
};

}  // namespace

struct OpenedPackage::Functions {
  void* library = nullptr;
  int (*abi_version)() = nullptr;
  int (*load)(const Options*) = nullptr;
  int (*unload)() = nullptr;
  const char* (*last_error)() = nullptr;
  const char* (*manifest)(std::size_t*) = nullptr;
  int (*verify_plan)(const char*, int, const DLTensor* const*, Plan*) = nullptr;
  int (*verify_run)(const Plan*, void* const*, void*, std::size_t, void*) = nullptr;

  template <class Function>
  void find(Function& function, const std::string& name) {
    function = reinterpret_cast<Function>(dlsym(library, name.c_str()));
    if (function == nullptr) throw DataError("the library has no " + name);
  }

  ~Functions() {
    if (library != nullptr) dlclose(library);
  }
};

OpenedPackage::OpenedPackage(const std::filesystem::path& library, const std::string& set_name, int threads) : functions_(std::make_unique<Functions>()) {
  Functions& f = *functions_;
  f.library = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (f.library == nullptr) throw DataError(std::string("the package could not be opened: ") + dlerror());
  f.find(f.abi_version, set_name + "_abi_version");
  if (f.abi_version() != KILN_SET_ABI) {
    throw DataError(library.string() + " has ABI " + std::to_string(f.abi_version()) + ", this program knows " + std::to_string(static_cast<int>(KILN_SET_ABI)));
  }
  f.find(f.load, set_name + "_load");
  f.find(f.unload, set_name + "_unload");
  f.find(f.last_error, set_name + "_last_error");
  f.find(f.manifest, set_name + "_manifest");
  f.find(f.verify_plan, set_name + "_verify_plan");
  f.find(f.verify_run, set_name + "_verify_run");
  Options options;
  options.threads = threads;
  if (f.load(&options) != 0) throw DataError(f.last_error());
}

OpenedPackage::~OpenedPackage() { functions_->unload(); }

CallOutcome OpenedPackage::call(const std::string& entry, int variant, const std::vector<CallArgument>& arguments, const GpuCall& gpu) const {
  std::vector<View> views;
  std::vector<const DLTensor*> tensors;
  std::vector<void*> values;
  for (const CallArgument& argument : arguments) views.emplace_back(argument.buffer);
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    const bool is_scalar = arguments[a].scalar != nullptr;
    tensors.push_back(is_scalar ? nullptr : views[a].point());
    values.push_back(is_scalar ? const_cast<void*>(arguments[a].scalar) : arguments[a].buffer.data);
  }
  Plan plan;
  int code = functions_->verify_plan(entry.c_str(), variant, tensors.data(), &plan);
  if (code == 0) {
    void* const workspace = plan.workspace_bytes > 0 && gpu.workspace ? gpu.workspace(plan.workspace_bytes) : nullptr;
    code = functions_->verify_run(&plan, values.data(), workspace, plan.workspace_bytes, gpu.stream);
  }
  return {code, code == 0 ? "" : functions_->last_error()};
}

std::string OpenedPackage::manifest() const {
  std::size_t bytes = 0;
  const char* text = functions_->manifest(&bytes);
  return std::string(text, bytes);
}

}  // namespace kiln::generators::package
