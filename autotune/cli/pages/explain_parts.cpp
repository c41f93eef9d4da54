#include "autotune/cli/pages/explain_parts.h"

#include <fmt/format.h>

#include "autotune/cli/text_table.h"
#include "autotune/cli/units.h"

namespace kiln::autotune::cli {

using generators::Rejection;

std::string print_head(const ExplainSubject& subject, const Device& device) {
  return fmt::format("{}\ncandidate {} on {}\n{}\n", print(subject.problem), digest(subject.schedule).short_hex(), device.model, indented(print(subject.schedule), "  "));
}

std::string print_rejection(const Rejection& rejection) {
  std::string text = fmt::format("rejected: {}\n{}", print(rejection.reason), indented(rejection.text, "  "));
  if (rejection.asked && rejection.allowed) text += fmt::format("  asked {:.6g}, allowed {:.6g}\n", *rejection.asked, *rejection.allowed);
  return text;
}

std::string print_known(const KnownTime& known) {
  const db::KnownOutcome& outcome = known.outcome;
  if (outcome.rejection) return fmt::format("when it was tried: {}\n{}", outcome.rejection->reason, indented(outcome.rejection->text, "  "));
  if (!outcome.value_ns || !outcome.ratio) return "built and checked before, not timed\n";
  return fmt::format("timed: {} a call, {:.2f}x the baseline's speed in the same race ({}{})\n  on {}; {}\n", print_ns(*outcome.value_ns),
                     1 / *outcome.ratio, outcome.stage, outcome.clean ? "" : ", contended", known.device, known.protocol);
}

Json head_json(const ExplainSubject& subject, const Device& device) {
  return {{"operator", subject.problem.operator_name},
          {"problem", print(subject.problem)},
          {"candidate", digest(subject.schedule).short_hex()},
          {"schedule", print(subject.schedule)},
          {"device", device.model}};
}

Json rejection_json(const std::optional<Rejection>& rejection) {
  if (!rejection) return nullptr;
  return {{"reason", print(rejection->reason)}, {"asked", or_null(rejection->asked)}, {"allowed", or_null(rejection->allowed)}, {"text", rejection->text}};
}

Json known_json(const std::optional<KnownTime>& known) {
  if (!known) return nullptr;
  const db::KnownOutcome& outcome = known->outcome;
  return {{"stage", outcome.stage}, {"time_ns", or_null(outcome.value_ns)}, {"ratio", or_null(outcome.ratio)}, {"clean", outcome.clean},
          {"rejected", outcome.rejection ? Json(outcome.rejection->reason) : Json(nullptr)}, {"device", known->device}, {"protocol", known->protocol}};
}

}  // namespace kiln::autotune::cli
