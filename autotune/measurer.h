// The supervisor's side of checking and measuring: one long-lived worker process per device that loads objects, checks them and times them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autotune/measure/clocks.h"
#include "autotune/measure/compare.h"
#include "autotune/measure/protocol.h"
#include "autotune/measure/statistics.h"
#include "autotune/process/child.h"
#include "autotune/process/objects.h"
#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/problem.h"
#include "generators/rejection.h"

namespace kiln::autotune {

// Above this many operations a call, the reference runs on ragged problems and on 64 output tiles only: it computes some GFLOP/s.
inline constexpr double kWholeReferenceFlops = 20e9;

// What is measured, and against what truth.
struct Subject {
  bool runs_in_tiles() const { return flops > kWholeReferenceFlops; }

  std::shared_ptr<const Algorithm> algorithm;
  Problem problem;
  ObjectRef reference;      // the outcome of a CompileJob with What::reference
  double flops = 0;         // of one call, every stage computed once; 0 when that is not known before the call
  std::uint64_t seed = 1;   // of the inputs
};

// With its work counted.
Subject subject_of(std::shared_ptr<const Algorithm> algorithm, const Problem& problem, const ObjectRef& reference, std::uint64_t seed);

struct Prepared {
  std::string key;               // names this subject in later requests
  bool whole = true;             // the reference ran on the whole problem, not only on tiles of it
  std::vector<Problem> ragged;   // checked too, where a candidate's bounds allow them
  std::string ragged_absent;     // why there is none, in words
  double reference_s = 0;        // 0 when its results came from the cache folder
};

struct Candidate {
  std::int64_t id = 0;           // the caller's; unique in one request
  ObjectRef object;
  bool may_differ_in_order = false;  // its schedule says `atomic`: two runs may differ in bits, within tolerance
};

struct CheckOptions {
  int alignment_bytes = 64;      // pointers are multiples of this and of nothing larger; an element's own size for the generic variant
  bool ragged = true;
  double call_limit_s = 60;      // one call
  double hopeless_ns = 0;        // a right first call that took longer is cut_slow, and not called again; 0: whatever it takes
};

// The verdict on all outputs; both numbers and the place of the worst.
struct CheckOutcome {
  std::optional<generators::Rejection> rejection;  // wrong_result, nondeterministic, run_error, run_timeout, worker_crash, cut_slow
  std::string worst_output;
  std::optional<Worst> worst;
  std::int64_t outliers = 0;         // of integers, within what is allowed
  std::vector<Problem> checked;      // the problem itself and the ragged ones that its bounds allowed
  double call_ns = 0;                // the last call on the whole problem: a first idea of its time
};

struct RaceEntry {
  Candidate candidate;
  bool is_baseline = false;      // exactly one
  bool is_incumbent = false;     // at most one; may be the baseline
};

enum class RaceStage : std::uint8_t {
  screen,  // a few warm samples each: who is too slow to look at
  rank,    // rounds until each comparison with the incumbent is decided
  final_,  // rank with final_samples, for the last few
};

struct RaceOptions {
  RaceStage stage = RaceStage::rank;
  double floor = 0;              // the A/A floor in force
  double limit_s = 60;           // the whole race stops by then and tells what it has
  double call_limit_s = 10;      // one call: a longer one ends the worker
  double once_ns = 0;            // a baseline call longer than this is timed once (a share of the budget); 0: no such limit
  double least_ns = 0;           // faster than any machine could be: implausible
  std::uint64_t seed = 1;        // of the orders and the resamples
  bool fresh_process = false;    // a new worker for this race: finals
};

struct RaceResult {
  std::int64_t id = 0;
  std::optional<generators::Rejection> rejection;  // cut_slow, implausible, run_error, run_timeout, worker_crash
  std::vector<Sample> samples;
  int calls_per_sample = 1;
  int dropped = 0;               // samples with involuntary switches that the statistics leave out
  double q1_ns = 0, median_ns = 0, min_ns = 0;
  double value_ns = 0;           // what stands for the samples, by the protocol's statistic
  Ratio to_baseline;             // time / baseline's time, of this race
  Ratio to_incumbent;            // the same against the incumbent (the baseline when there is none)
  bool timed_once = false;
  bool cut_short = false;        // limit_s came first
};

struct FloorOutcome {
  double floor = 0;              // p95 error of A/A
  bool contended = false;        // above 5 % in three tries
  double value_ns = 0;           // of the kernel that was used
  std::optional<generators::Rejection> rejection;  // it does not even run
};

// In a GPU's place its kernels' texts can run in the emulator: checked, not timed.
enum class RunsOn : std::uint8_t { device, emulator };

struct MeasurerLimits {
  double start_s = 30;
  double prepare_s = 300;        // inputs and reference runs of one subject
};

// Methods block. Everything a candidate does to the worker is in the outcome: the one that was running when the worker died or was killed is rejected
// (worker_crash with the signal, run_timeout with both numbers), the others are done again in a new worker. Throws EnvironmentError when workers
// do not start, or a new one fails its health check; UsageError when the subject itself is at fault (the reference reads outside an input).
class Measurer {
 public:
  Measurer(Device device, Protocol protocol, Objects objects, MeasurerLimits limits = {}, Launch launch = {}, RunsOn runs_on = RunsOn::device);
  ~Measurer();

  const Protocol& protocol() const;

  // Inputs from the seed and the reference's results, kept in the cache folder. Cheap when repeated; needed once before the others name its key.
  Prepared prepare(const Subject& subject);

  CheckOutcome check(const std::string& key, const Candidate& candidate, const CheckOptions& options = {});

  // `done` is called for every entry as soon as nothing more will be known of it. Entries that crash or hang leave the race; the rest starts again
  // without them (results already given stay). When the baseline itself is rejected the others carry run_error naming it.
  using Done = std::function<void(const RaceResult&)>;
  // A race ends early, with what it has, when `stop` answers true (asked at least every 100 ms).
  using Stop = std::function<bool()>;
  void race(const std::string& key, const std::vector<RaceEntry>& entries, const RaceOptions& options, const Done& done, const Stop& stop = {});

  // 2 x 60 interleaved samples of one kernel (fewer of a kernel so long that they take more than twice max_s), up to three times while the floor
  // is above 5 % and the time lasts.
  FloorOutcome floor(const std::string& key, const Candidate& kernel, std::uint64_t seed);

  // What a call of a GPU's kernels takes, by three clocks. A call longer than `call_limit_s` ends the worker.
  ClocksOutcome clocks(const std::string& key, const Candidate& kernel, double call_limit_s = 10);

  // A computation with a known answer on every thread, in the worker: throws EnvironmentError when the answer is another.
  void check_health();

  // Seconds spent in prepare, check, race and floor so far: what checking and measuring cost the run.
  double spent_s() const;

  void give_up_worker();         // the next request starts a fresh one
  std::optional<pid_t> pid() const;
  std::string log() const;       // the end of what the worker and the candidates in it printed

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln::autotune
