// `kiln explain --device h200`: what the kernels of a candidate take of a GPU, predicted and as compiled, and what the emulator says of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "autotune/cli/pages/explain_time.h"
#include "autotune/emulate.h"
#include "autotune/explain.h"

namespace kiln::autotune::cli {

struct GpuExplanation {
  ExplainSubject subject;
  Device device;
  generators::Build build;
  std::string text;                    // of its kernels, where it was asked for
  std::optional<Emulation> emulation;  // likewise
  std::optional<KnownTime> known;
  std::vector<ExpectedTime> times = {};  // of the kernels that have a model of it
  std::optional<double> expected_ns = {};  // of the whole call
};

std::string print_explanation(const GpuExplanation& explanation);
// {operator, problem, candidate, schedule, device, predicted, actual, times, binds, rejection, text, emulation, known}
std::string explanation_json(const GpuExplanation& explanation);

}  // namespace kiln::autotune::cli
