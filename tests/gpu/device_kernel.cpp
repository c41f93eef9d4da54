#include "device_kernel.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <stdexcept>
#include <thread>
#include <vector>

#include "generators/cuda/emulator/machine/addresses.h"
#include "generators/cuda/emulator/tensor_map.h"
#include "nvrtc.h"

namespace kiln::gpu {
namespace {

using namespace generators::cuda::emulator;

class Block {
 public:
  explicit Block(std::size_t bytes) { driver().check(driver().allocate(&address_, bytes), "cuMemAlloc"); }
  ~Block() { driver().free(address_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  Address address() const { return address_; }

 private:
  Address address_ = 0;
};

struct Mirror {
  explicit Mirror(Space& s) : space(s), block(s.size) {}
  Space& space;
  Block block;
  std::list<Block> earlier;  // what the kernel before a dependent launch writes
};

Function loaded(const std::string& text, const std::string& kernel) {
  const std::string cubin = cubin_of(text, kernel);
  Module module = nullptr;
  Function function = nullptr;
  driver().check(driver().load(&module, cubin.data()), "cuModuleLoadData");
  driver().check(driver().function(&function, module, kernel.c_str()), "cuModuleGetFunction");
  return function;
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
  static const Function function = loaded(kEarlier, "earlier");
  const std::vector<char> poison(mirror.space.size, '\xFF');
  driver().check(driver().to_device(mirror.block.address(), poison.data(), poison.size()), "cuMemcpyHtoD");
  Block& values = mirror.earlier.emplace_back(mirror.space.size);
  driver().check(driver().to_device(values.address(), mirror.space.bytes, mirror.space.size), "cuMemcpyHtoD");
  Address from = values.address(), to = mirror.block.address();
  unsigned bytes = static_cast<unsigned>(mirror.space.size);
  void* arguments[] = {&from, &to, &bytes};
  const LaunchShape shape{.threads_x = 32, .stream = driver().stream};
  driver().check(driver().launch(&shape, function, arguments, nullptr), "cuLaunchKernelEx");
}

Address address_on_device(std::list<Mirror>& mirrors, const void* p) {
  for (const Mirror& mirror : mirrors)
    if (mirror.space.bytes == p) return mirror.block.address();
  throw std::invalid_argument("an 8-byte argument is not the address of a buffer");
}

struct alignas(64) Argument {
  char bytes[128];
};

Argument translated(std::list<Mirror>& mirrors, const void* argument, std::size_t bytes) {
  Argument result{};
  if (bytes == sizeof(EncodedMap)) {
    EncodedMap encoded;
    std::memcpy(&encoded, argument, sizeof encoded);
    const TensorMap2d map = decode(encoded);
    const std::uint64_t extents[] = {map.inner, map.outer}, pitches[] = {map.pitch_bytes};
    const std::uint32_t box[] = {map.box_inner, map.box_outer}, steps[] = {1, 1};
    const int type = map.element_bytes == 1 ? 0 : map.element_bytes == 2 ? 9 : 7;  // bytes, bf16, float
    void* const base = reinterpret_cast<void*>(address_on_device(mirrors, map.base));
    driver().check(driver().encode_tiled(result.bytes, type, 2, base, extents, pitches, box, steps, 0, static_cast<int>(map.swizzle), 0, 0), "cuTensorMapEncodeTiled");
  } else if (bytes == 8) {
    void* p = nullptr;
    std::memcpy(&p, argument, 8);
    const Address address = address_on_device(mirrors, p);
    std::memcpy(result.bytes, &address, 8);
  } else {
    std::memcpy(result.bytes, argument, bytes);
  }
  return result;
}

void wait() {
  constexpr Status kNotReady = 600;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (;;) {
    const Status status = driver().query(driver().stream);
    if (status != kNotReady) return driver().check(status, "the kernel");
    if (std::chrono::steady_clock::now() > end) {
      std::puts("the kernel has not ended after 10 seconds");
      std::fflush(stdout);
      std::_Exit(1);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
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

DeviceKernel::DeviceKernel(const std::string& text, const std::string& kernel) : function_(loaded(text, kernel)) {
  constexpr int kMaxDynamicShared = 8, kMost = 232448;
  driver().check(driver().set_attribute(function_, kMaxDynamicShared, kMost), "cuFuncSetAttribute");
}

Report DeviceKernel::run(const Launch& launch, Memory& memory, void** arguments) const try {
  std::list<Mirror> mirrors;
  for (Space& space : memory.region().buffers) {
    Mirror& mirror = mirrors.emplace_back(space);
    driver().check(driver().to_device(mirror.block.address(), space.bytes, space.size), "cuMemcpyHtoD");
  }
  std::list<Argument> values;
  std::vector<void*> pointers;
  std::size_t offset = 0, bytes = 0;
  for (std::size_t i = 0; driver().parameter(function_, i, &offset, &bytes) == 0; ++i) {
    values.push_back(translated(mirrors, arguments[i], bytes));
    pointers.push_back(values.back().bytes);
  }
  LaunchAttribute serialization;
  serialization.value.is_allowed = 1;
  const LaunchShape shape{.grid_x = launch.grid,
                          .threads_x = launch.threads,
                          .shared_bytes = launch.shared_bytes,
                          .stream = driver().stream,
                          .attributes = &serialization,
                          .attribute_count = launch.is_dependent ? 1u : 0u};
  if (launch.is_dependent)
    for (Mirror& mirror : mirrors)
      if (mirror.space.use == Memory::Use::fresh) launch_earlier(mirror);
  driver().check(driver().launch(&shape, function_, pointers.data(), nullptr), "cuLaunchKernelEx");
  wait();
  for (Mirror& mirror : mirrors) {
    std::vector<char> found(mirror.space.size);
    driver().check(driver().to_host(found.data(), mirror.block.address(), found.size()), "cuMemcpyDtoH");
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
