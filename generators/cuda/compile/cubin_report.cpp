#include "generators/cuda/compile/cubin_report.h"

#include <algorithm>

#include "dsl/error.h"
#include "generators/cuda/compile/compiler_log.h"
#include "generators/cuda/compile/cubin.h"

namespace kiln::generators::cuda::compile {
namespace {

void compare(const std::string& kernel, const char* what, std::int64_t in_log, std::int64_t in_cubin) {
  if (in_log == in_cubin) return;
  throw Error("the compiler contradicts itself about kernel `" + kernel + "`: " + std::to_string(in_log) + " " + what + " in its log, " + std::to_string(in_cubin) +
              " in its cubin");
}

KernelReport merged(const LoggedKernel& logged, const CubinKernel& compiled) {
  compare(logged.name, "registers", logged.registers, compiled.registers);
  compare(logged.name, "barriers", logged.barriers, compiled.barriers);
  compare(logged.name, "bytes of shared memory", logged.shared_bytes, compiled.shared_bytes);
  compare(logged.name, "bytes of stack frame", logged.stack_frame_bytes, compiled.stack_frame_bytes);
  return {.kernel = logged.name,
          .registers = logged.registers,
          .barriers = logged.barriers,
          .max_threads = compiled.max_threads,
          .shared_bytes = logged.shared_bytes,
          .stack_frame_bytes = logged.stack_frame_bytes,
          .spill_store_bytes = logged.spill_store_bytes,
          .spill_load_bytes = logged.spill_load_bytes,
          .parameter_bytes = compiled.parameter_bytes,
          .code_bytes = compiled.code_bytes};
}

}  // namespace

std::vector<KernelReport> read_reports(const std::string& log, std::string_view cubin) {
  const std::vector<CubinKernel> compiled = read_cubin(cubin);
  std::vector<KernelReport> reports;
  for (const LoggedKernel& logged : read_log(log)) {
    const auto found = std::find_if(compiled.begin(), compiled.end(), [&](const CubinKernel& one) { return one.name == logged.name; });
    if (found == compiled.end()) throw Error("the compiler's log speaks of kernel `" + logged.name + "`, which its cubin does not have");
    reports.push_back(merged(logged, *found));
  }
  return reports;
}

}  // namespace kiln::generators::cuda::compile
