#include "bench/plan_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "dsl/error.h"
#include "dsl/read_algorithm.h"
#include "generators/cuda/lower.h"
#include "generators/cuda/predict.h"
#include "generators/host/host.h"
#include "generators/operators/operators.h"
#include "schedules/spaces.h"

namespace kiln::bench {
namespace {

namespace cuda = generators::cuda;
using Clock = std::chrono::steady_clock;

Algorithm algorithm_of(const ProblemText& text) {
  generators::shipped_operators();
  const std::string target = generators::host::target_string(generators::host::probe_cpu(), generators::host::Isa::native, Contract::bounded);
  const OperatorSignature signature = signature_of(text.operator_name, target);
  return read_algorithm(text.operator_name, params_of(text, signature.default_params, signature.type_param), target);
}

struct Lowered {
  Digest text;
  std::vector<generators::KernelResources> predicted;
};

// The text is all that the compiler sees; a refusal is identified by what was asked for.
Lowered lowered(const Plans& plans, std::uint64_t rank, const Gpu& gpu) {
  const Schedule schedule = plans.space.schedule(plans.space.unrank(rank));
  try {
    const cuda::Program program = cuda::lower(plans.algorithm, schedule, plans.problem);
    Lowered result{content_digest(program.text()), {}};
    for (const cuda::Kernel& kernel : program.kernels) result.predicted.push_back(predict(kernel, gpu));
    return result;
  } catch (const ScheduleError&) {
    return {content_digest(print(plans.problem) + "\n" + print(schedule)), {}};
  }
}

}  // namespace

Plans plans_of(const std::string& problem, const Device& device) {
  const ProblemText text = parse_problem_text(problem);
  Algorithm algorithm = algorithm_of(text);
  Problem resolved = resolve(text, algorithm);
  auto space = schedules::space_for(algorithm, resolved, device);
  if (!space || !space->count()) throw UsageError(problem + " has no space on " + device.model + " that can be counted");
  Plans plans{std::move(algorithm), std::move(resolved), std::move(*space), 0, {}, 0, 0};
  plans.count = plans.space.count().value();
  return plans;
}

void Texts::add(Plans& plans, std::size_t place, const Device& device, unsigned threads) {
  const auto start = Clock::now();
  std::atomic<std::uint64_t> next = 0;
  std::set<Digest> own;
  const auto work = [&] {
    for (std::uint64_t rank = next++; rank < plans.count; rank = next++) {
      Lowered one = lowered(plans, rank, *device.gpu);
      const std::lock_guard lock(mutex_);
      if (!own.insert(one.text).second) continue;
      plans.fresh += origins_.try_emplace(one.text, TextOrigin{place, rank, std::move(one.predicted)}).second;
    }
  };
  {
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < threads; ++i) workers.emplace_back(work);
  }
  plans.texts.assign(own.begin(), own.end());
  plans.seconds = std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace kiln::bench
