#include "device_subject.h"

#include <fmt/format.h>

#include "dsl/schedule.h"

namespace kiln::gpu {
namespace {

namespace cuda = generators::cuda;
using tests::EmulatedSubject;

constexpr std::uint64_t kSeed = 20261130;

void print_differing(const std::string& name, const EmulatedSubject::Call& one, const EmulatedSubject::Call& other) {
  for (const auto& [output, bytes] : one.outputs) {
    const std::vector<std::byte>& others = other.outputs.at(output);
    std::size_t different = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) different += bytes[i] != others[i];
    std::printf("%-32s %-8s %6zu bytes, %5zu differ\n", name.c_str(), output.c_str(), bytes.size(), different);
  }
}

}  // namespace

DeviceSubject::DeviceSubject(const std::string& problem, const std::string& schedule)
    : oracle_(tests::oracle(problem)),
      subject_(oracle_.algorithm, problem, oracle_.reference, kSeed),
      program_(cuda::lower(oracle_.algorithm, parse_schedule(schedule), subject_.problem())),
      device_(program_, launch_record(program_)) {}

std::string DeviceSubject::difference_from_reference(const DeviceProgram& program) const {
  return subject_.difference([&](EmulatedSubject::Call& call) { return program.run(call); });
}

std::string DeviceSubject::difference_from_reference(const cuda::LaunchRecord& record) const {
  return difference_from_reference(DeviceProgram(program_, record));
}

std::string DeviceSubject::difference_between_calls(int repeats) const {
  EmulatedSubject::Call first = subject_.call();
  if (std::string fault = device_.run(first); !fault.empty()) return fault;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    EmulatedSubject::Call again = subject_.call();
    if (std::string fault = device_.run(again); !fault.empty()) return fault;
    if (again.outputs != first.outputs) return fmt::format("repeat {} gives other bits", repeat);
  }
  return {};
}

std::string DeviceSubject::difference_from_emulator(const std::string& name) const {
  EmulatedSubject::Call device = subject_.call(), emulated = subject_.call();
  const cuda::Emulated emulator(program_.text(), record());
  if (std::string fault = emulator.run(emulated, 0); !fault.empty()) return fault;
  if (std::string fault = device_.run(device); !fault.empty()) return fault;
  print_differing(name, device, emulated);
  return subject_.difference_between(device, emulated);
}

}  // namespace kiln::gpu
