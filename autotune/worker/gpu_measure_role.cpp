// The measuring worker of a program that measures on GPUs alone: nothing of compilers or of the emulator comes with it.
#include "autotune/worker/gpu_device.h"
#include "autotune/worker/measuring_worker.h"
#include "autotune/worker/serve.h"
#include "dsl/error.h"

namespace kiln::autotune {
namespace {

std::unique_ptr<MeasuredDevice> open(const MeasuredRequest& request) {
  if (request.runs_on == RunsOn::emulator || !request.facts.gpu) throw EnvironmentError("this program measures on GPUs alone");
  return open_gpu(request);
}

}  // namespace

int run_gpu_measure_role(Channel& channel) { return serve_measuring(channel, open); }

}  // namespace kiln::autotune
