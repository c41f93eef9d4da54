#include "generators/cuda/driver/hold.h"

#include <cstdint>
#include <string>

#include "generators/cuda/driver/texts.h"

namespace kiln::generators::cuda::driver {
namespace {

Kernel loaded(const OpenDevice& device) {
  const std::string text(device_texts().front().text);  // the driver reads PTX up to its zero
  return LoadedCubin(device, text).kernel("kiln_hold");
}

}  // namespace

Hold::Hold(const OpenDevice& device) : kernel_(loaded(device)), told_(device, 2 * sizeof(std::uint64_t)) {}

void Hold::launch(const Stream& stream, std::int64_t ns) const {
  Address told = told_.address();
  void* arguments[] = {&told, &ns};
  stream.launch(kernel_, {.grid = 1, .threads = 1}, arguments);
}

double Hold::sm_mhz(const Stream& stream) const {
  std::uint64_t told[2] = {};
  stream.read(told, told_.address(), sizeof told);
  return 1000 * static_cast<double>(told[0]) / static_cast<double>(told[1]);
}

}  // namespace kiln::generators::cuda::driver
