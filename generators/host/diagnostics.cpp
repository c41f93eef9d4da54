// Halide's process-wide reporter, forwarding to the Diagnostics of the thread that speaks.
#include "generators/host/diagnostics.h"

#include <Halide.h>

#include <algorithm>

#include "dsl/error.h"

namespace kiln::generators::host {
namespace {

thread_local Diagnostics* listening = nullptr;

class Reporter final : public Halide::CompileTimeErrorReporter {
 public:
  void warning(const char* message) override {
    if (listening != nullptr) listening->add(message);
  }
  // Halide has no other way to tell a user's error from its own here; its words say which ("Internal Error at …").
  [[noreturn]] void error(const char* message) override { throw Halide::CompileError(message); }
};

void install_once() {
  static Reporter reporter;
  static const bool installed = [] {
    Halide::set_custom_compile_time_error_reporter(&reporter);
    return true;
  }();
  (void)installed;
}

}  // namespace

Diagnostics::Diagnostics() {
  install_once();
  KILN_CHECK(listening == nullptr, "two Diagnostics on one thread");
  listening = this;
}

Diagnostics::~Diagnostics() { listening = nullptr; }

std::string Diagnostics::text() const {
  std::string all;
  for (const std::string& warning : warnings_) all += warning + (warning.ends_with('\n') ? "" : "\n");
  return all;
}

const std::string* Diagnostics::fatal() const {
  const auto found = std::find_if(warnings_.begin(), warnings_.end(),
                                  [](const std::string& warning) { return warning.find("guaranteed to fail") != std::string::npos; });
  return found == warnings_.end() ? nullptr : &*found;
}

}  // namespace kiln::generators::host
