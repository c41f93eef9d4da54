// kiln doctor
#include <HalideRuntime.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>

#include "autotune/cli/pages/doctor.h"
#include "autotune/cli/print.h"
#include "autotune/cli/verbs/verbs.h"
#include "db/store.h"
#include "dsl/autoschedulers.h"
#include "generators/cuda/compile/nvrtc.h"
#include "generators/host/host.h"

namespace kiln::autotune::cli {
namespace {

// The file behind a library of this process; empty when it has none such. Asks the system, not the library: the supervisor calls nothing of it.
std::string loaded_library(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    if (path != std::string::npos && line.find("/" + name, path) != std::string::npos) return line.substr(path);
  }
  return {};
}

// Loads it to ask; a compiler touches no device.
void look_for_nvrtc(Diagnosis& diagnosis) try {
  const generators::cuda::compile::Nvrtc nvrtc;
  diagnosis.nvrtc_version = nvrtc.version();
  diagnosis.nvrtc_path = nvrtc.path();
} catch (const generators::cuda::compile::NvrtcMissing&) {
  // the page says how to get it
}

Diagnosis diagnose(const std::string& db) {
  Diagnosis diagnosis;
  diagnosis.machine = probe();
  diagnosis.target = generators::host::target_string(diagnosis.machine.device, generators::host::Isa::native, Contract::bounded);
  diagnosis.halide_version =
      std::to_string(HALIDE_VERSION_MAJOR) + "." + std::to_string(HALIDE_VERSION_MINOR) + "." + std::to_string(HALIDE_VERSION_PATCH);
  diagnosis.halide_path = loaded_library("libHalide.so");
  diagnosis.autoschedulers = available_autoschedulers();
  look_for_nvrtc(diagnosis);
  db::Store memory(":memory:");
  db::Statement version = memory.connection().query("SELECT sqlite_version()");
  if (version.step()) diagnosis.sqlite_version = version.text(0);
  const std::filesystem::path folder = std::filesystem::absolute(db).parent_path();
  diagnosis.store_folder = folder;
  diagnosis.free_bytes = static_cast<double>(std::filesystem::space(folder).available);
  const char* path = std::getenv("PATH");
  diagnosis.tools = find_tools(path == nullptr ? "" : path);
  judge(diagnosis);
  return diagnosis;
}

}  // namespace

Action declare_doctor(CLI::App&) {
  return [](const Common& common) {
    const Diagnosis diagnosis = diagnose(common.db);
    print_result(common.json ? diagnosis_json(diagnosis) : print_diagnosis(diagnosis));
    return diagnosis.missing.empty() ? kDone : kEnvironment;
  };
}

}  // namespace kiln::autotune::cli
