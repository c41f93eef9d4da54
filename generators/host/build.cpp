// One candidate's way from schedule to object: legality -> closed forms -> prune -> rebuild and apply -> lower -> predict -> prune -> compile ->
// read the code -> prune.
#include <Halide.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "dsl/apply.h"
#include "dsl/error.h"
#include "dsl/footprint_read.h"
#include "dsl/legality.h"
#include "dsl/read_schedule.h"
#include "dsl/rebuild.h"
#include "generators/host/diagnostics.h"
#include "generators/host/host.h"
#include "generators/host/lowered.h"
#include "generators/host/machine_code.h"
#include "generators/host/memory_file.h"
#include "generators/host/opaque.h"
#include "generators/host/predict.h"

namespace kiln::generators::host {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

Pipeline scheduled(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const Halide::Target& target) {
  if (schedule.is_opaque()) return rebuild_opaque(algorithm, schedule, problem, target);
  Pipeline pipeline = rebuild(algorithm);
  apply(schedule, pipeline);
  return pipeline;
}

// Halide makes three functions of a name: name(buffer, …), name_argv(void**) and name_metadata().
std::string argv_form(const std::string& symbol) { return symbol + "_argv"; }

std::string compile_object(const Halide::Module& module) {
  const MemoryFile file("kiln-object");
  module.compile({{Halide::OutputFileType::object, file.path()}});
  return file.contents();
}

// Runs one step; what it throws becomes the rejection. Memory exhaustion is the candidate's doing as well: an autoscheduler may ask for any amount.
template <typename Step>
std::optional<Rejection> attempt(Reason reason, const Step& step) {
  const auto rejected = [](Reason why, std::string words) { return Rejection{.reason = why, .asked = {}, .allowed = {}, .text = std::move(words)}; };
  try {
    step();
    return std::nullopt;
  } catch (const Halide::Error& error) {
    return rejected(reason, error.what());
  } catch (const ScheduleError& error) {
    return rejected(Reason::schedule_error, error.what());
  } catch (const std::bad_alloc&) {
    return rejected(Reason::compile_error, "the compiler ran out of memory");
  }
}

// Halide compiles what it has just called hopeless.
std::optional<Rejection> hopeless(const Diagnostics& diagnostics) {
  const std::string* warning = diagnostics.fatal();
  if (warning == nullptr) return std::nullopt;
  return Rejection{.reason = Reason::schedule_error, .asked = {}, .allowed = {}, .text = *warning};
}

// The steps of one build over the value that they fill. Each returns the rejection that ends the build, or nothing.
class Candidate {
 public:
  Candidate(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const Device& device, Isa isa)
      : algorithm_(algorithm), schedule_(schedule), problem_(problem), device_(device), target_(target_string(device, isa, algorithm.contract)) {
    build_.key = build_key(algorithm, schedule, problem, target_);
    symbol_ = "kiln_" + build_.key.short_hex();
  }

  Build run() {
    build_.rejection = legality();
    if (!build_.rejection) build_.rejection = closed_forms();
    if (!build_.rejection) build_.rejection = lowering();
    if (!build_.rejection) build_.rejection = prune(*build_.predicted, device_);
    if (!build_.rejection) build_.rejection = compiling();
    if (!build_.rejection) build_.rejection = prune(*build_.actual, device_);
    if (!build_.rejection) build_.artifact = std::move(artifact_);
    build_.log += diagnostics_.text();
    return std::move(build_);
  }

 private:
  std::optional<Rejection> legality() const {
    const auto illegal = find_illegal(schedule_, algorithm_, &problem_);
    if (!illegal) return std::nullopt;
    return rejection_of(*illegal);
  }

  // What needs more scratch than there is need not be lowered to know that. Halide folds what is stored further out than it is computed, which
  // the closed forms leave unfolded: where a directive speaks of storage, that waits for the lowered program.
  std::optional<Rejection> closed_forms() {
    const auto& directives = schedule_.directives;
    const auto is_about_storage = [](const Directive& d) { return d.name.starts_with("store_") || d.name.ends_with("_storage"); };
    if (std::any_of(directives.begin(), directives.end(), is_about_storage)) return std::nullopt;
    const ClosedForms forms = read_footprint(algorithm_, schedule_, problem_);
    if (!forms.tree) return std::nullopt;
    const Predicted predicted = predict(*forms.tree, device_);
    auto rejection = prune(predicted, device_);
    if (rejection) build_.predicted = predicted;
    return rejection;
  }

  std::optional<Rejection> lowering() {
    const auto start = Clock::now();
    auto rejection = attempt(Reason::schedule_error, [&] {
      const Halide::Target target(target_);
      const OpenUnrolls open_unrolls(schedule_);
      Pipeline pipeline = scheduled(algorithm_, schedule_, problem_, target);
      if (schedule_.is_opaque()) build_.directives = directives_of(pipeline);
      Lowered lowered = lower(pipeline, symbol_, target, algorithm_, problem_);
      build_.predicted = predict(lowered.program, device_);
      artifact_ = {.bytes = {}, .symbol = argv_form(symbol_), .target = target_, .alignment_bytes = lowered.program.host_alignment_bytes};
      module_ = std::move(lowered.module);
    });
    build_.lower_ms = milliseconds_since(start);
    return rejection ? rejection : hopeless(diagnostics_);
  }

  // Nothing where they cannot say it, or say it in a way that is not legal here: the log tells.
  std::string directives_of(const Pipeline& pipeline) {
    try {
      const Schedule said = read_schedule(pipeline.pipeline, algorithm_);
      require_legal(said, algorithm_, &problem_);
      return print(said);
    } catch (const ScheduleError& error) {
      build_.log = std::string(error.what()) + "\n";
      return {};
    }
  }

  std::optional<Rejection> compiling() {
    const auto start = Clock::now();
    auto rejection = attempt(Reason::compile_error, [&] { artifact_.bytes = compile_object(*module_); });
    build_.compile_ms = milliseconds_since(start);
    if (!rejection) build_.actual = read_machine_code(artifact_.bytes);
    return rejection;
  }

  const Algorithm& algorithm_;
  const Schedule& schedule_;
  const Problem& problem_;
  const Device& device_;
  std::string target_, symbol_;
  Diagnostics diagnostics_;
  std::optional<Halide::Module> module_;
  Artifact artifact_;
  Build build_;
};

}  // namespace

Build build(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem, const Device& device, Isa isa) {
  return Candidate(algorithm, schedule, problem, device, isa).run();
}

Artifact build_reference(const Algorithm& algorithm, const Device& device, Isa isa) {
  const std::string target = target_string(device, isa, Contract::strict);
  const std::string symbol = "kiln_reference_" + digest(algorithm).short_hex();
  Diagnostics diagnostics;
  try {
    Pipeline pipeline = rebuild_reference(algorithm);
    const Halide::Module module = lower(pipeline, symbol, Halide::Target(target));
    return {.bytes = compile_object(module), .symbol = argv_form(symbol), .target = target};
  } catch (const Halide::Error& error) {
    throw Error("the reference of " + algorithm.generator + " cannot be built: " + error.what());
  }
}

}  // namespace kiln::generators::host
