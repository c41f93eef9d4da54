#include "autotune/cli/interrupt.h"

#include <csignal>
#include <unistd.h>

namespace kiln::autotune::cli {
namespace {

volatile std::sig_atomic_t received = 0;
struct sigaction old_interrupt, old_terminate;

// A second signal does not wait: what is committed stays, workers die with this process.
extern "C" void take_signal(int signal) {
  if (received != 0) _exit(128 + signal);
  received = signal;
}

}  // namespace

Interrupts::Interrupts() {
  received = 0;
  struct sigaction action {};
  action.sa_handler = take_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &old_interrupt);
  sigaction(SIGTERM, &action, &old_terminate);
}

Interrupts::~Interrupts() {
  sigaction(SIGINT, &old_interrupt, nullptr);
  sigaction(SIGTERM, &old_terminate, nullptr);
}

StopRequest Interrupts::request() const {
  if (received == 0) return StopRequest::go_on;
  return received == SIGTERM ? StopRequest::choose : StopRequest::leave;
}

int Interrupts::exit_code() const { return received == 0 ? 0 : 128 + static_cast<int>(received); }

}  // namespace kiln::autotune::cli
