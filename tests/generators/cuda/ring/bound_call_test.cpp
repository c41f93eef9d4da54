// A ring's call as the driver hears it: tensor maps of its arguments, a grid of what runs at once, constants of the launch.
#include <gtest/gtest.h>

#include "dsl/problem.h"
#include "dsl/schedule.h"
#include "generators/cuda/launch/loaded_program.h"
#include "tests/generators/cuda/driver/fake_cuda.h"
#include "tests/generators/cuda/stream/algorithms.h"

namespace kiln::tests {
namespace {

namespace cuda = generators::cuda;
namespace driver = generators::cuda::driver;

constexpr const char* kSchedule =
    "y.tile(n, m, no, mo, ni, mi, 192, 128, GuardWithIf).gpu_blocks(no, mo).warps(1, 2, pingpong).persistent().raster(mo, 8).l2_promotion(x, 128).dependent_launch()\n"
    "c.compute_at(y, no)\nc.update(0).split(k, ko, ki, 64).stage_in(ko, shared, 4).tensorize(ki, wgmma)\n";

TEST(RingCall, is_told_to_the_driver_as_planned) {
  constexpr int kMultiprocessors = 16;
  const driver::FakeCuda fake;
  fake.set_attribute(kMultiprocessors, 5);
  const driver::OpenDevice device(fake.driver(), 0);
  const driver::Stream stream(device);
  const Algorithm algorithm = dot_by_columns();
  const Problem problem = resolve(parse_problem_text("dot_by_columns(m=1000, n=1928, k=1024)"), algorithm);
  const cuda::LoadedProgram program(device, "cubin", launch_record(cuda::lower(algorithm, parse_schedule(kSchedule), problem)));
  EXPECT_NE(fake.calls().find("cuFuncSetAttribute 8 to 197696"), std::string::npos) << "four stages of 40 KiB, four buffers of 8, barriers";
  const cuda::CallArguments arguments{.buffers = {{"x", 0x10000}, {"w", 0x20000}, {"bias", 0x30000}, {"y", 0x40000}},
                                      .scalars = {},
                                      .extents = [&](const Axis& place) { return extent_of(problem, algorithm, place.argument, place.dimension); }};
  cuda::BoundCall call(program, arguments);
  EXPECT_EQ(fake.calls(), "cuDeviceGetAttribute 16; cuTensorMapEncodeTiled 9 at 65536 1024/64/1 1000/128/1 pitch 2048 0 3 2 0; "
                          "cuTensorMapEncodeTiled 9 at 131072 1928/64/1 1024/64/1 pitch 3856 0 3 3 0; cuTensorMapEncodeTiled 9 at 262144 1928/64/1 1000/64/1 pitch 3856 0 3 0 0");
  call.launch(stream);
  EXPECT_EQ(fake.calls(), "cuLaunchKernelEx 5x1x1 blocks of 384x1x1 with 197696 serialized 1");
}

TEST(RingCall, of_an_address_at_no_sixteen_bytes_is_refused) {
  const driver::FakeCuda fake;
  const driver::OpenDevice device(fake.driver(), 0);
  const Algorithm algorithm = dot_by_columns();
  const Problem problem = resolve(parse_problem_text("dot_by_columns(m=8, n=64, k=64)"), algorithm);
  const cuda::LoadedProgram program(device, "cubin", launch_record(cuda::lower(algorithm, parse_schedule(kSchedule), problem)));
  const cuda::CallArguments arguments{.buffers = {{"x", 0x10008}, {"w", 0x20000}, {"bias", 0x30000}, {"y", 0x40000}},
                                      .scalars = {},
                                      .extents = [&](const Axis& place) { return extent_of(problem, algorithm, place.argument, place.dimension); }};
  try {
    cuda::BoundCall call(program, arguments);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "x begins at 0x10008, no multiple of 16 bytes");
  }
}

}  // namespace
}  // namespace kiln::tests
