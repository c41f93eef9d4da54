// Work for a device in the order in which it is given, moments in it, and pieces of it that are launched again as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "generators/cuda/driver/kernel.h"

namespace kiln::generators::cuda::driver {

// A moment in a stream, once it was recorded there. Copies are the same moment.
class Event {
 public:
  explicit Event(const OpenDevice& device);

  bool has_passed() const;  // throws DriverError when what was before it failed
  void wait() const;        // likewise

 private:
  friend class Stream;
  friend double ns_between(const Event& first, const Event& last);
  OpenDevice device_;
  std::shared_ptr<CUevent_st> event_;
};

// Both have passed. Throws DriverError otherwise. Steps of half a microsecond.
double ns_between(const Event& first, const Event& last);

// Launches that were captured: one call starts them all.
class Graph {
 private:
  friend class Stream;
  std::shared_ptr<CUgraphExec_st> graph_;
};

// Copies are the same stream. It does not wait for CUDA's default stream. Every function throws DriverError; so does, for what failed on the device, any
// that comes later.
class Stream {
 public:
  explicit Stream(const OpenDevice& device);

  // Between ordinary memory of the process and the device: after what is in the stream already; both return when the copy is done.
  void write(Address to, const void* from, std::size_t bytes) const;
  void read(void* to, Address from, std::size_t bytes) const;

  // The rest returns at once.
  void copy(Address to, Address from, std::size_t bytes) const;  // both of the device
  void fill(Address to, std::uint8_t byte, std::size_t count) const;
  void launch(const Kernel& kernel, const Launch& launch, void** arguments) const;  // `arguments`: one pointer to each parameter's value
  void launch(const Graph& graph) const;
  void record(const Event& event) const;
  void wait_for(const Event& event) const;  // the stream does, not the caller

  // What `work` gives to this stream is captured instead of done. Nothing else of this thread may touch memory or wait meanwhile. What `work` throws comes
  // out, and the stream is as it was.
  Graph capture(const std::function<void()>& work) const;

  bool is_idle() const;
  void wait() const;

  CuStream handle() const { return stream_.get(); }  // for others who launch into it

 private:
  void check(Status status, std::string_view call) const { device_.check(status, call); }
  const Api& api() const { return device_.api(); }

  OpenDevice device_;
  std::shared_ptr<CUstream_st> stream_;
};

}  // namespace kiln::generators::cuda::driver
