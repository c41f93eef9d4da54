// What a package is made of, as a value: entries with their arguments and variants. Filled from the store by the exporter; `write` turns it
// into files and nothing else, so equal values give equal bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/dtype.h"
#include "generators/cuda/launch_record.h"

namespace kiln::generators::package {

enum class Tier : std::uint8_t { exact, bucket, generic };
std::string print(Tier tier);

// One argument of an entry: inputs in declaration order, then outputs. A scalar input is passed by value.
struct PackageArgument {
  std::string name;  // a C identifier
  bool is_output = false;
  bool is_scalar = false;
  DType type;
  int rank = 0;            // 0 for a scalar
  int unit_dimension = 0;  // Halide's dimension whose stride is 1: not 0 where the entry has another dimension order
};

// An extent by name and where it stands; dimensions are Halide's, 0 = innermost. In printing order.
struct PackageSymbol {
  std::string name;
  std::vector<Axis> axes;
};

// A symbol's extent lies in [least, most]; equal for the exact tier.
struct ExtentGuard {
  std::string symbol;
  std::int64_t least = 0, most = 0;
};

// A time in a race, as the manifest reports it. The only place for time stamps.
struct Measured {
  std::string problem, protocol, device, when;
  int threads = 1, samples = 0;
  double value_ns = 0;
  std::string baseline;  // by name
  double ratio = 1, ratio_low = 1, ratio_high = 1;  // to the baseline of the same race
};

struct Verified {
  std::string problem, what;  // what: "candidate", "ragged", "exported"
  double max_error = 0;       // in units of the error budget: 1 is the limit
};

struct Variant {
  Tier tier = Tier::generic;
  std::string object;  // the very bytes that were timed: of a GPU a cubin
  std::optional<cuda::LaunchRecord> launches;  // of a GPU: how the cubin's kernels are called
  std::string symbol;  // in the object: Halide's argv form; of a GPU the first kernel
  std::string target;  // Halide's target string; the CPU features of the guard come from it. Of a GPU "cuda-sm_90a"
  std::vector<ExtentGuard> extents;
  std::map<std::string, int> alignment_bytes;  // argument -> what it was checked at; those left out: the size of one element
  bool is_pointwise = false;                   // reads and writes point by point: an output may be the same view as an input
  std::string candidate;                       // hex digest
  std::string schedule;
  std::vector<Measured> measured;
  std::vector<Verified> verified;
  double calls = 0;  // of the demand that this variant serves
};

// (operator, GeneratorParams, dimension orders) and the function that stands for it.
struct Entry {
  std::string operator_name;
  std::map<std::string, std::string> params;  // those a problem prints: not the defaults, not the type
  std::string type;                           // the bare type of a problem; empty when the operator has none
  std::map<std::string, std::string> orders;  // argument -> order, where not the declared one
  std::string c_name;                         // without the set's prefix; empty: see name_entries
  std::vector<PackageArgument> arguments;
  std::vector<PackageSymbol> symbols;
  std::vector<Variant> variants;  // in dispatch order: exact, bucket, generic
};

struct KernelSet {
  std::string name;               // a C identifier, prefix of every function
  std::string version = "0.1.0";  // three numbers
  int threads = 1;                // that the kernels were tuned with
  std::vector<Entry> entries;
  std::map<std::string, std::string> provenance;  // for the manifest: kiln, toolchain, db, device …; no time stamps
};

// Gives every entry without a C name one: the operator's name where it is the only entry of that operator, else with `_<param>_<value>`…,
// `_<type>` and `_<argument>_<order>` behind it. Throws UsageError when two names are equal, naming both entries and --name.
void name_entries(KernelSet& set);

// Throws UsageError naming the entry, what was given and what would work: identifiers, tier order, guards' symbols, ranks, limits of a plan,
// a missing generic variant, a generic variant that needs more than x86-64-v2.
void check(const KernelSet& set);

// Whether calls on a GPU are served: functions then take a workspace and a stream.
bool is_for_gpu(const Entry& entry);
bool is_for_gpu(const KernelSet& set);

// The entry in words: `matmul(f32, epilogue=silu)`.
std::string describe(const Entry& entry);

// What follows the extents in the text of a problem: ", f32, epilogue=silu, B.order=nk".
std::string problem_tail(const Entry& entry);

}  // namespace kiln::generators::package
