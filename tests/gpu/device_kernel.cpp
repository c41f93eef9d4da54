#include "device_kernel.h"

#include <cstring>
#include <list>
#include <stdexcept>
#include <vector>

#include "generators/cuda/driver/memory.h"
#include "generators/cuda/driver/tensor_map.h"
#include "generators/cuda/emulator/machine/addresses.h"
#include "generators/cuda/emulator/tensor_map.h"
#include "hopper.h"
#include "nvrtc.h"

namespace kiln::gpu {
namespace {

namespace cu = generators::cuda::driver;
using namespace generators::cuda::emulator;

struct Mirror {
  explicit Mirror(Space& s) : space(s), block(hopper(), s.size) {}
  Space& space;
  cu::DeviceMemory block;
  std::list<cu::DeviceMemory> earlier;  // what the kernel before a dependent launch writes
};

cu::Kernel loaded(const std::string& text, const std::string& kernel) {
  const cu::OpenDevice& device = hopper();  // without one there is nothing to compile for
  return cu::LoadedCubin(device, cubin_of(text, kernel)).kernel(kernel);
}

// Lets its dependents start at once and takes its time: a dependent that does not wait reads what was there before.
constexpr char kEarlier[] = R"(#include "types.cuh"
#include "barriers.cuh"
extern "C" __global__ void earlier(const u8* from, u8* to, u32 bytes) {
  pdl_launch_dependents();
  for (int i = 0; i < 200; ++i) __nanosleep(1000);
  for (u32 i = threadIdx.x; i < bytes; i += blockDim.x) to[i] = from[i];
})";

void launch_earlier(Mirror& mirror) {
  static const cu::Kernel kernel = loaded(kEarlier, "earlier");
  const cu::DeviceMemory& values = mirror.earlier.emplace_back(hopper(), mirror.space.size);
  stream().write(values.address(), mirror.space.bytes, mirror.space.size);
  stream().fill(mirror.block.address(), 0xFF, mirror.space.size);
  cu::Address from = values.address(), to = mirror.block.address();
  unsigned bytes = static_cast<unsigned>(mirror.space.size);
  void* arguments[] = {&from, &to, &bytes};
  stream().launch(kernel, {.threads = 32}, arguments);
}

cu::Address address_on_device(std::list<Mirror>& mirrors, const void* p) {
  for (const Mirror& mirror : mirrors)
    if (mirror.space.bytes == p) return mirror.block.address();
  throw std::invalid_argument("an 8-byte argument is not the address of a buffer");
}

cu::TensorMap map_on_device(std::list<Mirror>& mirrors, const TensorMap2d& map) {
  constexpr DType kByte{TypeClass::unsigned_int, 8}, kBrain{TypeClass::brain_float, 16};
  return cu::encode(hopper().driver(), {.type = map.element_bytes == 1 ? kByte : map.element_bytes == 2 ? kBrain : kFloat32,
                                        .address = address_on_device(mirrors, map.base),
                                        .extents = {map.inner, map.outer},
                                        .pitches_bytes = {map.pitch_bytes},
                                        .box = {map.box_inner, map.box_outer},
                                        .swizzle_bytes = map.swizzle == Swizzle::none ? 0 : 16 << static_cast<int>(map.swizzle)});
}

struct alignas(64) Argument {
  char bytes[128];
};

Argument translated(std::list<Mirror>& mirrors, const void* argument, std::size_t bytes) {
  Argument result{};
  if (bytes == sizeof(EncodedMap)) {
    EncodedMap encoded;
    std::memcpy(&encoded, argument, sizeof encoded);
    const cu::TensorMap map = map_on_device(mirrors, decode(encoded));
    std::memcpy(result.bytes, map.bytes, sizeof map.bytes);
  } else if (bytes == 8) {
    void* p = nullptr;
    std::memcpy(&p, argument, 8);
    const cu::Address address = address_on_device(mirrors, p);
    std::memcpy(result.bytes, &address, 8);
  } else {
    std::memcpy(result.bytes, argument, bytes);
  }
  return result;
}

// Words that still hold the poison count as unwritten.
void note_written(Space& space) {
  for (std::size_t i = 0; i + 4 <= space.size; i += 4) {
    std::uint32_t word;
    std::memcpy(&word, space.bytes + i, 4);
    for (std::size_t j = 0; j < 4; ++j) space.written[i + j] = word != 0xFFFFFFFFu;
  }
}

}  // namespace

DeviceKernel::DeviceKernel(const std::string& text, const std::string& kernel) : kernel_(loaded(text, kernel)) { kernel_.allow_shared_bytes(232448); }

Report DeviceKernel::run(const Launch& launch, Memory& memory, void** arguments) const try {
  std::list<Mirror> mirrors;
  for (Space& space : memory.region().buffers) {
    const Mirror& mirror = mirrors.emplace_back(space);
    stream().write(mirror.block.address(), space.bytes, space.size);
  }
  std::list<Argument> values;
  std::vector<void*> pointers;
  for (const std::size_t bytes : kernel_.parameter_bytes()) {
    values.push_back(translated(mirrors, arguments[pointers.size()], bytes));
    pointers.push_back(values.back().bytes);
  }
  if (launch.is_dependent)
    for (Mirror& mirror : mirrors)
      if (mirror.space.use == Memory::Use::fresh) launch_earlier(mirror);
  // Kernels with clusters say so themselves (__cluster_dims__).
  stream().launch(kernel_, {.grid = launch.grid, .threads = launch.threads, .shared_bytes = launch.shared_bytes, .is_dependent = launch.is_dependent},
                  pointers.data());
  wait();
  for (Mirror& mirror : mirrors) {
    std::vector<char> found(mirror.space.size);
    stream().read(found.data(), mirror.block.address(), found.size());
    const bool is_equal = std::memcmp(found.data(), mirror.space.bytes, found.size()) == 0;
    if (mirror.space.is_input() && !is_equal) return {.kind = "input written", .text = mirror.space.name};
    std::memcpy(mirror.space.bytes, found.data(), found.size());
    if (mirror.space.use == Memory::Use::output) note_written(mirror.space);
  }
  return {};
} catch (const std::runtime_error& error) {
  return {.kind = "device error", .text = error.what()};
}

}  // namespace kiln::gpu
