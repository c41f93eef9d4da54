/* mixed 2.0.1 for C++17: views from pointers, exceptions from codes. */
#ifndef MIXED_HPP
#define MIXED_HPP

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mixed.h"

namespace mixed {

/* A code of the C functions with its sentence. */
class error : public std::runtime_error {
 public:
  explicit error(int code) : std::runtime_error(mixed_last_error()), code_(code) {}
  int code() const noexcept { return code_; }

 private:
  int code_;
};

inline void check(int code) {
  if (code != MIXED_OK) throw error(code);
}

/* The set, loaded for as long as this lives. Throws std::runtime_error when header and library are of different ABIs. */
class library {
 public:
  explicit library(mixed_opts options = {}) {
    if (mixed_abi_version() != MIXED_ABI) {
      throw std::runtime_error("mixed: the library has ABI " + std::to_string(mixed_abi_version()) + ", this header has " + std::to_string(MIXED_ABI));
    }
    options.size = sizeof options;
    check(mixed_load(&options));
  }
  ~library() { mixed_unload(); }
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
    if (!strides_.empty() && strides_.size() != shape_.size()) throw std::invalid_argument("mixed: a tensor needs one stride a dimension, or none");
  }

  DLTensor view() const {
    DLTensor result = view_;
    result.ndim = static_cast<std::int32_t>(shape_.size());
    result.shape = const_cast<std::int64_t*>(shape_.data());
    result.strides = strides_.empty() ? nullptr : const_cast<std::int64_t*>(strides_.data());
    return result;
  }

  /* The same view of memory on a GPU. */
  tensor on_cuda(int device) const {
    tensor result = *this;
    result.view_.device = DLDevice{kDLCUDA, device};
    return result;
  }

 private:
  DLTensor view_ = {};
  std::vector<std::int64_t> shape_, strides_;
};

/* scale(f32, mode=half): argument shapes are in mixed.h. */
class scale_plan {
 public:
  explicit scale_plan(const tensor& in_, const tensor& y) {
    const DLTensor in__view = in_.view();
    const DLTensor y_view = y.view();
    check(mixed_scale_plan(&in__view, &y_view, &plan_));
  }
  void run(const void* in_, float factor, void* y, void* stream = nullptr, void* workspace = nullptr) const { check(mixed_scale_run(&plan_, in_, factor, y, workspace, plan_.workspace_bytes, stream)); }
  int tier() const noexcept { return plan_.tier; }
  int variant() const noexcept { return plan_.variant; }
  /* What run needs at `workspace`. */
  std::uint64_t workspace_bytes() const noexcept { return plan_.workspace_bytes; }

 private:
  mixed_plan plan_;
};

inline void scale(const tensor& in_, float factor, const tensor& y, void* stream = nullptr, void* workspace = nullptr, std::size_t workspace_bytes = 0) {
  const DLTensor in__view = in_.view();
  const DLTensor y_view = y.view();
  check(mixed_scale(&in__view, factor, &y_view, workspace, workspace_bytes, stream));
}

/* scaled(bf16): argument shapes are in mixed.h. */
class scaled_plan {
 public:
  explicit scaled_plan(const tensor& x, const tensor& y) {
    const DLTensor x_view = x.view();
    const DLTensor y_view = y.view();
    check(mixed_scaled_plan(&x_view, &y_view, &plan_));
  }
  void run(const void* x, float eps, void* y, void* stream = nullptr, void* workspace = nullptr) const { check(mixed_scaled_run(&plan_, x, eps, y, workspace, plan_.workspace_bytes, stream)); }
  int tier() const noexcept { return plan_.tier; }
  int variant() const noexcept { return plan_.variant; }
  /* What run needs at `workspace`. */
  std::uint64_t workspace_bytes() const noexcept { return plan_.workspace_bytes; }

 private:
  mixed_plan plan_;
};

inline void scaled(const tensor& x, float eps, const tensor& y, void* stream = nullptr, void* workspace = nullptr, std::size_t workspace_bytes = 0) {
  const DLTensor x_view = x.view();
  const DLTensor y_view = y.view();
  check(mixed_scaled(&x_view, eps, &y_view, workspace, workspace_bytes, stream));
}

}  // namespace mixed

#endif
