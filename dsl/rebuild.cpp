// From serialized bytes to a Halide pipeline that is ready for a schedule.

#include "dsl/rebuild.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/error.h"
#include "dsl/read_algorithm_names.h"
#include "dsl/rebuild_define.h"

namespace kiln {
namespace {

using Halide::Internal::Function;

Halide::Pipeline deserialize(const Algorithm& algorithm, const std::string& bytes) {
  if (algorithm.halide_version != linked_halide_version())
    throw DataError(fmt::format("`{}` was read with Halide {}, and this program has Halide {}; read it again", algorithm.generator,
                                algorithm.halide_version, linked_halide_version()));
  try {
    return Halide::deserialize_pipeline(std::vector<std::uint8_t>(bytes.begin(), bytes.end()), {});
  } catch (const Halide::Error& error) {
    throw DataError(fmt::format("the stored pipeline of `{}` cannot be read back: {}", algorithm.generator, error.what()));
  }
}

Halide::Type halide_type(DType type) {
  const auto code = type.kind == TypeClass::signed_int     ? halide_type_int
                    : type.kind == TypeClass::unsigned_int ? halide_type_uint
                    : type.kind == TypeClass::ieee_float   ? halide_type_float
                                                           : halide_type_bfloat;
  return Halide::Type(code, type.bits, 1);
}

// An input that no stage uses is still an argument of the function.
void add_arguments(Pipeline& pipeline, const Algorithm& algorithm) {
  for (const Argument& a : algorithm.arguments) {
    if (a.is_output) continue;
    const auto kind = a.is_scalar ? Halide::Argument::InputScalar : Halide::Argument::InputBuffer;
    pipeline.arguments.emplace_back(a.name, kind, halide_type(a.type), a.rank, Halide::ArgumentEstimates{});
    pipeline.inputs.try_emplace(a.name, halide_type(a.type), !a.is_scalar, a.rank, a.name);
  }
}

Pipeline rebuild_as(const Algorithm& algorithm, Floats floats) {
  const Halide::Pipeline stored = deserialize(algorithm, algorithm.pipeline);
  const std::vector<Function> old = functions_of(stored);
  const Names names = canonical_names(old);
  const Redefined fresh = redefine(old, stored.requirements(), names, floats);

  Pipeline result;
  for (std::size_t i = 0; i < old.size(); ++i) result.stages.emplace(names.at(old[i].name()).stage, Halide::Func(fresh.functions[i]));
  std::vector<Halide::Func> outputs;
  for (const Halide::Func& output : stored.outputs()) {
    result.output_stages.push_back(names.at(output.name()).stage);
    outputs.push_back(result.stages.at(result.output_stages.back()));
  }
  result.pipeline = Halide::Pipeline(outputs, fresh.requirements);
  result.inputs = fresh.inputs;
  add_arguments(result, algorithm);
  auto argument = std::ranges::find(algorithm.arguments, true, &Argument::is_output);
  for (const Halide::Func& output : outputs)
    for (const Halide::OutputImageParam& buffer : output.output_buffers()) result.outputs.emplace((argument++)->name, buffer.parameter());
  return result;
}

class InputFinder : public Halide::Internal::IRVisitor {
 public:
  std::map<std::string, Halide::Parameter> found;

 private:
  using IRVisitor::visit;
  void visit(const Halide::Internal::Variable* op) override {
    if (op->param.defined()) found.emplace(op->param.name(), op->param);
  }
  void visit(const Halide::Internal::Call* op) override {
    IRVisitor::visit(op);
    if (op->param.defined()) found.emplace(op->param.name(), op->param);
  }
};

}  // namespace

std::string linked_halide_version() {
  return fmt::format("{}.{}.{}", HALIDE_VERSION_MAJOR, HALIDE_VERSION_MINOR, HALIDE_VERSION_PATCH);
}

std::string halide_name(const std::string& canonical) {
  std::string name = canonical;
  for (char& c : name)
    if (c == '.' || c == '#') c = '$';
  return name;
}

Pipeline rebuild(const Algorithm& algorithm) { return rebuild_as(algorithm, Floats::as_written); }

Pipeline rebuild_reference(const Algorithm& algorithm) {
  Pipeline pipeline = rebuild_as(algorithm, Floats::widened);
  apply_trusted_schedule(pipeline);
  return pipeline;
}

Pipeline rebuild_own(const Algorithm& algorithm) {
  if (algorithm.own_pipeline.empty())
    throw ScheduleError(fmt::format("`{}` has no own schedule: {}", algorithm.generator, algorithm.own_schedule_absent));
  Pipeline result;
  result.pipeline = deserialize(algorithm, algorithm.own_pipeline);
  const std::vector<Function> functions = functions_of(result.pipeline);
  const Names names = canonical_names(functions);
  InputFinder inputs;
  for (const Function& function : functions) {
    result.stages.emplace(names.at(function.name()).stage, Halide::Func(function));
    function.accept(&inputs);
  }
  for (const Halide::Func& output : result.pipeline.outputs()) result.output_stages.push_back(names.at(output.name()).stage);
  result.inputs = inputs.found;
  add_arguments(result, algorithm);
  return result;
}

void set_estimates(Pipeline& pipeline, const Algorithm& algorithm, const Problem& problem) {
  for (const Argument& a : algorithm.arguments) {
    if (a.is_output) continue;
    Halide::Parameter& input = pipeline.inputs.at(a.name);
    for (int d = 0; d < a.rank; ++d) {
      input.set_min_constraint_estimate(d, 0);
      input.set_extent_constraint_estimate(d, static_cast<int>(extent_of(problem, algorithm, a.name, d)));
    }
    if (a.is_scalar && a.scalar_estimate) input.set_estimate(Halide::cast(input.type(), Halide::Expr(*a.scalar_estimate)));
  }
  // A Tuple's stage is several output arguments of one shape.
  auto argument = std::ranges::find(algorithm.arguments, true, &Argument::is_output);
  for (const std::string& stage : pipeline.output_stages) {
    Halide::Func& output = pipeline.stages.at(stage);
    for (int d = 0; d < output.dimensions(); ++d)
      output.set_estimate(output.args()[static_cast<std::size_t>(d)], 0,
                          static_cast<int>(extent_of(problem, algorithm, argument->name, d)));
    argument += output.outputs();
  }
}

}  // namespace kiln
