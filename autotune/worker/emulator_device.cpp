#include "autotune/worker/emulator_device.h"

#include "autotune/worker/emulated_candidate.h"
#include "dsl/error.h"

namespace kiln::autotune {

std::unique_ptr<LoadedCandidate> EmulatorDevice::load(const ObjectRef& object, const Objects& objects) {
  const generators::cuda::Image program = generators::cuda::unpack(objects.object(object.hash));
  try {
    return std::make_unique<EmulatedCandidate>(program);
  } catch (const generators::cuda::emulator::CompilerMissing& missing) {
    throw EnvironmentError(missing.what());
  } catch (const std::runtime_error& refused) {
    throw Error(refused.what());
  }
}

std::unique_ptr<CallRotation> EmulatorDevice::rotation(const Algorithm&, const Inputs&) { KILN_CHECK(false, "a race was asked of the emulator"); }

}  // namespace kiln::autotune
