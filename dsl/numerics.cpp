#include "dsl/numerics.h"

#include <fmt/format.h>

#include <algorithm>

namespace kiln {
namespace {

std::string_view meaning(Contract contract) {
  switch (contract) {
    case Contract::strict: return "the same bits under every schedule";
    case Contract::fixed_tree: return "an order fixed by the schedule";
    case Contract::bounded: return "within the error budget";
    case Contract::free: return "approximations too";
  }
  return "";
}

}  // namespace

NumericsEffect most_allowed(Contract contract) {
  switch (contract) {
    case Contract::strict: return NumericsEffect::none;
    case Contract::fixed_tree: return NumericsEffect::partial_sums;
    case Contract::bounded: return NumericsEffect::any_order;
    case Contract::free: return NumericsEffect::approximates;
  }
  return NumericsEffect::none;
}

std::string claim_effect(Subject& subject, NumericsEffect effect, const std::string& doing, const std::string& instead) {
  if (!subject.stage.facts->is_float) return {};
  subject.nest.note(effect);
  const Algorithm& algorithm = *subject.nest.facts().algorithm;
  if (effect <= most_allowed(algorithm.contract)) return {};
  subject.nest.note_breach();
  return fmt::format("{}, and the contract of {} is {}: {}; {}", doing, algorithm.generator, print(algorithm.contract), meaning(algorithm.contract),
                     instead);
}

}  // namespace kiln
