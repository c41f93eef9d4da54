// __syncwarp, elect.sync and shuffles.
#include "generators/cuda/emulator/units/collectives.h"

#include "generators/cuda/emulator/units/device.h"

namespace kiln_device {
using namespace kiln::generators::cuda::emulator;

void __syncwarp(unsigned mask, int line) {
  Thread& thread = here("bar.warp.sync", line);
  if (mask != ~0u) fail("not emulated", "__syncwarp of some lanes, mask 0x%x", mask);
  thread.known = snapshot(thread);
  meet(thread, {}, [&](Warp&) {
    Epochs all;
    for (unsigned lane = 0; lane < 32; ++lane) raise(all, lane_of(thread, lane).known);
    const Clock joined(std::move(all));
    for (unsigned lane = 0; lane < 32; ++lane) lane_of(thread, lane).known = joined;
  });
}

bool elect_one(int line) {
  Thread& thread = here("elect.sync", line);
  meet(thread, {}, [](Warp&) {});
  return thread.lane() == 0;
}

u32 shuffle_(Lane_ how, u32 v, int by, int line) {
  Thread& thread = here("shfl.sync", line);
  const int lane = static_cast<int>(thread.lane());
  const int from = how == Lane_::index ? by & 31 : how == Lane_::exclusive_or ? lane ^ by : lane + by;
  const u32 source = static_cast<u32>(from < 0 || from > 31 ? lane : from);  // outside: the own value
  const Warp& warp = meet(thread, {v, source}, [](Warp& all) {
    for (auto& values : all.values) values[2] = all.values[values[1]][0];
  });
  return static_cast<u32>(warp.values[lane][2]);
}

}  // namespace kiln_device
