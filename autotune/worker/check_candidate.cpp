#include "autotune/worker/check_candidate.h"

#include <cstring>

#include <fmt/format.h>

#include "autotune/worker/running.h"
#include "dsl/error.h"

namespace kiln::autotune {
namespace {

using generators::Reason;
using generators::Rejection;

// Every float type reads 0xff… as NaN; the second run starts from other bytes, so that what is never written differs between the two.
constexpr std::byte kFirstPoison{0xff}, kSecondPoison{0x7f};

const std::vector<std::string>& loops_of(const Algorithm& algorithm, std::size_t output) {
  std::size_t component = 0;
  for (const std::string& name : algorithm.outputs) {
    const Stage& stage = algorithm.stage(name);
    component += stage.types.size();
    if (output < component) return stage.loops;
  }
  KILN_CHECK(false, "an output argument without a stage");
}

// One case through two runs. Both calls stay, so that their outputs can be compared.
class CaseCheck {
 public:
  CaseCheck(const Algorithm& algorithm, const Case& judged, LoadedCandidate& build, const CheckOptions& options, CheckOutcome& outcome)
      : algorithm_(algorithm), judged_(judged), outcome_(outcome), hopeless_ns_(options.hopeless_ns),
        first_(build.checked_call(algorithm, judged.inputs, options)), second_(build.checked_call(algorithm, judged.inputs, options)) {}

  std::optional<Rejection> run(bool may_differ_in_order) {
    if (auto rejection = run_once(*first_, kFirstPoison)) return rejection;
    if (auto rejection = judge(*first_)) return rejection;
    if (hopeless_ns_ > 0 && call_ns_ > hopeless_ns_)
      return Rejection{Reason::cut_slow, call_ns_, hopeless_ns_,
                       fmt::format("its first call takes {:.0f} ns; what takes longer than {:.0f} ns is not called again", call_ns_, hopeless_ns_)};
    if (auto rejection = run_once(*second_, kSecondPoison)) return rejection;
    // Equal bits need no second judgement.
    return may_differ_in_order ? judge(*second_) : find_difference();
  }

  double call_ns() const { return call_ns_; }

 private:
  std::optional<Rejection> run_once(CheckedCall& call, std::byte poison) {
    call.reset(poison);
    if (const auto failure = call.run(call_ns_)) return Rejection{call.failure(), std::nullopt, std::nullopt, fmt::format("{}: {}", print(judged_.problem), *failure)};
    if (const auto damage = call.find_damage())
      return Rejection{Reason::wrong_result, std::nullopt, std::nullopt, fmt::format("{}: {}", print(judged_.problem), *damage)};
    return std::nullopt;
  }

  std::optional<Rejection> judge(CheckedCall& call) {
    std::optional<Rejection> rejection;
    for (std::size_t i = 0; i < judged_.truth.size(); ++i) {
      const OutputTruth& truth = judged_.truth[i];
      const std::string& output = algorithm_.arguments[truth.argument].name;
      const Comparison comparison = compare(call.output(truth.argument), truth, judged_.tolerances[i]);
      if (comparison.passes) outcome_.outliers += comparison.outliers;
      const bool is_worst = comparison.worst && (!outcome_.worst || comparison.worst->severity > outcome_.worst->severity);
      if (is_worst) {
        outcome_.worst = comparison.worst;
        outcome_.worst_output = output;
      }
      if (comparison.passes || (rejection && !is_worst)) continue;
      const std::string others = comparison.outliers > 1 ? fmt::format("; {} of {} elements are off", comparison.outliers, comparison.elements) : "";
      rejection = Rejection{Reason::wrong_result, std::abs(comparison.worst->got - comparison.worst->expected), comparison.worst->allowed,
                            fmt::format("{}: {}{}", print(judged_.problem), describe(*comparison.worst, output, loops_of(algorithm_, i)), others)};
    }
    return rejection;
  }

  std::optional<Rejection> find_difference() {
    for (std::size_t i = 0; i < judged_.truth.size(); ++i) {
      const std::size_t argument = judged_.truth[i].argument;
      const OutputView a = first_->output(argument), b = second_->output(argument);
      std::int64_t elements = 1, differing = 0;
      for (const std::int64_t extent : a.extents) elements *= extent;
      const auto size = static_cast<std::size_t>(a.type.bytes());
      if (std::memcmp(a.bytes, b.bytes, static_cast<std::size_t>(elements) * size) == 0) continue;
      for (std::int64_t e = 0; e < elements; ++e)
        if (std::memcmp(a.bytes + static_cast<std::size_t>(e) * size, b.bytes + static_cast<std::size_t>(e) * size, size) != 0) ++differing;
      return Rejection{Reason::nondeterministic, static_cast<double>(differing), 0.0,
                       fmt::format("{}: two runs differ in {} of {} elements of output {}, and the schedule says nothing of `atomic`", print(judged_.problem),
                                   differing, elements, algorithm_.arguments[argument].name)};
    }
    return std::nullopt;
  }

  const Algorithm& algorithm_;
  const Case& judged_;
  CheckOutcome& outcome_;
  double hopeless_ns_;
  std::unique_ptr<CheckedCall> first_, second_;
  double call_ns_ = 0;
};

// The first ragged problem that the candidate's bounds allow.
std::optional<std::size_t> find_ragged(const PreparedSubject& subject, LoadedCandidate& build) {
  for (std::size_t i = 0; i < subject.ragged_problems().size(); ++i)
    if (!build.find_unmet(subject.algorithm(), generators::host::extents_of(subject.algorithm(), subject.ragged_problems()[i]))) return i;
  return std::nullopt;
}

}  // namespace

CheckOutcome check_candidate(PreparedSubject& subject, LoadedCandidate& build, const Candidate& candidate, const CheckOptions& options, SharedPage& page) {
  CheckOutcome outcome;
  const Algorithm& algorithm = subject.algorithm();
  const auto judge = [&](const Case& judged) {
    CaseCheck check(algorithm, judged, build, options, outcome);
    outcome.rejection = check.run(candidate.may_differ_in_order);
    if (!outcome.rejection) outcome.checked.push_back(judged.problem);
    return check.call_ns();
  };
  std::optional<std::size_t> ragged;
  const Case& timed = subject.timed();  // may run the reference: not the candidate's doing
  {
    const Suspect suspect(page, candidate.id);
    outcome.rejection = build.find_unmet(algorithm, timed.inputs.extents);
    if (outcome.rejection) return outcome;
    outcome.call_ns = judge(timed);
    if (outcome.rejection || !options.ragged) return outcome;
    ragged = find_ragged(subject, build);
  }
  if (!ragged) return outcome;
  const Case& judged = subject.ragged(*ragged);  // the same
  const Suspect suspect(page, candidate.id);
  judge(judged);
  return outcome;
}

}  // namespace kiln::autotune
