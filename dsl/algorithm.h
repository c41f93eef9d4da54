// What a generator computes, as a value: read once from Halide (dsl/read_algorithm), carried through processes and the store as JSON,
// and rebuilt without its schedule wherever it is lowered (dsl/rebuild).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dsl/digest.h"
#include "dsl/dtype.h"
#include "dsl/expression.h"

namespace kiln {

// What the numbers of an operator promise. The compile flags that follow from it are in generators/host/target.
enum class Contract : std::uint8_t {
  strict,      // every operation rounds as written: same bits under every legal schedule
  fixed_tree,  // the order of reductions is fixed by the schedule
  bounded,     // within the error budget of the reference; the default
  free,        // approximations too
};
std::string print(Contract contract);
std::optional<Contract> parse_contract(std::string_view text);

struct Interval {
  std::int64_t min = 0;
  std::int64_t extent = 0;
  bool operator==(const Interval&) const = default;
};

// One argument of the function that Halide compiles. A Tuple output is one argument a component.
struct Argument {
  std::string name;
  bool is_output = false;
  bool is_scalar = false;
  DType type;
  int rank = 0;                                  // 0 for a scalar; dimension 0 is the innermost
  std::vector<std::optional<Interval>> estimates;  // one a dimension; what the generator's author set
  std::optional<double> scalar_estimate;
  std::vector<double> values;                    // scalars: measured at these; buffers: drawn from these when not empty
  std::optional<std::pair<double, double>> range;  // drawn uniformly from [first, second] when set
  bool operator==(const Argument&) const = default;
};

struct ReductionVariable {
  std::string name;  // "r.x"; of a one-dimensional RDom its name alone, "k", unless a pure loop of the stage has it
  ExpressionPtr min, extent;
};

struct Update {
  std::vector<ExpressionPtr> indices;  // left-hand side, innermost first
  std::vector<ExpressionPtr> values;   // one a Tuple component
  std::vector<ReductionVariable> reduction;  // innermost first
  ExpressionPtr predicate;             // RDom::where, or null
};

struct Stage {
  std::string name;                // canonical: see dsl/read_algorithm_names
  std::vector<std::string> loops;  // pure loops, innermost first
  std::vector<DType> types;        // one a Tuple component
  std::vector<ExpressionPtr> values;
  std::vector<Update> updates;
};

// Where a symbol such as `m` stands in the arguments.
struct Axis {
  std::string argument;
  int dimension = 0;
  auto operator<=>(const Axis&) const = default;
};

struct Algorithm {
  std::string generator;                      // the operator's registered name
  std::map<std::string, std::string> params;  // every GeneratorParam with its value, defaults included
  std::map<std::string, std::string> default_params;
  std::string type_param;                     // the GeneratorParam that the bare type of a problem sets; empty: none
  bool leaves_out_default_type = false;       // problems print the type only when it is not the parameter's default
  Contract contract = Contract::bounded;
  std::vector<Argument> arguments;            // inputs in declaration order, then outputs
  std::map<std::string, std::vector<Axis>> symbols;  // problem symbol -> places; an unregistered generator has one symbol an axis, "input.0"
  std::vector<std::string> symbol_order;      // the order in which a problem prints them
  double outlier_fraction = 0;                // declared: how many integers may differ where a float crosses a cast
  std::vector<Stage> stages;                  // producers first; an input's wrapper is a stage "<input>.in" with loops d0, d1, …
  std::vector<ExpressionPtr> requirements;    // the author's add_requirement conditions, over inputs alone: calls that break one are refused
  std::vector<std::string> outputs;           // stage names, in the order of the output arguments (a Tuple's stage once)

  std::string halide_version;
  std::string pipeline;      // Halide's serialized pipeline, schedule included but ignored: what rebuild starts from
  std::string own_pipeline;  // the same under the author's schedule; empty when there is none to use, and then:
  std::string own_schedule_absent;  // why, in words: "schedule() leaves every stage at its default"

  const Stage& stage(const std::string& name) const;     // throws ScheduleError listing the stages there are
  const Stage* find_stage(const std::string& name) const;
  bool is_output(const std::string& stage) const;
};

// The canonical text: generator name, contract, GeneratorParams, arguments, stages. No extents, estimates, schedule or paths. Two processes print the same bytes.
std::string print(const Algorithm& algorithm);
Digest digest(const Algorithm& algorithm);  // of that text, kind "algorithm"

// The whole value, serialized pipelines included, and back. `from_json` throws DataError naming the field.
std::string to_json(const Algorithm& algorithm);
Algorithm algorithm_from_json(const std::string& json);

// Whether the stage copies an input: what `A.in()` schedules.
bool is_wrapper(const Algorithm& algorithm, const Stage& stage);

// Names of the other stages that `stage` (any of its definitions) loads, each once, in order of first use. An input's wrapper has none.
std::vector<std::string> producers_of(const Stage& stage);

}  // namespace kiln
