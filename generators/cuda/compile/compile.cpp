#include "generators/cuda/compile/compile.h"

#include <algorithm>
#include <array>
#include <utility>

#include "dsl/digest.h"
#include "generators/cuda/compile/compiler_log.h"

namespace kiln::generators::cuda::compile {
namespace {

// -v: the log gives each kernel's resources. Where there is a driver NVRTC keeps what it compiled in the driver's cache, and what it takes from there has no
// such log.
constexpr std::array kOptions{"-std=c++17", "--ptxas-options=-v", "--no-cache"};

std::vector<std::string> options_of(const Source& source) {
  std::vector<std::string> options{"--gpu-architecture=" + source.arch};
  options.insert(options.end(), kOptions.begin(), kOptions.end());
  if (!source.contracts_to_fma) options.push_back("--fmad=false");
  return options;
}

Rejection rejected(Reason reason, std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return {.reason = reason, .asked = {}, .allowed = {}, .text = std::move(text)};
}

// What has to do with registers is told apart: a smaller tile may cure it. The numbers are there for C7602 only.
Rejection rejected_for(const std::vector<Diagnostic>& diagnostics, std::string text) {
  Rejection rejection = rejected(Reason::compile_error, std::move(text));
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!diagnostic.is_about_registers()) continue;
    rejection.reason = Reason::over_registers;
    if (!diagnostic.registers_needed) continue;
    rejection.asked = static_cast<double>(*diagnostic.registers_needed);
    rejection.allowed = static_cast<double>(*diagnostic.registers_here);
  }
  return rejection;
}

std::string lines_of(const std::vector<Diagnostic>& diagnostics) {
  std::string lines;
  for (const Diagnostic& diagnostic : diagnostics) lines += diagnostic.text + "\n";
  return lines;
}

std::string names_of(const std::vector<KernelReport>& reports) {
  std::string names;
  for (const KernelReport& report : reports) names += (names.empty() ? "`" : ", `") + report.kernel + "`";
  return names.empty() ? "none" : names;
}

// Keeps the reports of the kernels that were asked for, in that order.
std::optional<Rejection> select_kernels(const Source& source, std::vector<KernelReport>& reports) {
  std::vector<KernelReport> selected;
  for (const std::string& kernel : source.kernels) {
    const auto found = std::find_if(reports.begin(), reports.end(), [&](const KernelReport& report) { return report.kernel == kernel; });
    if (found == reports.end())
      return rejected(Reason::compile_error,
                      "the text has no kernel `" + kernel + "`; it has " + names_of(reports) + ". Only extern \"C\" keeps a kernel's name as it is");
    selected.push_back(*found);
  }
  reports = std::move(selected);
  return std::nullopt;
}

}  // namespace

Compiled compile(const Nvrtc& nvrtc, const Source& source) {
  KILN_CHECK(!source.kernels.empty(), "a text is compiled for its kernels, and none is named");
  Translation translation = nvrtc.translate(source.text, source.kernels.front() + ".cu", prelude_files(), options_of(source));
  Compiled compiled;
  compiled.log = std::move(translation.log);
  const std::vector<Diagnostic> diagnostics = fatal_diagnostics(compiled.log);
  if (translation.ending != Translation::Ending::done) {
    const bool is_crash = translation.ending == Translation::Ending::crashed;
    compiled.rejection = is_crash ? rejected(Reason::compiler_crash, compiled.log) : rejected_for(diagnostics, compiled.log);
    return compiled;
  }
  compiled.kernels = read_reports(compiled.log, translation.cubin);
  compiled.rejection = select_kernels(source, compiled.kernels);
  if (!compiled.rejection && !diagnostics.empty()) compiled.rejection = rejected_for(diagnostics, lines_of(diagnostics));
  if (!compiled.rejection) compiled.cubin = std::move(translation.cubin);
  return compiled;
}

std::string toolchain_text(const Nvrtc& nvrtc) {
  std::string text = "nvrtc " + nvrtc.version() + "\n", prelude;
  for (const char* option : kOptions) text += std::string("option ") + option + "\n";
  for (const PreludeFile& file : prelude_files()) prelude += std::string(file.name) + "\n" + std::string(file.text);
  return text + "prelude " + content_digest(prelude).hex() + "\n";
}

}  // namespace kiln::generators::cuda::compile
