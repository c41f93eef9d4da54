// The lowering driver: passes of ours at the end of Halide's, then Halide's module.
#include "generators/host/lowered.h"

#include <map>
#include <utility>

#include "dsl/error.h"

#include "generators/host/lowered_loops.h"

namespace kiln::generators::host {
namespace {

namespace ir = Halide::Internal;

// Halide assumes that a load of a Func is a load of its own, vector-aligned allocation. For an update that reads back an output this is the
// caller's buffer, and aligned instructions would end the process. Giving such loads the output's parameter, as stores have it, makes Halide assume
// what that parameter promises: its host alignment, which is one element unless the author asked for more.
class UnalignedOutputs : public ir::IRMutator {
 public:
  explicit UnalignedOutputs(std::map<std::string, Halide::Parameter> outputs) : outputs_(std::move(outputs)) {}

 private:
  using ir::IRMutator::visit;
  Halide::Expr visit(const ir::Load* op) override {
    const auto output = outputs_.find(op->name);
    if (output == outputs_.end() || op->param.defined()) return ir::IRMutator::visit(op);
    return ir::Load::make(op->type, op->name, mutate(op->index), op->image, output->second, mutate(op->predicate), op->alignment);
  }

  std::map<std::string, Halide::Parameter> outputs_;
};

// Halide aligns a stack allocation to the vector width only when it has two elements or more, yet accesses any of them with aligned vectors: a masked
// store of four lanes, of which one exists, ends the process on a single float at an odd place. Two elements are aligned.
class AlignedSingles : public ir::IRMutator {
 private:
  using ir::IRMutator::visit;
  ir::Stmt visit(const ir::Allocate* op) override {
    if (op->constant_allocation_size() != 1 || op->new_expr.defined()) return ir::IRMutator::visit(op);
    return ir::Allocate::make(op->name, op->type, op->memory_type, {2}, op->condition, mutate(op->body), op->new_expr, op->free_function, op->padding);
  }
};

// Keeps the statement as it is when Halide's own passes before parallel closures are done.
class KeepStatement : public ir::IRMutator {
 public:
  explicit KeepStatement(ir::Stmt& kept) : kept_(kept) {}
  using ir::IRMutator::mutate;
  ir::Stmt mutate(const ir::Stmt& statement) override {
    kept_ = statement;
    return statement;
  }

 private:
  ir::Stmt& kept_;
};

// Replaces the names of functions wherever a statement refers to them.
class RenameFunctions : public ir::IRMutator {
 public:
  explicit RenameFunctions(std::map<std::string, std::string> names) : names_(std::move(names)) {}

 private:
  using ir::IRMutator::visit;
  Halide::Expr visit(const ir::Variable* op) override {
    const auto renamed = names_.find(op->name);
    return renamed == names_.end() ? Halide::Expr(op) : ir::Variable::make(op->type, renamed->second);
  }

  std::map<std::string, std::string> names_;
};

// Halide names the body of a parallel loop by a counter of the whole process, so that the same build would have other bytes the second time.
void number_tasks(Halide::Module& module, const std::string& symbol) {
  std::map<std::string, std::string> names;
  for (ir::LoweredFunc& function : module.functions())
    if (function.name.starts_with(symbol + "_par_for")) {
      const std::string numbered = symbol + "_task" + std::to_string(names.size());
      names["::" + function.name] = "::" + numbered;  // how a statement takes a function's address
      function.name = numbered;
    }
  RenameFunctions rename(names);
  for (ir::LoweredFunc& function : module.functions()) function.body = rename.mutate(function.body);
}

std::map<std::string, Halide::Parameter> output_parameters(const Halide::Pipeline& pipeline) {
  std::map<std::string, Halide::Parameter> out;
  for (const Halide::Func& func : pipeline.outputs())
    for (const Halide::OutputImageParam& buffer : func.output_buffers()) out.emplace(buffer.name(), buffer.parameter());
  return out;
}

// Buffers as the calls of this problem bring them: dense, min 0.
void describe_buffer(const std::string& name, const Argument& argument, const std::vector<std::int64_t>& extents, StatementFacts& facts) {
  BufferFacts facts_of_buffer{.extents = extents, .strides = {}};
  std::int64_t stride = 1;
  for (const std::int64_t extent : extents) {
    facts_of_buffer.strides.push_back(stride);
    stride *= extent;
  }
  facts.buffers[name + ".buffer"] = facts_of_buffer;
  facts.arguments[name] = {.name = name, .element_bytes = argument.type.bytes(), .bytes = stride * argument.type.bytes(), .is_argument = true};
}

StatementFacts facts_of(const Pipeline& pipeline, const Algorithm& algorithm, const Problem& problem) {
  StatementFacts facts;
  // The compiled function has the inputs in declaration order, then one argument for each component of each output.
  std::vector<std::string> names;
  for (const Halide::Argument& input : pipeline.arguments) names.push_back(input.name);
  for (const Halide::Func& func : pipeline.pipeline.outputs())
    for (const Halide::OutputImageParam& buffer : func.output_buffers()) names.push_back(buffer.name());
  KILN_CHECK(names.size() == algorithm.arguments.size(), "a rebuilt pipeline has " + std::to_string(names.size()) + " arguments, its algorithm " +
                                                            std::to_string(algorithm.arguments.size()));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Argument& argument = algorithm.arguments[i];
    if (argument.is_scalar) {
      if (argument.scalar_estimate && !argument.type.is_float()) facts.scalars[names[i]] = static_cast<std::int64_t>(*argument.scalar_estimate);
      continue;
    }
    std::vector<std::int64_t> extents;
    for (int d = 0; d < argument.rank; ++d) extents.push_back(extent_of(problem, algorithm, argument.name, d));
    describe_buffer(names[i], argument, extents, facts);
  }
  // The stage that reads an input is `A.in` among the stages and `A.in()` in a schedule.
  for (const auto& [name, func] : pipeline.stages) facts.stage_names[func.name()] = name.ends_with(".in") ? name + "()" : name;
  return facts;
}

}  // namespace

Halide::Module lower(Pipeline& pipeline, const std::string& symbol, const Halide::Target& target) {
  pipeline.pipeline.add_custom_lowering_pass(new UnalignedOutputs(output_parameters(pipeline.pipeline)));
  pipeline.pipeline.add_custom_lowering_pass(new AlignedSingles());
  Halide::Module module = pipeline.pipeline.compile_to_module(pipeline.arguments, symbol, target);
  number_tasks(module, symbol);
  pipeline.pipeline.clear_custom_lowering_passes();  // they refer to this call's values
  return module;
}

Lowered lower(Pipeline& pipeline, const std::string& symbol, const Halide::Target& target, const Algorithm& algorithm, const Problem& problem) {
  ir::Stmt statement;
  pipeline.pipeline.add_custom_lowering_pass(new KeepStatement(statement));
  Halide::Module module = lower(pipeline, symbol, target);
  return {std::move(module), read_loops(statement, facts_of(pipeline, algorithm, problem))};
}

}  // namespace kiln::generators::host
