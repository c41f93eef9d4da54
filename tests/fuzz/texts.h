// What must hold of any text that a user may write, for fuzzers and for the replay of their corpora. Each returns, or ends the process.
#pragma once

#include <string_view>

namespace kiln::tests {

// The text is refused with a ScheduleError, or read: then it prints as a text that reads back as the same schedule, and legality has an answer for
// each of a few algorithms.
void try_schedule_text(std::string_view text);

// The text is refused with a UsageError, or read; and what it resolves to prints as a text that resolves to the same problem.
void try_problem_text(std::string_view text);

}  // namespace kiln::tests
