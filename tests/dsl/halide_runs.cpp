#include "tests/dsl/halide_runs.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "dsl/read_algorithm_expression.h"
#include "dsl/read_algorithm_names.h"

namespace kiln::tests {
namespace {

int input_extent(int dimension) { return dimension < 2 ? 64 : 3; }
int output_extent(int dimension) { return dimension < 2 ? 48 : 3; }  // stencils without a boundary read past their output

// A spread of small values of both signs; integers cover their range.
double value_at(const std::string& name, std::size_t index) {
  const std::size_t mixed = (std::hash<std::string>{}(name) + index * 2654435761u) % 1009;
  return static_cast<double>(mixed) / 504.0 - 1.0;
}

template <typename T>
void fill(Halide::Buffer<>& buffer, const std::string& name) {
  T* elements = reinterpret_cast<T*>(buffer.data());
  for (std::size_t i = 0; i < buffer.number_of_elements(); ++i) {
    const double v = value_at(name, i);
    if constexpr (std::is_integral_v<T>)
      elements[i] = static_cast<T>((v + 1.0) * 127.0);
    else
      elements[i] = T(static_cast<float>(v));
  }
}

Halide::Buffer<> make_input(const Halide::Type& type, int rank, const std::string& name) {
  std::vector<int> sizes;
  for (int d = 0; d < rank; ++d) sizes.push_back(input_extent(d));
  Halide::Buffer<> buffer(type, sizes);
  if (type == Halide::Float(32)) fill<float>(buffer, name);
  if (type == Halide::Float(64)) fill<double>(buffer, name);
  if (type == Halide::Float(16)) fill<Halide::float16_t>(buffer, name);
  if (type == Halide::BFloat(16)) fill<Halide::bfloat16_t>(buffer, name);
  if (type == Halide::UInt(8)) fill<std::uint8_t>(buffer, name);
  if (type == Halide::Int(32)) fill<std::int32_t>(buffer, name);
  return buffer;
}

void set_scalar(Halide::Parameter& input) {
  if (input.type() == Halide::Float(32)) input.set_scalar(0.75f);
  if (input.type() == Halide::Int(32)) input.set_scalar(2);
}

// Names that nobody gave are Halide's to choose, and Halide orders what is independent by name: one sign for every name, and the lines sorted.
std::string without_names(const std::string& program) {
  std::vector<std::string> lines(1);
  bool in_name = false;
  for (const char c : program) {
    const bool is_letter = std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
    const bool goes_on = in_name && (c == '.' || std::isdigit(static_cast<unsigned char>(c)) != 0);
    if ((is_letter || goes_on) && !in_name) lines.back() += '#';
    in_name = is_letter || goes_on;
    if (c == '\n') lines.emplace_back();
    if (!in_name && c != '\n' && c != ' ') lines.back() += c;
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace

std::string test_target() {
  __builtin_cpu_init();
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx");
  return has_avx2 ? "x86-64-linux-avx-avx2-f16c-fma-sse41-strict_float" : "x86-64-linux-sse41-strict_float";
}

std::string plugin(const std::string& name) { return std::string(KILN_BINARY_DIR) + "/tests/plugins/lib" + name + ".so"; }

Pipeline original(const std::string& generator, const std::map<std::string, std::string>& params) {
  const auto instance = Halide::Internal::GeneratorRegistry::create(generator, Halide::GeneratorContext(Halide::Target(test_target())));
  for (const auto& [name, value] : params) instance->set_generatorparam_value(name, value);
  Pipeline result;
  result.pipeline = instance->build_pipeline();
  for (const auto& argument : instance->arginfos())
    if (argument.dir == Halide::Internal::ArgInfoDirection::Input)
      for (const Halide::Parameter& p : instance->input_parameter(argument.name)) result.inputs.emplace(p.name(), p);
  return result;
}

std::vector<Halide::Buffer<>> run(const Pipeline& pipeline, const Algorithm& algorithm) {
  for (const Argument& a : algorithm.arguments) {
    if (a.is_output) continue;
    Halide::Parameter input = pipeline.inputs.at(a.name);
    if (a.is_scalar)
      set_scalar(input);
    else
      input.set_buffer(make_input(input.type(), a.rank, a.name));
  }
  std::vector<Halide::Buffer<>> outputs;
  for (const Halide::Func& output : pipeline.pipeline.outputs())
    for (const Halide::Type& type : output.types()) {
      std::vector<int> sizes;
      for (int d = 0; d < output.dimensions(); ++d) sizes.push_back(output_extent(d));
      outputs.emplace_back(type, sizes);
    }
  Halide::Pipeline runnable = pipeline.pipeline;
  runnable.realize(Halide::Realization(outputs), Halide::Target(test_target()));
  return outputs;
}

std::vector<Stage> stages_of(const Pipeline& pipeline) {
  const auto ours = [](std::string name) {
    for (char& c : name)
      if (c == '$') c = '.';
    return name;
  };
  const auto functions = functions_of(pipeline.pipeline);
  Names names;
  for (const auto& [stage, func] : pipeline.stages) names[func.name()].stage = stage;
  for (const auto& function : functions) {
    for (const std::string& loop : function.args()) names[function.name()].loops[loop] = loop;
    for (const auto& update : function.updates()) {
      names[function.name()].reductions.emplace_back();
      for (const auto& r : update.schedule().rvars()) names[function.name()].reductions.back()[r.var] = ours(r.var);
    }
  }
  return read_stages(functions, names);
}

std::string program_of(Pipeline& pipeline) {
  std::ostringstream text;
  const Halide::Module module = pipeline.pipeline.compile_to_module(pipeline.arguments, "f", Halide::Target(test_target()));
  for (const auto& function : module.functions()) text << function.body;
  return without_names(text.str());
}

std::string bytes_of(const std::vector<Halide::Buffer<>>& outputs) {
  std::string bytes;
  for (const Halide::Buffer<>& b : outputs) bytes.append(static_cast<const char*>(b.data()), b.size_in_bytes());
  return bytes;
}

int spawn_self(const std::string& test, const std::string& setting) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = "KILN_TEST='" + setting + "' '" + self + "' --gtest_also_run_disabled_tests --gtest_filter='" + test + "' >/dev/null";
  return std::system(command.c_str());
}

}  // namespace kiln::tests
