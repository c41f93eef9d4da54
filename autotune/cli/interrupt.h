// SIGINT and SIGTERM while a long verb works: the first asks it to end in good order, the second ends the program at once.
#pragma once

#include "autotune/stop_request.h"

namespace kiln::autotune::cli {

// From construction on. One at a time.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();  // the signals do again what they did before
  Interrupts(const Interrupts&) = delete;

  // SIGTERM: choose; SIGINT: leave.
  StopRequest request() const;
  // 128 + the signal; 0 when there was none.
  int exit_code() const;
};

}  // namespace kiln::autotune::cli
