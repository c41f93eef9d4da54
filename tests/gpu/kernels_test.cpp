// The kernels that the emulator is tested on, on a device: right by the same judge, the same from launch to launch, and the same as the emulator — bit for
// bit where the emulator is exact, else within a bound.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>

#include "device_kernel.h"
#include "generators/cuda/emulator/machine/addresses.h"
#include "missing.h"
#include "tests/generators/cuda/emulator/numbers.h"
#include "tests/generators/cuda/emulator/subjects.h"

namespace kiln::gpu {
namespace {

using namespace generators::cuda::emulator;

// How far the device's results may be from the emulator's: 0 means the same bits; else |difference| <= tolerance * (|value| + 0.5).
enum class Element { bits, bf16, floats };
struct Compared {
  std::string buffer;
  Element element;
  double tolerance;
};
struct Case {
  std::string name;
  Subject subject;
  std::vector<Compared> inexact;  // other buffers: the same bits
};

std::vector<Case> cases() {
  std::vector<Case> all = {{"ring", ring(), {{"C", Element::bf16, 0.008}}},
                           {"multicast", multicast(), {{"C", Element::floats, 1e-5}}},
                           {"split", split(), {}},
                           {"turns", turns(), {}},
                           {"dependent", dependent(), {}},
                           {"product_e4m3", product_e4m3(), {}},
                           {"moves", moves(), {}},
                           {"turnstile", turnstile(), {}},
                           {"map_ring", map_ring(), {}},
                           {"row_softmax", row_softmax(), {{"y", Element::bf16, 1e-3}}},
                           {"matvec", matvec(), {{"y", Element::floats, 1e-5}}},
                           {"numbers", numbers(), {{"approximate", Element::floats, 1e-5}}},
                           {"every_move", every_move(), {}},
                           {"every_width", every_width(false, false), {{"D", Element::floats, 1e-5}}},
                           {"every_width_mn", every_width(false, true), {{"D", Element::floats, 1e-5}}},
                           {"every_width_e4m3", every_width(true, false), {}},
                           {"layouts_16", layouts(16, false, false), {{"D", Element::floats, 1e-5}}}};
  Case two_blocks = all[0];
  two_blocks.name = "ring_by_two_blocks";
  two_blocks.subject.launch.grid = 2;
  all.push_back(two_blocks);
  for (const int span : {128, 64, 32})
    for (const bool a_mn : {false, true})
      for (const bool b_mn : {false, true})
        all.push_back({"layouts_" + std::to_string(span) + (a_mn ? "_mn" : "_k") + (b_mn ? "_mn" : "_k"),
                       layouts(span, a_mn, b_mn),
                       {{"D", Element::floats, 1e-5}}});
  return all;
}

// What a kernel wrote, launch after launch: the contents of each buffer that is not an input.
using Results = std::vector<std::map<std::string, std::vector<char>>>;

Runner recorded(const Runner& run, Results& results) {
  return [&results, run](const Launch& launch, Memory& memory, void** arguments) {
    const Report report = run(launch, memory, arguments);
    auto& buffers = results.emplace_back();
    for (const Space& space : memory.region().buffers)
      if (!space.is_input()) buffers[space.name].assign(space.bytes, space.bytes + space.size);
    return report;
  };
}

std::vector<double> values(const std::vector<char>& bytes, Element element) {
  const std::size_t step = element == Element::bf16 ? 2 : 4;
  std::vector<double> result;
  for (std::size_t i = 0; i + step <= bytes.size(); i += step) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &bytes[i], step);
    result.push_back(double{from_bits(element == Element::bf16 ? bits << 16 : bits)});
  }
  return result;
}

struct Difference {
  std::size_t count = 0, different = 0;
  double largest = 0;  // of |difference| / (|value| + 0.5)
};

Difference difference(const std::vector<char>& device, const std::vector<char>& emulated, Element element) {
  if (element == Element::bits) {
    Difference d{.count = device.size()};
    for (std::size_t i = 0; i < device.size(); ++i) d.different += device[i] != emulated[i];
    return d;
  }
  const std::vector<double> found = values(device, element), wanted = values(emulated, element);
  Difference d{.count = found.size()};
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == wanted[i] || (std::isnan(found[i]) && std::isnan(wanted[i]))) continue;
    ++d.different;
    const double error = std::fabs(found[i] - wanted[i]) / (std::fabs(wanted[i]) + 0.5);
    d.largest = std::isnan(error) ? INFINITY : std::max(d.largest, error);
  }
  return d;
}

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Kernels : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override try {
    kernel_ = std::make_unique<DeviceKernel>(text_of(GetParam().subject), GetParam().subject.kernel);
  } catch (const Missing& missing) {
    GTEST_SKIP() << missing.what();
  }
  Runner device() const {
    return [this](const Launch& launch, Memory& memory, void** arguments) { return kernel_->run(launch, memory, arguments); };
  }

 private:
  std::unique_ptr<DeviceKernel> kernel_;
};

TEST_P(Kernels, are_right_on_the_device) {
  const Outcome outcome = GetParam().subject.run(device(), GetParam().subject.launch);
  EXPECT_EQ(outcome.word, "right") << outcome.text;
}

TEST_P(Kernels, give_the_same_bits_each_time) {
  Results first;
  GetParam().subject.run(recorded(device(), first), GetParam().subject.launch);
  for (int repeat = 0; repeat < 20; ++repeat) {
    Results again;
    GetParam().subject.run(recorded(device(), again), GetParam().subject.launch);
    ASSERT_EQ(again, first) << "repeat " << repeat;
  }
}

TEST_P(Kernels, give_what_the_emulator_gives) try {
  const Subject& subject = GetParam().subject;
  const Compiled compiled(text_of(subject), subject.kernel);
  Results on_device, emulated;
  subject.run(recorded(device(), on_device), subject.launch);
  const Runner emulator{[&](const Launch& launch, Memory& memory, void** arguments) { return run(launch, memory, compiled.entry(), arguments); }};
  const Outcome outcome = subject.run(recorded(emulator, emulated), subject.launch);
  EXPECT_EQ(outcome.word, "right") << outcome.text;
  ASSERT_EQ(on_device.size(), emulated.size());
  std::map<std::string, Difference> total;
  for (std::size_t i = 0; i < on_device.size(); ++i)
    for (const auto& [buffer, bytes] : on_device[i]) {
      Compared compared{buffer, Element::bits, 0};
      for (const Compared& inexact : GetParam().inexact)
        if (inexact.buffer == buffer) compared = inexact;
      const Difference d = difference(bytes, emulated[i].at(buffer), compared.element);
      EXPECT_TRUE(compared.element == Element::bits ? d.different == 0 : d.largest <= compared.tolerance)
          << buffer << ", launch " << i << ": " << d.different << " of " << d.count << " differ, by " << d.largest;
      Difference& sum = total[buffer];
      sum = {sum.count + d.count, sum.different + d.different, std::max(sum.largest, d.largest)};
    }
  for (const auto& [buffer, d] : total)
    std::printf("%-20s %-12s %7zu compared, %6zu differ, by %.1e at most\n", GetParam().name.c_str(), buffer.c_str(), d.count, d.different, d.largest);
} catch (const CompilerMissing& missing) {
  GTEST_SKIP() << missing.what();
}

INSTANTIATE_TEST_SUITE_P(All, Kernels, testing::ValuesIn(cases()), [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace kiln::gpu
