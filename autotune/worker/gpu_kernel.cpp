#include "autotune/worker/gpu_kernel.h"

#include <algorithm>
#include <limits>

#include "autotune/worker/gpu_failure.h"
#include "autotune/worker/running.h"

namespace kiln::autotune {
namespace {

namespace driver = generators::cuda::driver;

// Launches in one graph: a kernel of a microsecond is then timed over a quarter of a millisecond, and a graph stays small.
constexpr int kMostCalls = 256;
constexpr std::size_t kMostSets = 4096;  // of the smallest problems: a set has allocations of its own

}  // namespace

GpuRotation::GpuRotation(const driver::OpenDevice& device, const driver::Stream& stream, const Algorithm& algorithm, const Inputs& inputs,
                         const std::shared_ptr<const GpuOriginals>& originals, Cache cache, std::int64_t l2_bytes)
    : stream_(stream) {
  const std::size_t bytes = std::max<std::size_t>(bytes_of(algorithm, inputs), 1);
  const std::size_t sets = cache == Cache::hot ? 1 : std::clamp<std::size_t>(2 * static_cast<std::size_t>(l2_bytes) / bytes + 1, 2, kMostSets);
  for (std::size_t i = 0; i < sets; ++i) {
    sets_.push_back(std::make_unique<GpuMemory>(device, stream, algorithm, inputs, originals, true));
    sets_.back()->reset(std::byte{0xff});
  }
  if (cache == Cache::hot) swept_.emplace(device, 2 * static_cast<std::size_t>(l2_bytes));
}

void GpuRotation::sweep() const {
  if (swept_) stream_.fill(swept_->address(), 0, swept_->bytes());
}

GpuKernel::GpuKernel(const generators::cuda::LoadedProgram& program, GpuRotation& rotation, const Protocol& protocol, SharedPage& page, std::int64_t id)
    : rotation_(rotation), protocol_(protocol), page_(page), id_(id), begin_(program.device()), end_(program.device()) {
  for (std::size_t set = 0; set < rotation.sets(); ++set) calls_.emplace_back(program, rotation.arguments(set));
}

void GpuKernel::launch_next() {
  calls_[next_].launch(rotation_.stream());
  next_ = next_ + 1 == calls_.size() ? 0 : next_ + 1;
}

template <typename Work>
double GpuKernel::timed(const Work& work) {
  if (failure_) return 0;
  const Suspect suspect(page_, id_);
  try {
    const InCall in_call(page_);
    rotation_.stream().record(begin_);
    work();
    rotation_.stream().record(end_);
    end_.wait();
    return driver::ns_between(begin_, end_);
  } catch (const driver::DriverError& error) {
    failure_ = words_of(error, rotation_.stream(), page_);
    return 0;
  }
}

double GpuKernel::call_once() {
  return timed([&] { launch_next(); });
}

void GpuKernel::begin_burst() {
  timed([&] {
    rotation_.sweep();
    launch_next();
  });
}

// Captured launches take the sets in turn, and all of them equally often: a replay is as cold as single calls are.
void GpuKernel::capture(int wanted) {
  const int sets = static_cast<int>(calls_.size()), calls = (wanted + sets - 1) / sets * sets;
  graph_ = rotation_.stream().capture([&] {
    for (int i = 0; i < calls; ++i) launch_next();
  });
  calls_per_sample_ = calls;
}

double GpuKernel::warm(double hopeless_ns) {
  double least = std::numeric_limits<double>::infinity(), spent = 0;
  call_once();  // the first also loads code
  for (int calls = 0; !failure_ && (calls < 2 || spent < protocol_.warm_ms * 1e6); ++calls) {
    const double ns = call_once();
    least = std::min(least, ns);
    spent += std::max(ns, 1000.0);
    if (calls >= 1 && hopeless_ns > 0 && least > hopeless_ns) break;
  }
  if (failure_) return least;
  call_ns_ = std::max(least, 1.0);
  try {
    capture(std::clamp(static_cast<int>(protocol_.sample_us * 1000 / call_ns_), 1, kMostCalls));
  } catch (const driver::DriverError& error) {
    failure_ = words_of(error, rotation_.stream(), page_);
    return least;
  }
  // A single short call between events is mostly the events: the graph tells what a call takes.
  const double together = timed([&] { rotation_.stream().launch(*graph_); }) / calls_per_sample_;
  if (!failure_) call_ns_ = std::min(call_ns_, std::max(together, 1.0));
  return call_ns_;
}

Sample GpuKernel::sample(int round) {
  const double ns = graph_ ? timed([&] { rotation_.stream().launch(*graph_); }) / calls_per_sample_ : call_once();
  return {round, static_cast<float>(ns), false};
}

}  // namespace kiln::autotune
