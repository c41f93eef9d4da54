// OpenBLAS as the rival: one copy of the library for each set of kernels, chosen by OPENBLAS_CORETYPE while it is loaded.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace kiln::bench {

class OpenBlas {
 public:
  // Loads a private copy of `library` (two sets in one process need two files). Throws EnvironmentError with the loader's words.
  OpenBlas(const std::filesystem::path& library, const std::string& core_type, int threads);

  const std::string& core_type() const { return core_type_; }

  // C = A B, row-major, f32: A m x k, B k x n.
  void sgemm(int m, int n, int k, const float* a, const float* b, float* c) const;
  // The same for m = 1 by its matrix-vector product.
  void sgemv(int n, int k, const float* a, const float* b, float* c) const;

 private:
  template <typename Function>
  Function* symbol(const char* name) const;
  std::string core_type_;
  std::shared_ptr<void> library_;
};

// Whether the processor has what the set is written for: "SkylakeX" needs AVX-512, "Haswell" AVX2 and FMA.
bool processor_has(const std::string& core_type);

}  // namespace kiln::bench
