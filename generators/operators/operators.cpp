#include "generators/operators/operators.h"

#include <Halide.h>

#include <array>
#include <memory>
#include <utility>

// HALIDE_REGISTER_GENERATOR(MatMul, matmul) defines matmul_ns::factory; naming it here is what keeps its file.
#define KILN_DECLARE_OPERATOR(name)                                                                                        \
  namespace halide_register_generator::name##_ns {                                                                         \
  std::unique_ptr<Halide::Internal::AbstractGenerator> factory(const Halide::GeneratorContext& context);                   \
  }

KILN_DECLARE_OPERATOR(conv)
KILN_DECLARE_OPERATOR(ffn)
KILN_DECLARE_OPERATOR(matmul)
KILN_DECLARE_OPERATOR(matmul_fp8)
KILN_DECLARE_OPERATOR(matmul_swiglu)
KILN_DECLARE_OPERATOR(matvec)
KILN_DECLARE_OPERATOR(rmsnorm)
KILN_DECLARE_OPERATOR(softmax)
KILN_DECLARE_OPERATOR(swiglu)
KILN_DECLARE_OPERATOR(swiglu_quant)
KILN_DECLARE_OPERATOR(transpose)
KILN_DECLARE_OPERATOR(unsharp)

namespace kiln::generators {

std::vector<std::string> shipped_operators() {
  namespace factories = halide_register_generator;
  using Factory = std::unique_ptr<Halide::Internal::AbstractGenerator> (*)(const Halide::GeneratorContext&);
  static const std::array<std::pair<const char*, Factory>, 12> kOperators{{{"conv", factories::conv_ns::factory},
                                                                          {"ffn", factories::ffn_ns::factory},
                                                                          {"matmul", factories::matmul_ns::factory},
                                                                          {"matmul_fp8", factories::matmul_fp8_ns::factory},
                                                                          {"matmul_swiglu", factories::matmul_swiglu_ns::factory},
                                                                          {"matvec", factories::matvec_ns::factory},
                                                                          {"rmsnorm", factories::rmsnorm_ns::factory},
                                                                          {"softmax", factories::softmax_ns::factory},
                                                                          {"swiglu", factories::swiglu_ns::factory},
                                                                          {"swiglu_quant", factories::swiglu_quant_ns::factory},
                                                                          {"transpose", factories::transpose_ns::factory},
                                                                          {"unsharp", factories::unsharp_ns::factory}}};
  std::vector<std::string> names;
  for (const auto& [name, factory] : kOperators) names.emplace_back(name);
  return names;
}

}  // namespace kiln::generators
