// One run of the tuner: from operators and problems to choices in the store. The only file that knows every stage.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "autotune/measure/protocol.h"
#include "autotune/process/child.h"
#include "autotune/progress.h"
#include "autotune/stop_request.h"
#include "autotune/tune_outcome.h"

namespace kiln::autotune {

struct Shard {
  int index = 0, count = 1;  // this run takes the problems whose digest modulo count is index
};

struct TuneOptions {
  std::vector<std::string> operators;               // by registered name; at least one unless demand files name them
  std::vector<std::string> problems;                // as text; empty: the demand's, else each operator at its estimates
  std::vector<std::filesystem::path> demand_files;  // imported into the store first
  std::vector<std::filesystem::path> try_files;     // schedules tried on every problem of an operator they are legal for
  std::vector<std::string> libraries;               // shared objects with generators
  double budget_s = 0;                              // wall clock from the call of tune() on, choices made
  std::filesystem::path db;
  std::filesystem::path cache_folder;               // empty: "<db>.cache"
  std::string device = "cpu";                       // or "cuda:0": what is tuned for and measured on
  int threads = 0;                                  // of the measured kernels on a CPU; 0: the usable cores
  int jobs = 0;                                     // compile workers; 0: the usable cores
  Cache cache = Cache::hot;
  std::uint64_t seed = 1;
  int most_candidates = 0;                          // tried of each problem, those of earlier runs among them; 0: as many as the time allows
  Shard shard;
  bool wait = false;                                // for the device, when another process measures on it
  double horizon_s = 0;                             // of demand without a window; 0: 30 days
  std::string command;                              // as typed: stored with the run, printed as the way to resume
  Launch launch;                                    // how workers are started; the default is this very program
};

// Throws UsageError (unknown operator, bad problem, illegal --try file), EnvironmentError (device held, no workers), DataError (the store).
// Whatever a candidate does is an outcome in the store.
TuneOutcome tune(const TuneOptions& options, Progress& progress, const std::function<StopRequest()>& stop_request);

}  // namespace kiln::autotune
