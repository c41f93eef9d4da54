// From a registered Halide generator to an Algorithm. Runs plugin code: only the reader process calls this.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/problem.h"

namespace kiln {

// What can be known of an operator before a problem is given.
struct OperatorSignature {
  std::string name;
  // Types in Kiln's spelling ("f32"). Halide's synthetic parameters ("input.type", "planes.size") are there when the C++ leaves them to the
  // caller, with an empty text: they have no default.
  std::map<std::string, std::string> default_params;
  std::string type_param;
  std::vector<Argument> arguments;                    // under the default params; none while a synthetic one is open
  std::vector<std::string> symbol_order;
  std::map<std::string, std::vector<Axis>> symbols;
};

std::vector<std::string> registered_generators();     // sorted

// dlopens a plugin so that its generators register themselves. Throws UsageError with the loader's own words.
// A plugin that exports `int kiln_plugin_abi` of another number is refused, naming both.
void load_plugin(const std::string& path);

// Throws UsageError listing the registered generators when there is no such one.
OperatorSignature signature_of(const std::string& generator, const std::string& target);

// Runs the generator in both contexts (with and without an autoscheduler) and keeps what it built. `target` is a Halide target string.
// Throws AlgorithmError naming the stage that cannot be kept (define_extern, memoize, async), UsageError for a wrong GeneratorParam.
Algorithm read_algorithm(const std::string& generator, const std::map<std::string, std::string>& params, const std::string& target);

}  // namespace kiln
