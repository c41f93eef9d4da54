#include "generators/rejection.h"

#include <array>

namespace kiln::generators {
namespace {

// In the order of Reason: these words are stored and shown, so they never change.
constexpr std::array<std::string_view, 22> kWords{
    "schedule_error", "over_shared",    "over_registers", "over_threads",     "over_scratch", "over_grid",     "bad_alignment", "numerics",
    "spills",         "compile_error",  "compile_timeout", "compiler_crash",  "emulator_fault", "wrong_result", "nondeterministic", "run_error",
    "run_timeout",    "worker_crash",   "device_lost",    "implausible",      "cut_slow",     "same_as_build"};
static_assert(static_cast<std::size_t>(Reason::same_as_build) + 1 == kWords.size());

Rejection of_schedule(bool breaks_contract, std::string text) {
  return {.reason = breaks_contract ? Reason::numerics : Reason::schedule_error, .asked = {}, .allowed = {}, .text = std::move(text)};
}

}  // namespace

Rejection rejection_of(const Illegal& illegal) { return of_schedule(illegal.breaks_contract, illegal.message); }

Rejection rejection_of(const ScheduleError& error) { return of_schedule(dynamic_cast<const NumericsError*>(&error) != nullptr, error.what()); }

std::string_view print(Reason reason) { return kWords[static_cast<std::size_t>(reason)]; }

std::optional<Reason> parse_reason(std::string_view text) {
  for (std::size_t i = 0; i < kWords.size(); ++i)
    if (kWords[i] == text) return static_cast<Reason>(i);
  return std::nullopt;
}

}  // namespace kiln::generators
