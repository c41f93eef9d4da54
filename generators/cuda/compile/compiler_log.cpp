#include "generators/cuda/compile/compiler_log.h"

#include <algorithm>
#include <regex>
#include <sstream>

#include "dsl/error.h"

namespace kiln::generators::cuda::compile {
namespace {

std::optional<std::smatch> match(const std::string& line, const std::regex& pattern) {
  std::smatch found;
  if (!std::regex_search(line, found, pattern)) return std::nullopt;
  return found;
}

std::int64_t number(const std::smatch& found, std::size_t group = 1) { return std::stoll(found.str(group)); }  // the patterns take at most 18 digits

std::int64_t number_or_zero(const std::string& line, const std::regex& pattern) {
  const auto found = match(line, pattern);
  return found ? number(*found) : 0;
}

// A kernel of which not all lines have been read yet.
struct Open {
  LoggedKernel kernel;
  bool has_frame = false, has_use = false;
};

// "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads", on a line of its own or behind NVRTC's "ptxas         .".
bool read_frame(const std::string& line, Open& open) {
  static const std::regex kFrame(R"((\d{1,18}) bytes stack frame, (\d{1,18}) bytes spill stores, (\d{1,18}) bytes spill loads)");
  const auto found = match(line, kFrame);
  if (!found) return false;
  open.kernel.stack_frame_bytes = number(*found, 1);
  open.kernel.spill_store_bytes = number(*found, 2);
  open.kernel.spill_load_bytes = number(*found, 3);
  return true;
}

// "Used 168 registers, used 2 barriers, 1024 bytes smem": what is zero is left out.
bool read_use(const std::string& line, Open& open) {
  static const std::regex kRegisters(R"(\bUsed (\d{1,18}) registers)"), kBarriers(R"(\bused (\d{1,18}) barriers)"), kShared(R"(\b(\d{1,18}) bytes smem)");
  const auto found = match(line, kRegisters);
  if (!found) return false;
  open.kernel.registers = number(*found);
  open.kernel.barriers = number_or_zero(line, kBarriers);
  open.kernel.shared_bytes = number_or_zero(line, kShared);
  return true;
}

}  // namespace

std::vector<LoggedKernel> read_log(const std::string& log) {
  static const std::regex kEntry(R"(Compiling entry function '([^']+)')"), kProperties(R"(Function properties for (\S+))");
  std::vector<Open> open;
  std::string described;  // the function whose frame comes next
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (const auto entry = match(line, kEntry)) open.push_back({.kernel = {.name = entry->str(1)}});
    if (const auto properties = match(line, kProperties)) described = properties->str(1);
    if (open.empty()) continue;
    Open& last = open.back();
    if (last.kernel.name == described) last.has_frame = read_frame(line, last) || last.has_frame;
    last.has_use = read_use(line, last) || last.has_use;
  }
  std::vector<LoggedKernel> kernels;
  for (const Open& one : open) {
    const std::string absent = !one.has_use ? "registers" : !one.has_frame ? "stack frame" : "";
    if (!absent.empty()) throw Error("the compiler's log does not give the " + absent + " of kernel `" + one.kernel.name + "`:\n" + log);
    kernels.push_back(one.kernel);
  }
  return kernels;
}

std::vector<Diagnostic> fatal_diagnostics(const std::string& log) {
  static const std::regex kCode(R"(^ptxas [^(]*\(C(75(?:0[89]|1\d)|7602)\))");
  static const std::regex kRegisters(R"(Insufficient registers \((\d{1,18})\).* register target of (\d{1,18}))");
  std::vector<Diagnostic> found;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const auto code = match(line, kCode);
    const bool is_known = std::any_of(found.begin(), found.end(), [&](const Diagnostic& other) { return other.text == line; });
    if (!code || is_known) continue;
    Diagnostic& diagnostic = found.emplace_back(Diagnostic{.code = static_cast<int>(number(*code)), .text = line});
    if (const auto registers = match(line, kRegisters)) {
      diagnostic.registers_here = number(*registers, 1);
      diagnostic.registers_needed = number(*registers, 2);
    }
  }
  return found;
}

}  // namespace kiln::generators::cuda::compile
