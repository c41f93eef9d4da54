#include "bench/openblas.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "dsl/error.h"

namespace kiln::bench {
namespace {

enum : int { kRowMajor = 101, kNoTranspose = 111, kTranspose = 112 };  // the values of cblas.h

}  // namespace

OpenBlas::OpenBlas(const std::filesystem::path& library, const std::string& core_type, int threads) : core_type_(core_type) {
  const std::filesystem::path copy = std::filesystem::temp_directory_path() / fmt::format("kiln-openblas-{}-{}.so", getpid(), core_type);
  std::filesystem::copy_file(library, copy, std::filesystem::copy_options::overwrite_existing);
  setenv("OPENBLAS_CORETYPE", core_type.c_str(), 1);  // read by the library's constructor
  void* loaded = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
  unsetenv("OPENBLAS_CORETYPE");
  std::filesystem::remove(copy);
  if (loaded == nullptr) throw EnvironmentError(fmt::format("OpenBLAS cannot be loaded from {}: {}", library.string(), dlerror()));
  library_ = std::shared_ptr<void>(loaded, [](void*) {});  // never closed: its threads live in it
  symbol<void(int)>("scipy_openblas_set_num_threads")(threads);
}

template <typename Function>
Function* OpenBlas::symbol(const char* name) const {
  void* found = dlsym(library_.get(), name);
  if (found == nullptr) throw EnvironmentError(fmt::format("OpenBLAS has no {}", name));
  return reinterpret_cast<Function*>(found);
}

void OpenBlas::sgemm(int m, int n, int k, const float* a, const float* b, float* c) const {
  using Sgemm = void(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
  symbol<Sgemm>("scipy_cblas_sgemm")(kRowMajor, kNoTranspose, kNoTranspose, m, n, k, 1, a, k, b, n, 0, c, n);
}

void OpenBlas::sgemv(int n, int k, const float* a, const float* b, float* c) const {
  using Sgemv = void(int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
  symbol<Sgemv>("scipy_cblas_sgemv")(kRowMajor, kTranspose, k, n, 1, b, n, a, 1, 0, c, 1);
}

bool processor_has(const std::string& core_type) {
  if (core_type == "SkylakeX") return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}

}  // namespace kiln::bench
