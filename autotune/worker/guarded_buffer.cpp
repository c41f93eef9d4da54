#include "autotune/worker/guarded_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "dsl/error.h"

namespace kiln::autotune {
namespace {

constexpr std::size_t kGuardBytes = 4096;  // wider than any vector, tile row or unrolled store past the end
constexpr std::byte kGuard{0xc3};

std::size_t damaged(const std::byte* zone) {
  return kGuardBytes - static_cast<std::size_t>(std::count(zone, zone + kGuardBytes, kGuard));
}

}  // namespace

void GuardedBuffer::Unmap::operator()(void* memory) const { ::munmap(memory, bytes); }

GuardedBuffer::GuardedBuffer(std::size_t bytes, std::size_t alignment) : size_(bytes) {
  const std::size_t total = bytes + 2 * kGuardBytes + 2 * alignment;
  void* memory = ::mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) throw EnvironmentError(fmt::format("{} bytes for a buffer cannot be had", bytes));
  memory_ = {memory, Unmap{total}};
  const auto start = reinterpret_cast<std::uintptr_t>(memory) + kGuardBytes;
  const std::uintptr_t aligned = (start + 2 * alignment - 1) / (2 * alignment) * (2 * alignment) - alignment;
  data_ = reinterpret_cast<std::byte*>(aligned >= start ? aligned : aligned + 2 * alignment);
  std::memset(data_ - kGuardBytes, static_cast<int>(kGuard), kGuardBytes);
  std::memset(data_ + size_, static_cast<int>(kGuard), kGuardBytes);
}

void GuardedBuffer::fill(std::byte value) const { std::memset(data_, static_cast<int>(value), size_); }

std::size_t GuardedBuffer::damaged_guard_bytes() const { return damaged(data_ - kGuardBytes) + damaged(data_ + size_); }

}  // namespace kiln::autotune
