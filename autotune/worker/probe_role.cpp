// The probe: what this processor is and in what state the machine is. One answer, unasked.
#include "autotune/probe.h"
#include "autotune/worker/serve.h"
#include "generators/host/host.h"

namespace kiln::autotune {

int run_probe_role(Channel& channel) {
  return channel.send({0, "probe", to_json(Probe{generators::host::probe_cpu(), read_conditions()})}) ? 0 : 1;
}

}  // namespace kiln::autotune
