#include "autotune/back_end.h"

#include "dsl/error.h"
#include "generators/cuda/build.h"
#include "generators/cuda/compile/compile.h"
#include "generators/cuda/lower.h"
#include "generators/host/host.h"

namespace kiln::autotune {

namespace cuda = generators::cuda;
namespace host = generators::host;

BackEnd::BackEnd(const Device& device) : device_(device), toolchain_(device.gpu ? cuda::compile::toolchain_text(cuda::compile::Nvrtc()) : host::toolchain_text()) {}

std::string BackEnd::target(Contract contract) const {
  return device_.gpu ? cuda::target_string(device_, contract) : host::target_string(device_, host::Isa::native, contract);
}

Digest BackEnd::build_key(const Algorithm& algorithm, const Schedule& schedule, const Problem& problem) const {
  if (device_.gpu) return cuda::build_key(algorithm, schedule, problem, device_, toolchain_);
  return host::build_key(algorithm, schedule, problem, target(algorithm.contract));
}

std::string BackEnd::unmet_requirement(const Algorithm& algorithm, const Problem& problem) const {
  if (!device_.gpu) return {};
  try {
    cuda::lower(algorithm, Schedule{}, problem, capability_of(*device_.gpu));
    return {};
  } catch (const ScheduleError& error) {
    return error.what();
  }
}

}  // namespace kiln::autotune
