// setmaxnreg: what the shrinking of one warp gives back to the block, the growing of another takes, and waits for.
#include "generators/cuda/emulator/machine/fault.h"
#include "generators/cuda/emulator/units/units.h"

#include "generators/cuda/emulator/units/device.h"

namespace kiln_device {
using namespace kiln::generators::cuda::emulator;

void set_registers_(int count, bool grow, int line) {
  Thread& thread = here(grow ? "setmaxnreg.inc" : "setmaxnreg.dec", line);
  Block& block = *thread.block;
  Warp& warp = thread.warp();
  if (count % 8 != 0 || count < 24 || count > 256) fail("registers", "setmaxnreg %d: a multiple of 8 from 24 to 256", count);
  if (grow ? count < warp.registers : count > warp.registers) fail("registers", "setmaxnreg.%s %d from %d", grow ? "inc" : "dec", count, warp.registers);
  while (warp.registers != count) {  // the first lane that can does it for the warp
    const int wanted = 32 * (count - warp.registers);
    if (wanted > block.registers_free) {
      wait_in(block.waiting_for_registers, {Wait::For::registers, nullptr, static_cast<u32>(count)});
      continue;
    }
    block.registers_free -= wanted;
    warp.registers = count;
    wake(block.waiting_for_registers);
  }
}

}  // namespace kiln_device
