// The pipelines that sketches are tested on: generators of plugins and of ours, with their problems.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dsl/problem.h"
#include "dsl/read_algorithm.h"
#include "generators/operators/operators.h"

namespace kiln::schedules {

inline constexpr const char* kTarget = "x86-64-linux-sse41-avx-avx2-f16c-fma-no_runtime";

struct SketchSubject {
  Algorithm algorithm;
  Problem problem;
};

// Under the GeneratorParams of a problem's text.
inline Algorithm read_algorithm_of(const ProblemText& text) {
  static const bool kLoaded = [] {
    for (const char* plugin : {"plain_generator", "construct_generators", "sketch_generators"})
      load_plugin(std::string(KILN_BINARY_DIR) + "/tests/plugins/lib" + plugin + ".so");
    return !generators::shipped_operators().empty();  // names them, so that they are linked
  }();
  EXPECT_TRUE(kLoaded);
  const OperatorSignature signature = signature_of(text.operator_name, kTarget);
  return read_algorithm(text.operator_name, params_of(text, signature.default_params, signature.type_param), kTarget);
}

// `text` as users write a problem; "harris_like()" is a generator at its estimates.
inline SketchSubject read_subject(const std::string& text) {
  const ProblemText parsed = parse_problem_text(text);
  SketchSubject subject;
  subject.algorithm = read_algorithm_of(parsed);
  subject.problem = resolve(parsed, subject.algorithm);
  return subject;
}

// Of each shape that a space must be derived for: stencils, pyramids, scans, tables, reductions, several outputs, chains around a product.
inline const std::vector<std::string>& lowered_problems() {
  static const std::vector<std::string> kProblems = {
      "matmul(m=256, n=1024, k=512, epilogue=silu)", "swiglu(m=256, n=4096)", "rmsnorm(m=256, n=4096)", "conv(co=64, ci=64, w=96, h=64)",
      "transpose(m=1024, n=4096)", "swiglu_quant(m=256, n=4096, bf16, scale=row)", "matvec(m=1, n=4096, k=4096, bf16, weights=kn)",
      "unsharp(w=1536, h=1024, c=3)", "exposure()", "tuple_argmax(input.0=640, input.1=32)",
      "arrays(planes_0.0=320, planes_0.1=240, planes_1.0=320, planes_1.1=240, mixed.0=320, mixed.1=240, rows_0.0=240, rows_1.0=240)", "updates(output.0=640, output.1=480, input.0=640, input.1=480)",
      "halves(output.0=4096, a.0=4096, b.0=4096)", "names(output.0=4096, input.0=4096)", 
      "mathematics(input.0=4096, widened.0=4096, rounded.0=4096, fast.0=4096, floored.0=4096)", "harris_like()", "blur_twice()",
      "pyramid_detail()", "equalise()", "picture_and_sums()", "recursive()", "gate_chain()", "quantised_product()", "bare_product()", "interleaved()"};
  return kProblems;
}

}  // namespace kiln::schedules
