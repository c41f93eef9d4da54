#include "generators/cuda/emulator/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

#include "generators/cuda/emulator/machine/addresses.h"

namespace kiln::generators::cuda::emulator {
namespace {

constexpr std::size_t kAlign = 1024;  // what a tile in the coarsest swizzle needs

std::size_t rounded(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

void fill(Space& space) {
  std::memset(space.bytes, space.use == Memory::Use::zeroed ? 0 : 0xFF, space.size);
  space.written.assign(space.size, space.use != Memory::Use::output);
}

}  // namespace

Memory::Memory() : region_(std::make_unique<Region>()) {
  // Only the pages that are touched take memory.
  void* const mapped = mmap(nullptr, Region::kShared + Region::kHeap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  region_->base = static_cast<char*>(mapped);
}

Memory::~Memory() { munmap(region_->base, Region::kShared + Region::kHeap); }

void* Memory::allocate(const std::string& name, std::size_t bytes, Use use) {
  if (region_->used + Region::kGuard + rounded(bytes) + Region::kGuard > Region::kHeap) throw std::bad_alloc();
  Space space;
  space.name = name;
  space.size = bytes;
  space.use = use;
  space.bytes = region_->base + Region::kShared + region_->used + Region::kGuard;
  region_->used += Region::kGuard + rounded(bytes);
  fill(space);
  region_->buffers.push_back(std::move(space));
  return region_->buffers.back().bytes;
}

void Memory::reset() {
  for (Space& space : region_->buffers)
    if (!space.is_input()) fill(space);
}

std::size_t Memory::first_unwritten(const void* buffer) const {
  for (const Space& space : region_->buffers)
    if (space.bytes == buffer) return static_cast<std::size_t>(std::find(space.written.begin(), space.written.end(), 0) - space.written.begin());
  throw std::invalid_argument("not a buffer of this memory");
}

}  // namespace kiln::generators::cuda::emulator
