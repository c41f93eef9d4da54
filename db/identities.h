// What results are keyed on: algorithms, problems, devices, toolchains, protocols, schedules. Each `keep` inserts or finds by digest and
// compares the whole text on a hit: DataError if one digest stands for two texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/store.h"
#include "dsl/digest.h"

namespace kiln::db {

struct AlgorithmRow {
  Digest digest;
  std::string generator;       // the operator's name
  std::string text;            // print(Algorithm)
  std::string contract;        // strict · fixed_tree · bounded · free
  std::string halide_version;
  std::string json;            // to_json(Algorithm): kept as an artifact of kind "algorithm"
};
// The first JSON is kept, until one arrives from another version of Halide: that one then replaces it, since only it can be rebuilt here.
AlgorithmId keep(Store& store, const AlgorithmRow& row);
AlgorithmRow algorithm(Store& store, AlgorithmId id);
std::optional<AlgorithmId> find_algorithm(Store& store, const Digest& digest);

struct ProblemRow {
  Digest digest;
  AlgorithmId algorithm{};
  std::string operator_name;
  std::string text;             // print(Problem): canonical, complete
  std::string extents = "{}";   // JSON object symbol -> extent
  std::string params = "{}";    // JSON object of the GeneratorParams that differ from the default
  std::string orders = "{}";    // JSON object argument -> order
  std::optional<double> flops, bytes;  // of one call
};
ProblemId keep(Store& store, const ProblemRow& row);
ProblemRow problem(Store& store, ProblemId id);
std::optional<ProblemId> find_problem(Store& store, const Digest& digest);
// All problems, or one operator's, by operator and then in the order they were first seen.
std::vector<ProblemId> problems(Store& store, const std::string& operator_name = "");

struct DeviceRow {
  Digest digest;
  std::string kind = "cpu";     // cpu · cuda
  std::string vendor, model;
  std::string arch;             // x86-64, sm_90a
  std::string text;             // print(identity(Device))
  std::int64_t units = 1;       // usable cores, or SMs
  std::optional<std::int64_t> l1_bytes, l2_bytes, l3_bytes, shared_bytes, memory_bytes;
};
DeviceId keep(Store& store, const DeviceRow& row);
DeviceRow device(Store& store, DeviceId id);
std::vector<DeviceId> devices(Store& store);

// Compilers, flags and codegen_version. The git revision and the driver belong to a run.
struct ToolchainRow {
  Digest digest;
  std::string text;
};
ToolchainId keep(Store& store, const ToolchainRow& row);
ToolchainRow toolchain(Store& store, ToolchainId id);

// The measuring contract as canonical text, thread count included: "v1;cpu;threads=2;cache=hot;stat=q1". Times compare only within one.
ProtocolId keep_protocol(Store& store, const std::string& text);
std::string protocol(Store& store, ProtocolId id);

struct ScheduleRow {
  Digest digest;
  AlgorithmId algorithm{};
  std::string text;             // print(Schedule); empty: the unscheduled algorithm
  std::string origin;           // own · autoscheduler · default · hand · seed · search · neighbour: who proposed it first
  std::string numerics_class = "none";  // the strongest effect: none · reorders · partial_sums · contracts ·
                                        // approximates · any_order · unknown (opaque schedules)
  std::string space;            // name of the space it came from; empty: none
  int space_version = 0;
  std::string point;            // JSON object knob -> value; empty: none
  std::optional<ScheduleId> parent;  // the schedule that search changed
};
ScheduleId keep(Store& store, const ScheduleRow& row);
ScheduleRow schedule(Store& store, ScheduleId id);
std::optional<ScheduleId> find_schedule(Store& store, AlgorithmId algorithm, const Digest& digest);

// A candidate by a prefix (6 hex digits or more) of its schedule's digest, or of its build key. Throws UsageError: too short, none,
// or ambiguous with the list of matches.
struct CandidateName {
  ScheduleId schedule{};
  ProblemId problem{};
};
std::vector<CandidateName> find_candidates(Store& store, const std::string& prefix);

}  // namespace kiln::db
