// What a stored candidate was tried on: where it is looked at again when nobody says on what.
#pragma once

#include <optional>

#include "db/identities.h"
#include "dsl/device.h"

namespace kiln::autotune::cli {

// The GPU that the candidate was tried on, by model as `--device h200` gives it, whether or not one is here. Nothing when it was tried on CPUs alone, or on
// nothing. Throws UsageError with the list when it was tried on GPUs of several models, or on a GPU and a CPU.
std::optional<Device> gpu_tried_on(db::Store& store, const db::CandidateName& name);

// For who needs the device itself, and would take this machine's CPU. Throws UsageError when the candidate was tried on GPUs alone.
void require_tried_on_cpu(db::Store& store, const db::CandidateName& name);

}  // namespace kiln::autotune::cli
