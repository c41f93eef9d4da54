// What the readers of schedules share: how Halide's names of loops end, and what they say when they give up.
#pragma once

#include <fmt/format.h>

#include <string>

#include "dsl/error.h"
#include "dsl/read_algorithm_names.h"

namespace kiln {

[[noreturn]] inline void cannot_say(const std::string& stage, const std::string& what) {
  throw ScheduleError(fmt::format("the schedule of {} cannot be said in directives: {}", stage, what));
}

// `x.xo.v12`: the last word is what the author, or Halide in his place, called the loop.
inline std::string last_word(const std::string& loop) { return loop.substr(loop.rfind('.') + 1); }

// Nobody's word: Halide made it up, or put a suffix to it that differs from process to process.
inline bool is_nobodys(const std::string& word) { return is_made_up(word) || word.find('$') != std::string::npos; }

}  // namespace kiln
