#include "generators/cuda/driver/stream.h"

#include <fmt/format.h>

namespace kiln::generators::cuda::driver {
namespace {

constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING
constexpr int kThreadLocal = 1;       // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: other threads may go on as they like

}  // namespace

Event::Event(const OpenDevice& device) : device_(device) {
  CuEvent event = nullptr;
  device_.check(device_.api().create_event(&event, 0), "cuEventCreate");
  event_ = {event, [device](CuEvent created) { device.api().destroy_event(created); }};
}

bool Event::has_passed() const {
  const Status status = device_.api().query_event(event_.get());
  if (status == kNotReady) return false;
  device_.check(status, "cuEventQuery");
  return true;
}

void Event::wait() const { device_.check(device_.api().wait_event(event_.get()), "cuEventSynchronize"); }

double ns_between(const Event& first, const Event& last) {
  float ms = 0;
  first.device_.check(first.device_.api().elapsed(&ms, first.event_.get(), last.event_.get()), "cuEventElapsedTime");
  return static_cast<double>(ms) * 1e6;
}

Stream::Stream(const OpenDevice& device) : device_(device) {
  CuStream stream = nullptr;
  check(api().create_stream(&stream, kNonBlocking), "cuStreamCreate");
  stream_ = {stream, [device](CuStream created) { device.api().destroy_stream(created); }};
}

void Stream::write(Address to, const void* from, std::size_t bytes) const {
  check(api().to_device(to, from, bytes, stream_.get()), fmt::format("cuMemcpyHtoDAsync of {} bytes", bytes));
  wait();
}

void Stream::read(void* to, Address from, std::size_t bytes) const {
  check(api().to_host(to, from, bytes, stream_.get()), fmt::format("cuMemcpyDtoHAsync of {} bytes", bytes));
  wait();
}

void Stream::copy(Address to, Address from, std::size_t bytes) const {
  check(api().copy(to, from, bytes, stream_.get()), fmt::format("cuMemcpyDtoDAsync of {} bytes", bytes));
}

void Stream::fill(Address to, std::uint8_t byte, std::size_t count) const {
  check(api().fill(to, byte, count, stream_.get()), fmt::format("cuMemsetD8Async of {} bytes", count));
}

void Stream::launch(const Kernel& kernel, const Launch& launch, void** arguments) const {
  const LaunchCall call(launch, stream_.get());
  check(api().launch(call.shape(), kernel.function(), arguments, nullptr),
        fmt::format("cuLaunchKernelEx of {} with {} blocks of {} threads, clusters of {} and {} bytes of dynamic shared memory", kernel.name(), launch.grid,
                    launch.threads, launch.cluster, launch.shared_bytes));
}

void Stream::launch(const Graph& graph) const { check(api().launch_graph(graph.graph_.get(), stream_.get()), "cuGraphLaunch"); }

void Stream::record(const Event& event) const { check(api().record_event(event.event_.get(), stream_.get()), "cuEventRecord"); }

void Stream::wait_for(const Event& event) const { check(api().wait_event_in_stream(stream_.get(), event.event_.get(), 0), "cuStreamWaitEvent"); }

Graph Stream::capture(const std::function<void()>& work) const {
  check(api().begin_capture(stream_.get(), kThreadLocal), "cuStreamBeginCapture");
  CuGraph captured = nullptr;
  try {
    work();
  } catch (...) {
    api().end_capture(stream_.get(), &captured);
    if (captured != nullptr) api().destroy_graph(captured);
    throw;
  }
  check(api().end_capture(stream_.get(), &captured), "cuStreamEndCapture");
  CuGraphExec made = nullptr;
  const Status status = api().instantiate(&made, captured, 0);
  api().destroy_graph(captured);
  check(status, "cuGraphInstantiate");
  Graph graph;
  graph.graph_ = {made, [device = device_](CuGraphExec instantiated) { device.api().destroy_graph_exec(instantiated); }};
  return graph;
}

bool Stream::is_idle() const {
  const Status status = api().query_stream(stream_.get());
  if (status == kNotReady) return false;
  check(status, "cuStreamQuery");
  return true;
}

void Stream::wait() const { check(api().wait_stream(stream_.get()), "cuStreamSynchronize"); }

}  // namespace kiln::generators::cuda::driver
