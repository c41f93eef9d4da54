// How a run is told to end before its time.
#pragma once

#include <cstdint>

namespace kiln::autotune {

// What the user asked for meanwhile.
enum class StopRequest : std::uint8_t {
  go_on,
  choose,  // finish the trial, choose, end (SIGTERM)
  leave,   // commit and end: a later run resumes (SIGINT)
};

}  // namespace kiln::autotune
