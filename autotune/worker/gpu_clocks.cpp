#include "autotune/worker/gpu_clocks.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "autotune/worker/running.h"

namespace kiln::autotune {
namespace {

namespace cuda = generators::cuda;
namespace driver = generators::cuda::driver;

constexpr int kMostCalls = 256;            // together
constexpr int kMostLaunches = 512;         // together: with about twice as many the driver waits for the device, which waits for the hold
constexpr std::int64_t kLeastHold_ns = 20'000, kMostHold_ns = 20'000'000;
constexpr int kTries = 4;                  // a sample that began before all of it was submitted is taken again, behind a longer hold

// Calls of one program, each on the next set of a rotation.
class CallsInTurn {
 public:
  // `calls`: one a set; they outlive the value.
  CallsInTurn(std::vector<cuda::BoundCall>& calls, const driver::Stream& stream) : stream_(stream), calls_(calls) {}
  virtual ~CallsInTurn() = default;

  virtual void one() = 0;
  virtual void together() = 0;
  virtual int calls_together() const = 0;

 protected:
  std::size_t sets() const { return calls_.size(); }
  const driver::Stream& stream() const { return stream_; }
  std::size_t next_set() { return std::exchange(next_, next_ + 1 == sets() ? 0 : next_ + 1); }
  void launch_next() { calls_[next_set()].launch(stream_); }

 private:
  driver::Stream stream_;
  std::vector<cuda::BoundCall>& calls_;
  std::size_t next_ = 0;
};

class PlainCalls : public CallsInTurn {
 public:
  PlainCalls(std::vector<cuda::BoundCall>& calls, const driver::Stream& stream, int wanted) : CallsInTurn(calls, stream), together_(wanted) {}

  void one() override { launch_next(); }
  void together() override {
    for (int i = 0; i < together_; ++i) launch_next();
  }
  int calls_together() const override { return together_; }

 private:
  int together_;
};

class GraphCalls : public CallsInTurn {
 public:
  GraphCalls(std::vector<cuda::BoundCall>& calls, const driver::Stream& stream_of_calls, int wanted) : CallsInTurn(calls, stream_of_calls) {
    for (std::size_t set = 0; set < sets(); ++set) ones_.push_back(stream().capture([&] { launch_next(); }));
    // All sets equally often, so that a replay is as cold as single calls are.
    const int all = static_cast<int>(sets());
    together_ = (wanted + all - 1) / all * all;
    bundle_.emplace(stream().capture([&] {
      for (int i = 0; i < together_; ++i) launch_next();
    }));
    for (const driver::Graph& graph : ones_) stream().launch(graph);  // the first launch of each also brings it to the device
    stream().wait();
  }

  void one() override { stream().launch(ones_[next_set()]); }
  void together() override { stream().launch(*bundle_); }
  int calls_together() const override { return together_; }

 private:
  std::vector<driver::Graph> ones_;  // one a set
  std::optional<driver::Graph> bundle_;
  int together_ = 1;
};

class Measuring {
 public:
  Measuring(const cuda::LoadedProgram& program, GpuRotation& rotation, const driver::Hold& hold, const ClocksRequest& request)
      : program_(program), rotation_(rotation), hold_(hold), request_(request), begin_(program.device()), end_(program.device()) {}

  // Single calls until the device is warm; how many make a sample.
  int warm(CallsInTurn& calls) {
    double least_ns = std::numeric_limits<double>::infinity(), spent_ns = 0;
    for (int done = 0; done < 2 || spent_ns < request_.protocol.warm_ms * 1e6; ++done) {
      const double ns = between_events([&] { calls.one(); });
      if (done > 0) least_ns = std::min(least_ns, ns);  // the first also loads code
      spent_ns += std::max(ns, 1000.0);
    }
    return std::clamp(static_cast<int>(request_.protocol.sample_us * 1000 / std::max(least_ns, 1.0)), 1, kMostCalls);
  }

  Clocks of(CallsInTurn& calls, Submission submission) {
    Clocks clocks;
    clocks.submission = submission;
    clocks.cache = request_.cache;
    clocks.kernels = static_cast<int>(program_.kernels().size());
    clocks.calls_together = calls.calls_together();
    device_samples(calls, clocks);
    host_samples(calls, clocks);
    return clocks;
  }

 private:
  template <typename Work>
  double between_events(const Work& work) {
    const InCall in_call(request_.page);
    rotation_.stream().record(begin_);
    work();
    rotation_.stream().record(end_);
    end_.wait();
    return driver::ns_between(begin_, end_);
  }

  void device_samples(CallsInTurn& calls, Clocks& clocks) {
    const std::int64_t started = request_.now();
    between_events([&] { calls.together(); });
    std::int64_t hold_ns = std::clamp(2 * (request_.now() - started), kLeastHold_ns, kMostHold_ns);
    std::vector<double> ns, mhz;
    for (int tries = 0; std::ssize(ns) < request_.protocol.final_samples && tries < kTries * request_.protocol.final_samples; ++tries) {
      bool is_held = false;
      hold_.launch(rotation_.stream(), hold_ns);
      const double together_ns = between_events([&] {
        calls.together();
        is_held = !begin_.has_passed();
      });
      if (!is_held) {
        hold_ns = std::min(2 * hold_ns, kMostHold_ns);
        continue;
      }
      ns.push_back(together_ns / calls.calls_together());
      mhz.push_back(hold_.sm_mhz(rotation_.stream()));
    }
    clocks.device = spread(ns);
    clocks.sm_mhz = median(mhz);
  }

  void host_samples(CallsInTurn& calls, Clocks& clocks) {
    std::vector<double> submit, completion;
    for (int i = 0; i < request_.protocol.final_samples; ++i) {
      const InCall in_call(request_.page);
      const std::int64_t begun = request_.now();
      calls.one();
      const std::int64_t submitted = request_.now();
      rotation_.stream().wait();
      submit.push_back(static_cast<double>(submitted - begun));
      completion.push_back(static_cast<double>(request_.now() - begun));
    }
    clocks.submit = spread(submit);
    clocks.completion = spread(completion);
  }

  const cuda::LoadedProgram& program_;
  GpuRotation& rotation_;
  const driver::Hold& hold_;
  const ClocksRequest& request_;
  driver::Event begin_, end_;
};

}  // namespace

std::vector<Clocks> measure_clocks(const cuda::LoadedProgram& program, GpuRotation& rotation, const driver::Hold& hold, const ClocksRequest& request) {
  std::vector<cuda::BoundCall> calls;
  for (std::size_t set = 0; set < rotation.sets(); ++set) calls.emplace_back(program, rotation.arguments(set));
  PlainCalls single(calls, rotation.stream(), 1);
  Measuring measuring(program, rotation, hold, request);
  const int wanted = measuring.warm(single), most = std::max(1, kMostLaunches / static_cast<int>(program.kernels().size()));
  GraphCalls graph(calls, rotation.stream(), wanted);
  PlainCalls plain(calls, rotation.stream(), std::min(wanted, most));
  std::vector<Clocks> clocks;
  clocks.push_back(measuring.of(graph, Submission::graph));
  clocks.push_back(measuring.of(plain, Submission::plain));
  return clocks;
}

}  // namespace kiln::autotune
