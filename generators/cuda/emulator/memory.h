// Global memory of an emulated launch: buffers with guard zones between them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace kiln::generators::cuda::emulator {

struct Region;

class Memory {
 public:
  // input: a store is a fault. fresh: an input that the previous kernel of a dependent launch writes. output: starts unwritten, filled with 0xFF.
  // zeroed: starts as written zeros.
  enum class Use { input, fresh, output, zeroed };

  Memory();
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Aligned to 1024 bytes; `name` is what messages say. Throws std::bad_alloc beyond 1 GiB in all.
  void* allocate(const std::string& name, std::size_t bytes, Use use);

  // Outputs are unwritten again and zeroed buffers zero, as allocated; inputs stay. Between launches that must not see each other's results.
  void reset();

  // Offset of the first byte of the buffer that no kernel wrote, or the buffer's size. Throws std::invalid_argument for another address.
  std::size_t first_unwritten(const void* buffer) const;

  Region& region() { return *region_; }  // for the emulator

 private:
  std::unique_ptr<Region> region_;
};

}  // namespace kiln::generators::cuda::emulator
