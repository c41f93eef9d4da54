// The C++ header: views from pointers, exceptions from codes. Header-only over the C functions.
#include <fmt/format.h>

#include "generators/package/emit.h"
#include "generators/package/spelling.h"

namespace kiln::generators::package {

namespace {

constexpr const char* kCommon = R"(namespace $ {

/* A code of the C functions with its sentence. */
class error : public std::runtime_error {
 public:
  explicit error(int code) : std::runtime_error($_last_error()), code_(code) {}
  int code() const noexcept { return code_; }

 private:
  int code_;
};

inline void check(int code) {
  if (code != $$_OK) throw error(code);
}

/* The set, loaded for as long as this lives. Throws std::runtime_error when header and library are of different ABIs. */
class library {
 public:
  explicit library($_opts options = {}) {
    if ($_abi_version() != $$_ABI) {
      throw std::runtime_error("$: the library has ABI " + std::to_string($_abi_version()) + ", this header has " + std::to_string($$_ABI));
    }
    options.size = sizeof options;
    check($_load(&options));
  }
  ~library() { $_unload(); }
  library(const library&) = delete;
  library& operator=(const library&) = delete;
};

template <class T>
constexpr DLDataType element_type() {
  using U = std::remove_cv_t<T>;
  static_assert(std::is_arithmetic_v<U>, "elements are arithmetic types; for half and bfloat16 give the DLDataType");
  const auto code = std::is_same_v<U, bool> ? 6 : std::is_floating_point_v<U> ? 2 : std::is_signed_v<U> ? 0 : 1;
  return DLDataType{static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * sizeof(U)), 1};
}

/* A view of memory that somebody else owns. Shape outermost first, strides in elements; none means row-major. */
class tensor {
 public:
  template <class T>
  tensor(T* data, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides = {})
      : tensor(const_cast<std::remove_cv_t<T>*>(data), element_type<T>(), std::move(shape), std::move(strides)) {}

  tensor(void* data, DLDataType type, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides = {})
      : shape_(std::move(shape)), strides_(std::move(strides)) {
    view_.data = data;
    view_.device.device_type = kDLCPU;
    view_.dtype = type;
    if (!strides_.empty() && strides_.size() != shape_.size()) throw std::invalid_argument("$: a tensor needs one stride a dimension, or none");
  }

  DLTensor view() const {
    DLTensor result = view_;
    result.ndim = static_cast<std::int32_t>(shape_.size());
    result.shape = const_cast<std::int64_t*>(shape_.data());
    result.strides = strides_.empty() ? nullptr : const_cast<std::int64_t*>(strides_.data());
    return result;
  }
@ON_CUDA@
 private:
  DLTensor view_ = {};
  std::vector<std::int64_t> shape_, strides_;
};

)";

constexpr const char* kOnCuda = R"(
  /* The same view of memory on a GPU. */
  tensor on_cuda(int device) const {
    tensor result = *this;
    result.view_.device = DLDevice{kDLCUDA, device};
    return result;
  }
)";

struct Lists {
  std::string tensors, views, view_names, pointers, pointer_names, all, all_names;  // each closed by no comma
};

void add(std::string& list, const std::string& item) { list += (list.empty() ? "" : ", ") + item; }

Lists lists_of(const Entry& entry, const char* indent) {
  Lists lists;
  for (const PackageArgument& argument : entry.arguments) {
    const std::string name = spelled(argument.name);
    if (argument.is_scalar) {
      add(lists.pointers, c_type(argument.type) + " " + name);
      add(lists.all, c_type(argument.type) + " " + name);
      add(lists.all_names, name);
    } else {
      add(lists.tensors, "const tensor& " + name);
      lists.views += fmt::format("{1}const DLTensor {0}_view = {0}.view();\n", name, indent);
      add(lists.view_names, "&" + name + "_view");
      add(lists.pointers, (argument.is_output ? "void* " : "const void* ") + name);
      add(lists.all, "const tensor& " + name);
      add(lists.all_names, "&" + name + "_view");
    }
    add(lists.pointer_names, name);
  }
  return lists;
}

// What a GPU's calls take beside their arguments, and its plans tell.
struct GpuParts {
  std::string run_parameters, run_values, call_parameters, call_values, members;
};

GpuParts gpu_parts(const KernelSet& set) {
  if (!is_for_gpu(set)) return {};
  return {.run_parameters = ", void* stream = nullptr, void* workspace = nullptr",
          .run_values = ", workspace, plan_.workspace_bytes, stream",
          .call_parameters = ", void* stream = nullptr, void* workspace = nullptr, std::size_t workspace_bytes = 0",
          .call_values = ", workspace, workspace_bytes, stream",
          .members = "  /* What run needs at `workspace`. */\n  std::uint64_t workspace_bytes() const noexcept { return plan_.workspace_bytes; }\n"};
}

std::string entry_class(const KernelSet& set, const Entry& entry) {
  const Lists lists = lists_of(entry, "    ");  // inside a constructor
  const GpuParts gpu = gpu_parts(set);
  return fmt::format(R"(/* {0}: argument shapes are in {1}.h. */
class {2}_plan {{
 public:
  explicit {2}_plan({3}) {{
{4}    check({5}_plan({6}, &plan_));
  }}
  void run({7}) const {{ check({5}_run(&plan_, {8})); }}
  int tier() const noexcept {{ return plan_.tier; }}
  int variant() const noexcept {{ return plan_.variant; }}
{12}
 private:
  {1}_plan plan_;
}};

inline void {2}({9}) {{
{11}  check({5}({10}));
}}

)",
                     describe(entry), set.name, entry.c_name, lists.tensors, lists.views, function_name(set, entry), lists.view_names,
                     lists.pointers + gpu.run_parameters,
                     lists.pointer_names + gpu.run_values, lists.all + gpu.call_parameters, lists.all_names + gpu.call_values, lists_of(entry, "  ").views,
                     gpu.members);
}

}  // namespace

std::string emit_cpp_header(const KernelSet& set) {
  std::string text = fmt::format("/* {0} {1} for C++17: views from pointers, exceptions from codes. */\n#ifndef {2}_HPP\n#define {2}_HPP\n\n", set.name, set.version,
                                 upper(set.name));
  for (const char* header : {"cstddef", "cstdint", "stdexcept", "string", "type_traits", "utility", "vector"}) text += fmt::format("#include <{}>\n", header);
  text += fmt::format("\n#include \"{}.h\"\n\n", set.name) + with_names(set, replaced(kCommon, "@ON_CUDA@", is_for_gpu(set) ? kOnCuda : ""));
  for (const Entry& entry : set.entries) text += entry_class(set, entry);
  return text + fmt::format("}}  // namespace {}\n\n#endif\n", set.name);
}

}  // namespace kiln::generators::package
