// What the readers of schedules share: how Halide's names of loops end, and what they say when they give up.
#pragma once

#include <fmt/format.h>

#include <string>

#include "dsl/error.h"

namespace kiln {

[[noreturn]] inline void cannot_say(const std::string& stage, const std::string& what) {
  throw ScheduleError(fmt::format("the schedule of {} cannot be said in directives: {}", stage, what));
}

// `x.xo.v12`: the last word is what the author, or Halide in his place, called the loop.
inline std::string last_word(const std::string& loop) { return loop.substr(loop.rfind('.') + 1); }

inline bool is_made_up(const std::string& word) {
  const bool counts = word.size() >= 2 && word.find_first_not_of("0123456789", 1) == std::string::npos;
  return counts || word.find('$') != std::string::npos;
}

}  // namespace kiln
