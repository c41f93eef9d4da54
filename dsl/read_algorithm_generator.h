// One run of one registered generator, step by step: create, set parameters, configure, generate, schedule. Whatever its author's code throws
// becomes one AlgorithmError that says which step threw what.
#pragma once

#include <Halide.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dsl/algorithm.h"

namespace kiln {

class GeneratorRun {
 public:
  // `autoscheduled`: the generator sees using_autoscheduler(), under which authors set estimates and leave their schedules out.
  // Throws UsageError for an unknown generator, an unknown parameter or a value that cannot be read.
  GeneratorRun(const std::string& generator, const std::map<std::string, std::string>& params, const std::string& target, bool autoscheduled);

  void generate();                  // configure() and generate()
  void schedule();                  // the author's schedule()
  Halide::Pipeline pipeline() const { return pipeline_; }  // after generate()

  // After generate(): every GeneratorParam by name as text, types in Kiln's spelling ("f32"). Halide's own `target` and `autoscheduler` are left
  // out; a synthetic one ("input.type") is there when the C++ leaves it open.
  std::map<std::string, std::string> params() const;

  // After generate(), and with estimates set in schedule() after that.
  std::vector<Argument> arguments() const;

 private:
  void set_parameter(const std::string& name, const std::string& value);
  void add_input(std::vector<Argument>& arguments, const Halide::Internal::AbstractGenerator::ArgInfo& input) const;
  void add_output(std::vector<Argument>& arguments, const Halide::Internal::AbstractGenerator::ArgInfo& output) const;

  std::string name_;
  std::unique_ptr<Halide::Internal::AbstractGenerator> generator_;
  std::map<std::string, std::string> given_;           // as set by the caller
  std::map<std::string, std::string> parameters_;      // name -> default before anything was set; synthetic ones empty
  Halide::Pipeline pipeline_;
};

// A constant estimate of one dimension; nothing where there is none.
std::optional<Interval> read_estimate(const Halide::Expr& min, const Halide::Expr& extent);
// Of an output's component. An Output<Buffer> keeps its estimates in its parameter, an Output<Func> in its schedule.
std::optional<Interval> read_output_estimate(const Halide::Internal::Function& function, std::size_t component, int dimension);

// The parameters of a generator with their defaults, without running generate(). A synthetic one has no default: its text is empty.
std::map<std::string, std::string> default_parameters(const std::string& generator, const std::string& target);

}  // namespace kiln
