// What a plugin may say about its generators beside Halide's own registration: problem symbols, contract, inputs. A plugin includes it only if it wants
// to; a generator without it gets symbols such as "input.0", estimates as extents, and contract bounded.
//
//   HALIDE_REGISTER_GENERATOR(MatMul, matmul)
//   KILN_REGISTER(matmul).symbol("m", "A.1 C.1").symbol("n", "B.0 C.0").symbol("k", "A.0 B.1").type_param("type");
//
// With a space of its own a plugin includes schedules/space.h too: KILN_REGISTER(blur).space(blur_space).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/problem.h"

namespace kiln {

// Raised when this header or a type it uses changes; compared when a plugin is loaded. A plugin without this header has no such number.
inline constexpr int kPluginAbi = 4;

namespace schedules {
class Space;
}
// The space of one problem on one device. Called in the process that loaded the plugin; what it throws is told to the user of `kiln tune`.
using SpaceFunction = std::function<schedules::Space(const Algorithm& algorithm, const Problem& problem, const Device& device)>;

// Filled by KILN_REGISTER's chain while the program or plugin loads, where nothing may throw: texts are parsed when the generator is read, and
// what is wrong with them is an AlgorithmError then.
class Registration {
 public:
  // `name` stands for these axes, written `argument.dimension` with spaces between, dimension 0 innermost. All have the same extent. Problems print
  // their symbols in the order of these calls. An axis of an argument that the GeneratorParams leave out is ignored.
  Registration& symbol(std::string name, std::string axes);

  // The GeneratorParam that a bare type in a problem sets, as f32 in `matmul(m=1, n=1, k=1, f32)`.
  Registration& type_param(std::string name);

  // The same of an operator whose problems print their type only when it is not the default: `swiglu(m=1, n=1)` and `swiglu(m=1, n=1, bf16)`.
  Registration& optional_type_param(std::string name);

  Registration& contract(Contract contract);

  // Another contract where this GeneratorParam has this value. The last of several that hold counts.
  Registration& contract_where(std::string param, std::string value, Contract contract);

  // A buffer input is drawn uniformly from [from, to] instead of by its type's default.
  Registration& range(std::string input, double from, double to);

  // A scalar input is measured at these values (the first is the one timed); a buffer input is drawn from them.
  Registration& values(std::string input, std::vector<double> values);

  // The share of an integer output's elements that may differ, where a float crosses a cast to an integer.
  Registration& outlier_fraction(double fraction);

  // Searched instead of the space that Kiln would take.
  Registration& space(SpaceFunction space);

 private:
  friend void apply_registration(Algorithm& algorithm);
  friend std::string registered_type_param(const std::string& generator);
  friend const SpaceFunction* registered_space(const std::string& generator);
  std::vector<std::pair<std::string, std::string>> symbols_;
  std::string type_param_;
  bool leaves_out_default_type_ = false;
  Contract contract_ = Contract::bounded;
  struct ContractWhere {
    std::string param, value;
    Contract contract;
  };
  std::vector<ContractWhere> contracts_where_;
  std::map<std::string, std::pair<double, double>> ranges_;
  std::map<std::string, std::vector<double>> values_;
  double outlier_fraction_ = 0;
  SpaceFunction space_;
};

// The registration of this generator, made on first use. A second plugin with the same name adds to it.
Registration& register_operator(const std::string& generator);

// Sets symbols, symbol order, type parameter, contract, input distributions from the registration, if there is one; axes without a symbol get one
// of their own, "argument.dimension". Needs `generator` and `arguments`. Throws AlgorithmError naming the wrong text.
void apply_registration(Algorithm& algorithm);

std::string registered_type_param(const std::string& generator);  // empty: none
const SpaceFunction* registered_space(const std::string& generator);  // null: none

}  // namespace kiln

// Weak, so that each file of a plugin may include this header; not inline, since inline variables are shared across libraries.
extern "C" {
__attribute__((weak, visibility("default"))) int kiln_plugin_abi = kiln::kPluginAbi;
}

#define KILN_REGISTER(generator) \
  [[maybe_unused]] static ::kiln::Registration& kiln_registration_of_##generator = ::kiln::register_operator(#generator)
