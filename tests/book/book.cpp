#include "tests/book/book.h"

#include <Halide.h>
#include <gtest/gtest.h>

#include "dsl/apply.h"
#include "dsl/footprint_read.h"
#include "dsl/read_algorithm.h"
#include "dsl/rebuild.h"
#include "generators/operators/operators.h"

namespace kiln::book {
namespace {

constexpr const char* kTarget = "x86-64-linux-sse41-strict_float";

}  // namespace

Example example(const std::string& problem) {
  generators::shipped_operators();
  const ProblemText text = parse_problem_text(problem);
  const OperatorSignature signature = signature_of(text.operator_name, kTarget);
  Example out;
  out.algorithm = read_algorithm(text.operator_name, params_of(text, signature.default_params, signature.type_param), kTarget);
  out.problem = resolve(text, out.algorithm);
  return out;
}

FootprintTree footprint(const Example& example, const std::string& schedule) {
  const ClosedForms forms = read_footprint(example.algorithm, parse_schedule(schedule), example.problem);
  EXPECT_TRUE(forms.tree.has_value()) << forms.why_not;
  return forms.tree.value_or(FootprintTree{});
}

WorkingSet working_set(const FootprintTree& tree, const std::string& loop) {
  for (const WorkingSet& set : working_sets(tree))
    if (set.loop == loop) return set;
  ADD_FAILURE() << "no loop " << loop;
  return {};
}

std::int64_t traffic_bytes(const FootprintTree& tree, std::int64_t bytes) {
  const auto crossing = traffic(tree, {bytes, Memory::Owner::task, 1});
  EXPECT_TRUE(crossing.has_value());
  return crossing ? total(*crossing) : -1;
}

std::int64_t traffic_bytes(const FootprintTree& tree, std::int64_t bytes, const std::string& buffer) {
  const auto crossing = traffic(tree, {bytes, Memory::Owner::task, 1});
  if (!crossing) return -1;
  for (const auto& [index, count] : *crossing)
    if (tree.buffers[static_cast<std::size_t>(index)].name == buffer) return count;
  return 0;
}

std::vector<float> run(const Example& example, const std::string& schedule, const std::vector<Matrix>& inputs, const std::vector<int>& output) {
  Pipeline pipeline = rebuild(example.algorithm);
  apply(parse_schedule(schedule), pipeline);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Halide::Buffer<float> buffer(inputs[i].extents);
    std::copy(inputs[i].values.begin(), inputs[i].values.end(), buffer.begin());
    pipeline.inputs.at(example.algorithm.arguments[i].name).set_buffer(buffer);
  }
  const Halide::Buffer<float> result = pipeline.pipeline.realize(output, Halide::Target(kTarget));
  return {result.begin(), result.end()};
}

}  // namespace kiln::book
