// Kiln's three kinds of failure: the user's mistake throws one of these, an expected tuning outcome is a value (generators/rejection.h),
// and a bug of ours ends in KILN_CHECK.
#pragma once

#include <stdexcept>
#include <string>

namespace kiln {

// A message says which thing, what was asked, which limit with both numbers, and what would work.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A mistake in what the user wrote: a flag, a problem, a demand file, a generator. The program exits with 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

// A schedule that cannot be read or must not be applied. From a user's file it reaches the user; from a space it becomes a rejection.
class ScheduleError : public UsageError {
 public:
  using UsageError::UsageError;
};

// A schedule that does more to the numbers than the algorithm's contract allows.
class NumericsError : public ScheduleError {
 public:
  using ScheduleError::ScheduleError;
};

// A generator whose pipeline cannot be kept as an Algorithm; the message names the stage.
class AlgorithmError : public UsageError {
 public:
  using UsageError::UsageError;
};

// The machine lacks something: a compiler, a device, a free lock. The program exits with 3.
class EnvironmentError : public Error {
 public:
  using Error::Error;
};

// The store or a package is full, corrupt, locked, newer, or does not match. The program exits with 4.
class DataError : public Error {
 public:
  using Error::Error;
};

// Prints the place and the text to stderr and aborts; for broken promises of our own code only.
[[noreturn]] void check_failed(const char* file, int line, const std::string& what);

}  // namespace kiln

#define KILN_CHECK(condition, what)                                                  \
  do {                                                                               \
    if (!(condition)) ::kiln::check_failed(__FILE__, __LINE__, (what));              \
  } while (false)
