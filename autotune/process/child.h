// A child process of the supervisor: started in its own group, heard over one socket, its output kept to the last 64 KiB, killed as a group.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autotune/process/channel.h"

namespace kiln::autotune {

// The sanitizers' shadow memory is terabytes of address space: no limit is set then.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kLimitsAddressSpace = false;
#else
inline constexpr bool kLimitsAddressSpace = true;
#endif

// How a child ended, or that it did not.
struct Exit {
  enum class Kind { exited, signalled, timed_out, unkillable };
  Kind kind = Kind::exited;
  int code = 0;                   // exited
  int signal = 0;                 // signalled
  double limit_s = 0, spent_s = 0;  // timed_out: the limit that was passed and the time taken

  bool is_clean() const { return kind == Kind::exited && code == 0; }
  // "signal 11 (SIGSEGV)", "exit code 3", "time-out: 12.1 s of 10 s", "still alive 30 s after SIGKILL".
  std::string describe() const;
};

// What to start. The default is this very program, which then enters `run_role` (autotune/worker/roles.h).
struct Launch {
  std::string program = "/proc/self/exe";
  std::vector<std::string> arguments;  // without the program's name
  std::int64_t address_space_bytes = 0;  // RLIMIT_AS, hard; 0: unlimited
  int shared_fd = -1;                  // a memfd that the child finds on fd 4; -1: none. Stays the caller's
};

// A started child. The socket is fd 3 on its side, stdin is /dev/null, stdout and stderr go to the log. It dies with this process, even when
// this process is killed. Destroying the value kills the whole group. Used from one thread; the log is drained by a thread of its own, so a
// child that prints without end neither blocks nor fills anything.
class Child {
 public:
  static constexpr std::size_t kLogBytes = 64 * 1024;

  // Throws EnvironmentError when the process cannot be started.
  explicit Child(const Launch& launch);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const;
  Channel& channel();
  std::string log() const;  // the last kLogBytes of stdout and stderr together, from the last clear_log() on
  void clear_log();

  // The exit once there is one; does not wait.
  std::optional<Exit> poll_exit();
  // SIGKILL to the group, then waits up to 30 s. The exit of a child that had already ended by itself is kept.
  Exit kill();
  // kill(), told as a time-out.
  Exit kill_at_limit(double limit_s, double spent_s);
  // Closes the socket, which asks the child to end, and waits; kills it after `patience`.
  Exit finish(std::chrono::milliseconds patience);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The end of a log as a message carries it: "; its last output: …" with at most ten lines, or nothing when it printed nothing.
std::string tail_for_message(const std::string& log);

// A stretch of seconds from now, as a deadline.
Clock::time_point seconds_from_now(double seconds);
double seconds_since(Clock::time_point start);

}  // namespace kiln::autotune
