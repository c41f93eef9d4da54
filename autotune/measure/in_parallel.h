// Loops over the elements of large buffers, on all processors that this process may use.
#pragma once

#include <cstdint>
#include <functional>

namespace kiln::autotune {

// Those that the process is allowed.
int usable_processors();

inline constexpr std::int64_t kChunk = 1 << 18;  // elements

// Calls body(chunk, first, last) for each [first, last) of at most kChunk that together are [0, count), on several threads at once where there is more than one
// chunk; returns when all are done. `body` must not throw.
void in_chunks(std::int64_t count, const std::function<void(std::int64_t chunk, std::int64_t first, std::int64_t last)>& body);

constexpr std::int64_t chunks_of(std::int64_t count) { return (count + kChunk - 1) / kChunk; }

}  // namespace kiln::autotune
