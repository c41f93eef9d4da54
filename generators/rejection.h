// Why a candidate went no further: a stable code, both numbers where there are two, and a text for people.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dsl/error.h"
#include "dsl/legality.h"

namespace kiln::generators {

enum class Reason {
  schedule_error, over_shared, over_registers, over_threads, over_scratch, over_grid, bad_alignment, numerics, spills,
  compile_error, compile_timeout, compiler_crash, emulator_fault, wrong_result, nondeterministic, run_error, run_timeout,
  worker_crash, device_lost, implausible, cut_slow, same_as_build,
};

std::string_view print(Reason reason);
std::optional<Reason> parse_reason(std::string_view text);

struct Rejection {
  Reason reason = Reason::schedule_error;
  std::optional<double> asked, allowed;
  std::string text;
  bool operator==(const Rejection&) const = default;
};

// Of a schedule that must not be applied: `numerics` where it does more than the algorithm's contract allows, else `schedule_error`.
Rejection rejection_of(const Illegal& illegal);
Rejection rejection_of(const ScheduleError& error);

}  // namespace kiln::generators
