// Memory for one argument, between two guard zones that show writes outside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace kiln::autotune {

class GuardedBuffer {
 public:
  // The first byte lies on a multiple of `alignment` (a power of two) and of nothing larger, so that a check at this alignment proves it.
  // Pages are touched at once: no call is timed while the kernel still hands out memory.
  GuardedBuffer(std::size_t bytes, std::size_t alignment);

  std::byte* data() const { return data_; }
  std::span<std::byte> bytes() const { return {data_, size_}; }

  void fill(std::byte value) const;
  // How many bytes before or after were written; 0 while the guards are whole.
  std::size_t damaged_guard_bytes() const;

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, Unmap> memory_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace kiln::autotune
