// Builds: what a compiler made of (algorithm, schedule, target, toolchain), and what it is for each problem.
#pragma once

#include <optional>
#include <string>

#include "db/store.h"

namespace kiln::db {

struct BuildRow {
  Digest key;                    // the build key
  ScheduleId schedule{};
  ToolchainId toolchain{};
  std::string target;            // as compiled, with features
  std::string symbol;            // of the function in the object
  std::optional<Digest> binary;  // content digest of the object; absent: rejected before there was one
  std::int64_t binary_bytes = 0;
  std::string predicted;         // JSON of the predicted report for this problem; empty: lowering failed
  std::string actual;            // JSON of the report read from the object; empty: none
  std::optional<RejectionRow> rejection;
  std::optional<DeviceId> decided_by;  // the device whose numbers rejected it
  double lower_ms = 0, compile_ms = 0;
  std::string log;
};

// Inserts the build, or completes the one with this key (a build first pruned for one problem may be compiled for another), and its link
// to `problem`. A later record for the same problem replaces that link.
BuildId record_build(Store& store, ProblemId problem, const BuildRow& row);

// The build of this key as `problem` sees it. With a problem that it was never linked to: predicted is empty, and rejection is only what
// holds for every problem (compile_error, compile_timeout, compiler_crash). Nothing when the key is unknown.
struct KnownBuild {
  BuildId id{};
  BuildRow row;
};
std::optional<KnownBuild> find_build(Store& store, const Digest& key, ProblemId problem);
KnownBuild build(Store& store, BuildId id, ProblemId problem);

// Another build whose object has the same bytes and that was timed for this problem on this device under this protocol: equal objects are
// measured once (reason same_as_build).
struct SameBinary {
  BuildId build{};
  ScheduleId schedule{};
  TrialId trial{};
};
std::optional<SameBinary> find_same_binary(Store& store, const Digest& binary, ProblemId problem, DeviceId device, ProtocolId protocol);

}  // namespace kiln::db
