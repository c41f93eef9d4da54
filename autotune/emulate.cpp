#include "autotune/emulate.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "autotune/measure/ragged.h"
#include "dsl/error.h"
#include "generators/cuda/emulated/emulated.h"
#include "generators/cuda/image.h"
#include "generators/cuda/lower.h"

namespace kiln::autotune {
namespace {

namespace cuda = generators::cuda;
using generators::Reason;
using generators::Rejection;

// The emulator runs some million steps of a thread in a second: so many elements are a matter of seconds. Kernels of fixed, longer rows may have more.
constexpr double kEnoughElements = 12'000, kMostElements = 70'000;
constexpr double kMostWhole = 4'000'000;  // of the problem itself, whose blocks are few
// Odd ones, then odd multiples of the elements that an access usually takes.
constexpr std::array<std::int64_t, 7> kSmaller = {1, 5, 13, 40, 264, 1032, 4104};

cuda::Extents extents_of(const Problem& problem, const Algorithm& algorithm) {
  return [&problem, &algorithm](const Axis& place) { return extent_of(problem, algorithm, place.argument, place.dimension); };
}

// Products of tiles are made many terms at a time.
constexpr double kTermsAtOnce = 256;

bool multiplies_tiles(const cuda::LaunchRecord& record) {
  return std::any_of(record.kernels.begin(), record.kernels.end(), [](const cuda::KernelLaunch& kernel) {
    return std::any_of(kernel.parameters.begin(), kernel.parameters.end(), [](const cuda::LaunchParameter& one) { return one.kind == cuda::LaunchParameter::Kind::map; });
  });
}

double elements_of(const Problem& problem) {
  double elements = 1;
  for (const auto& [symbol, extent] : problem.extents) elements *= static_cast<double>(extent);
  return elements;
}

// What the kernels ask that a symbol's extent be a multiple of.
std::int64_t multiple_of(const std::string& symbol, const cuda::LaunchRecord& record, const Algorithm& algorithm) {
  const auto places = algorithm.symbols.find(symbol);
  return places == algorithm.symbols.end() ? 1 : cuda::guard_of(record, places->second).multiple;
}

// The smaller extents, each raised where it must be to an odd multiple: tiles seldom divide those.
std::set<std::int64_t> smaller_extents(std::int64_t extent, std::int64_t multiple) {
  std::set<std::int64_t> extents;
  for (const std::int64_t smaller : kSmaller) {
    const std::int64_t raised = smaller % multiple == 0 ? smaller : multiple * ((smaller / multiple + 1) | 1);
    if (raised < extent) extents.insert(raised);
  }
  return extents;
}

// All problems with each extent as it is or one of the smaller ones.
std::vector<Problem> smaller_problems(const Problem& problem, const cuda::LaunchRecord& record, const Algorithm& algorithm) {
  std::vector<Problem> all{problem};
  for (const auto& [symbol, extent] : problem.extents) {
    const std::size_t before = all.size();
    for (const std::int64_t smaller : smaller_extents(extent, multiple_of(symbol, record, algorithm)))
      for (std::size_t i = 0; i < before; ++i) {
        all.push_back(all[i]);
        all.back().extents[symbol] = smaller;
      }
  }
  return all;
}

}  // namespace

std::optional<Problem> emulated_problem(const cuda::LaunchRecord& record, const Problem& problem, const Algorithm& algorithm) {
  std::optional<Problem> best, least;  // of those that are small enough, and of the others
  const double at_once = multiplies_tiles(record) ? kTermsAtOnce : 1;
  for (const Problem& smaller : smaller_problems(problem, record, algorithm)) {
    const Problem candidate = within_requirements(smaller, problem, algorithm);
    const double elements = elements_of(candidate) / at_once;
    const bool is_small = elements <= kEnoughElements || (candidate == problem && elements <= kMostWhole);
    if (!is_small && elements > kMostElements) continue;
    const cuda::Extents extents = extents_of(candidate, algorithm);
    if (cuda::find_unmet(record, extents) || !cuda::Emulated::takes(record, extents)) continue;
    if (is_small && (!best || elements > elements_of(*best) / at_once)) best = candidate;
    if (!is_small && (!least || elements < elements_of(*least) / at_once)) least = candidate;
  }
  return best ? best : least;
}

Emulator::Emulator(const Device& gpu, CompilePool& pool, const Objects& objects, const Launch& launch)
    : capability_(capability_of(gpu.gpu.value())), pool_(pool), objects_(objects), measurer_(gpu, gpu_protocol(Cache::hot), objects, {}, launch, RunsOn::emulator) {}

const ObjectRef& Emulator::reference_of(const std::shared_ptr<const Algorithm>& algorithm, const Problem& problem) {
  const auto [at, is_new] = references_.try_emplace(digest(*algorithm));
  if (!is_new) return at->second;
  CompileJob job;
  job.what = CompileJob::What::reference;
  job.algorithm = algorithm;
  job.problem = problem;
  std::optional<CompileOutcome> outcome;
  pool_.run({job}, [](std::int64_t) {}, [&](CompileOutcome done) { outcome = std::move(done); });
  if (!outcome || !outcome->object)
    throw UsageError(fmt::format("the reference of {} cannot be built: {}", print(problem), outcome && outcome->build.rejection ? outcome->build.rejection->text : "no worker answered"));
  return at->second = *outcome->object;
}

Emulation Emulator::emulate(const std::shared_ptr<const Algorithm>& algorithm, const Schedule& schedule, const Problem& problem) {
  return emulate(algorithm, schedule, problem, reference_of(algorithm, problem));
}

Emulation Emulator::emulate(const std::shared_ptr<const Algorithm>& algorithm, const Schedule& schedule, const Problem& problem, const ObjectRef& reference) {
  cuda::Image program;
  try {
    const cuda::Program lowered = cuda::lower(*algorithm, schedule, problem, capability_);
    program = {lowered.text(), launch_record(lowered)};
  } catch (const ScheduleError& error) {
    return {{}, generators::rejection_of(error), {}};
  }
  const std::optional<Problem> small = emulated_problem(program.record, problem, *algorithm);
  if (!small)
    return {{}, {}, fmt::format("the emulator takes {} blocks, {} threads and {:.0f} elements: every problem that its kernels take is larger",
                                cuda::emulator::kMostBlocks, cuda::emulator::kMostThreads, kMostElements)};
  Subject subject;
  subject.algorithm = algorithm;
  subject.problem = *small;
  subject.reference = reference;
  const Prepared prepared = measurer_.prepare(subject);
  Candidate candidate;
  candidate.id = 1;
  candidate.object = {objects_.put_object(pack(program)), program.record.kernels.front().name, "emulated"};
  const CheckOutcome outcome = measurer_.check(prepared.key, candidate);
  return {outcome.checked, outcome.rejection, {}};
}

}  // namespace kiln::autotune
