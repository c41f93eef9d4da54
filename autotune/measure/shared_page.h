// One page of memory that supervisor and measuring worker share: who is running right now, known also after the worker has died.
#pragma once

#include <atomic>
#include <cstdint>

namespace kiln::autotune {

// Written by the worker around every stretch of calls, which costs nanoseconds where a message would cost a wake-up of the supervisor, and with it
// a disturbed sample. Zero bytes are a valid page: nothing runs.
struct SharedPage {
  std::atomic<std::int64_t> candidate;        // the caller's id + 1; 0: none
  std::atomic<std::int64_t> call_started_ns;  // CLOCK_MONOTONIC; 0: not inside a call
  std::atomic<std::uint32_t> stop;            // set by the supervisor: end the race with what there is
  static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);
};

// CLOCK_MONOTONIC, the same in every process of the machine.
std::int64_t monotonic_ns();

// The supervisor's mapping, with the descriptor that a Launch hands on. Throws EnvironmentError.
class SharedPageOwner {
 public:
  SharedPageOwner();
  ~SharedPageOwner();
  SharedPageOwner(const SharedPageOwner&) = delete;
  SharedPageOwner& operator=(const SharedPageOwner&) = delete;

  int fd() const { return fd_; }
  SharedPage& page() { return *page_; }

 private:
  int fd_ = -1;
  SharedPage* page_ = nullptr;
};

// The worker's mapping of an inherited descriptor; lives as long as the process. Throws EnvironmentError.
SharedPage& map_shared_page(int fd);

}  // namespace kiln::autotune
