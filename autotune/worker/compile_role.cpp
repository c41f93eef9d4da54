// A compile worker: one candidate a request, from an algorithm in the cache folder to an object there. What a candidate does is its rejection;
// what ends this process (LLVM's fatal errors, crashes, the memory limit) the supervisor tells from the way it ended.
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>

#include <fmt/format.h>

#include "autotune/process/child.h"
#include "autotune/process/messages.h"
#include "autotune/process/objects.h"
#include "autotune/worker/serve.h"
#include "dsl/device.h"
#include "dsl/error.h"
#include "generators/cuda/build.h"
#include "generators/host/host.h"

namespace kiln::autotune {
namespace {

using generators::Build;
using generators::Reason;
using generators::Rejection;

Build rejected(Reason reason, std::string text) {
  Build build;
  build.rejection = Rejection{reason, std::nullopt, std::nullopt, std::move(text)};
  return build;
}

// The soft limit only, so that the next job may have more again.
void limit_memory(std::int64_t bytes) {
  rlimit limit{};
  if (!kLimitsAddressSpace || bytes <= 0 || ::getrlimit(RLIMIT_AS, &limit) != 0) return;
  limit.rlim_cur = std::min(static_cast<rlim_t>(bytes), limit.rlim_max);
  ::setrlimit(RLIMIT_AS, &limit);
}

class CompileWorker {
 public:
  void hello(const Json& body, const Answer& answer) {
    device_ = parse_device(body.at("device").get<std::string>());
    host_ = generators::host::host_beside(device_);
    if (device_.gpu) nvrtc_.emplace();
    objects_.emplace(body.at("cache").get<std::string>());
    answer.send("ready", Json::object());
  }

  void build(const Json& body, const Answer& answer) {
    if (!objects_) throw Error("a build was asked for before hello");
    const Algorithm& algorithm = algorithm_of(body.at("algorithm").get<std::string>());
    limit_memory(body.at("memory_bytes").get<std::int64_t>());
    Build build = body.at("what").get<std::string>() == "reference" ? reference(algorithm, body) : candidate(algorithm, body);
    Json object = nullptr;
    if (build.artifact) object = to_json(ObjectRef{objects_->put_object(build.artifact->bytes), build.artifact->symbol, build.artifact->target});
    answer.send("built", {{"build", to_json(build)}, {"object", std::move(object)}});
  }

 private:
  const Algorithm& algorithm_of(const std::string& hash) {
    if (hash != algorithm_hash_) {
      algorithm_ = std::make_unique<Algorithm>(algorithm_from_json(objects_->algorithm(hash)));
      algorithm_hash_ = hash;
    }
    return *algorithm_;
  }

  Build candidate(const Algorithm& algorithm, const Json& body) const {
    try {
      const Schedule schedule = parse_schedule(body.at("schedule").get<std::string>());
      if (nvrtc_) return generators::cuda::build(*nvrtc_, algorithm, schedule, problem_from_json(body.at("problem")), device_);
      const auto isa = static_cast<generators::host::Isa>(body.at("isa").get<int>());
      return generators::host::build(algorithm, schedule, problem_from_json(body.at("problem")), device_, isa);
    } catch (const ScheduleError& error) {
      Build build;
      build.rejection = generators::rejection_of(error);
      return build;
    } catch (const EnvironmentError&) {
      throw;
    } catch (const std::bad_alloc&) {
      return rejected(Reason::compiler_crash, fmt::format("the build needs more than its limit of {} MiB", body.at("memory_bytes").get<std::int64_t>() >> 20));
    } catch (const Error& error) {
      return rejected(Reason::compile_error, error.what());
    }
  }

  // On the host whatever is tuned.
  Build reference(const Algorithm& algorithm, const Json& body) const {
    try {
      Build build;
      build.artifact = generators::host::build_reference(algorithm, host_, static_cast<generators::host::Isa>(body.at("isa").get<int>()));
      return build;
    } catch (const Error& error) {
      return rejected(Reason::compile_error, error.what());
    }
  }

  Device device_, host_;
  std::optional<generators::cuda::compile::Nvrtc> nvrtc_;  // of a GPU
  std::optional<Objects> objects_;
  std::string algorithm_hash_;
  std::unique_ptr<Algorithm> algorithm_;
};

}  // namespace

int run_compile_role(Channel& channel) {
  CompileWorker worker;
  return serve(channel, {{"hello", [&](const Json& body, const Answer& answer) { worker.hello(body, answer); }},
                         {"build", [&](const Json& body, const Answer& answer) { worker.build(body, answer); }}});
}

}  // namespace kiln::autotune
