// Memory for one argument of a call between two guards, so that a write just outside is noticed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>

namespace kiln::tests {

class GuardedMemory {
 public:
  // Filled with a byte that no right result consists of. Starts `shift` bytes past a multiple of 128: a build may ask for an element's alignment only.
  explicit GuardedMemory(std::size_t bytes, std::size_t shift = 0)
      : bytes_(bytes), start_(kGuardBytes + shift), all_(static_cast<std::byte*>(std::aligned_alloc(kAlignment, whole()))) {
    if (all_ == nullptr) throw std::bad_alloc();
    std::memset(all_.get(), kGuard, whole());
  }

  std::byte* data() const { return all_.get() + start_; }
  std::span<std::byte> span() const { return {data(), bytes_}; }

  bool guards_stand() const {
    const auto is_guard = [](std::byte b) { return b == std::byte{kGuard}; };
    return std::all_of(all_.get(), data(), is_guard) && std::all_of(data() + bytes_, all_.get() + whole(), is_guard);
  }

 private:
  static constexpr int kGuard = 0xA5;
  static constexpr std::size_t kAlignment = 128;
  static constexpr std::size_t kGuardBytes = 4096;  // more than the widest vector of any tail reaches
  std::size_t whole() const { return (start_ + bytes_ + kGuardBytes + kAlignment - 1) / kAlignment * kAlignment; }

  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::size_t bytes_, start_;
  std::unique_ptr<std::byte, Free> all_;
};

}  // namespace kiln::tests
