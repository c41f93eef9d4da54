// What this process may use of the CPU: CPUID for what exists, XCR0 for what the system saves, affinity and cgroup for how many cores.
#include <cpuid.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <thread>

#include "generators/host/cpu_features.h"
#include "generators/host/host.h"

namespace kiln::generators::host {
namespace {

CpuidLeaf cpuid(unsigned leaf, unsigned subleaf = 0) {
  CpuidLeaf out;
  if (leaf > __get_cpuid_max(leaf & 0x80000000u, nullptr)) return out;
  __cpuid_count(leaf, subleaf, out.eax, out.ebx, out.ecx, out.edx);
  return out;
}

std::uint64_t read_xcr0() {
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32) | low;
}

CpuidFacts read_cpuid() {
  CpuidFacts facts{.leaf1 = cpuid(1), .leaf7 = cpuid(7), .leaf7_1 = cpuid(7, 1), .extended1 = cpuid(0x80000001u)};
  constexpr unsigned kOsxsave = 1u << 27;
  if (facts.leaf1.ecx & kOsxsave) facts.xcr0 = read_xcr0();  // without it xgetbv itself is illegal
  return facts;
}

std::string vendor() {
  const CpuidLeaf leaf = cpuid(0);
  std::array<char, 12> text{};
  std::memcpy(text.data(), &leaf.ebx, 4);
  std::memcpy(text.data() + 4, &leaf.edx, 4);
  std::memcpy(text.data() + 8, &leaf.ecx, 4);
  return {text.data(), text.size()};
}

std::string brand() {
  std::string raw;
  for (unsigned leaf = 0x80000002u; leaf <= 0x80000004u; ++leaf) {
    const CpuidLeaf part = cpuid(leaf);
    std::array<char, 16> text{};
    std::memcpy(text.data(), &part, sizeof part);
    raw.append(text.data(), text.size());
  }
  raw.resize(std::strlen(raw.c_str()));
  std::istringstream words(raw);
  std::string folded, word;
  while (words >> word) folded += (folded.empty() ? "" : " ") + word;
  return folded;
}

// AMD reports its caches in the same form as Intel's leaf 4, under its own number.
struct Caches {
  std::int64_t l1 = 0, l2 = 0, l3 = 0;
};

Caches read_caches(bool is_amd) {
  Caches caches;
  for (unsigned index = 0; index < 16; ++index) {
    const CpuidLeaf leaf = cpuid(is_amd ? 0x8000001Du : 4u, index);
    const unsigned type = leaf.eax & 31u, level = (leaf.eax >> 5) & 7u;
    if (type == 0) break;
    if (type == 2) continue;  // instructions
    const std::int64_t ways = (leaf.ebx >> 22) + 1, partitions = ((leaf.ebx >> 12) & 1023u) + 1, line = (leaf.ebx & 4095u) + 1;
    const std::int64_t bytes = ways * partitions * line * (std::int64_t{leaf.ecx} + 1);
    if (level == 1) caches.l1 = bytes;
    if (level == 2) caches.l2 = bytes;
    if (level == 3) caches.l3 = bytes;
  }
  return caches;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The group of this process: from "0::/a/b" (version 2) or "3:cpu,cpuacct:/a/b" (version 1).
std::string cgroup_of(const std::string& proc_self_cgroup, const std::string& controller) {
  std::istringstream lines(proc_self_cgroup);
  std::string line;
  while (std::getline(lines, line)) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    if (controllers.find("," + controller + ",") != std::string::npos) return line.substr(second + 1);
  }
  return {};
}

// Every directory from the group up to the root may hold the tighter limit. In a container the own path is often not visible: the root is.
std::vector<std::string> group_and_parents(std::string group) {
  std::vector<std::string> out;
  while (!group.empty() && group != "/") {
    out.push_back(group);
    group.resize(group.find_last_of('/') == std::string::npos ? 0 : group.find_last_of('/'));
  }
  out.emplace_back();
  return out;
}

std::optional<double> cgroup_cores() {
  const std::string groups = read_file("/proc/self/cgroup");
  std::optional<double> least;
  const auto take = [&](std::optional<double> cores) {
    if (cores && (!least || *cores < *least)) least = cores;
  };
  for (const std::string& group : group_and_parents(cgroup_of(groups, ""))) take(quota_v2(read_file("/sys/fs/cgroup" + group + "/cpu.max")));
  for (const std::string& group : group_and_parents(cgroup_of(groups, "cpu")))
    for (const char* mount : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"})
      take(quota_v1(read_file(mount + group + "/cpu.cfs_quota_us"), read_file(mount + group + "/cpu.cfs_period_us")));
  return least;
}

int usable_cores() {
  int cores = static_cast<int>(std::thread::hardware_concurrency());
  cpu_set_t* set = CPU_ALLOC(4096);
  const std::size_t bytes = CPU_ALLOC_SIZE(4096);
  if (set != nullptr && sched_getaffinity(0, bytes, set) == 0) cores = CPU_COUNT_S(bytes, set);
  CPU_FREE(set);
  if (const auto quota = cgroup_cores()) cores = std::min(cores, static_cast<int>(std::floor(*quota)));
  return std::max(cores, 1);
}

}  // namespace

Device probe_cpu() {
  const CpuidFacts facts = read_cpuid();
  Device device;
  device.vendor = vendor();
  device.model = brand();
  const unsigned eax = facts.leaf1.eax, base_family = (eax >> 8) & 15u, base_model = (eax >> 4) & 15u;
  device.family = static_cast<int>(base_family == 15 ? base_family + ((eax >> 20) & 255u) : base_family);
  device.model_number = static_cast<int>(base_family == 15 || base_family == 6 ? base_model + ((eax >> 12) & 0xF0u) : base_model);
  device.stepping = static_cast<int>(eax & 15u);
  device.features = features_of(facts);
  device.cores = usable_cores();
  const Caches caches = read_caches(device.vendor == "AuthenticAMD" || device.vendor == "HygonGenuine");
  device.l1_bytes = caches.l1;
  device.l2_bytes = caches.l2;
  device.l3_bytes = caches.l3;
  const auto has = [&](const char* name) { return std::find(device.features.begin(), device.features.end(), name) != device.features.end(); };
  device.vector_bytes = has("avx512_skylake") ? 64 : has("avx") ? 32 : 16;
  device.vector_registers = has("avx512_skylake") ? 32 : 16;
  return device;
}

Device host_beside(const Device& device) { return device.gpu ? probe_cpu() : device; }

}  // namespace kiln::generators::host
