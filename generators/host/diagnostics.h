// Halide's words while it lowers and compiles: warnings are kept as text, errors become exceptions, nothing is printed.
#pragma once

#include <string>
#include <vector>

namespace kiln::generators::host {

// While alive, what Halide says on this thread is kept here. Halide's reporter is one a process; it is installed with the first Diagnostics and stays.
// Another thread without Diagnostics of its own has its warnings dropped. Not nested.
class Diagnostics {
 public:
  Diagnostics();
  ~Diagnostics();
  Diagnostics(const Diagnostics&) = delete;
  Diagnostics& operator=(const Diagnostics&) = delete;

  const std::vector<std::string>& warnings() const { return warnings_; }
  void add(const std::string& warning) { warnings_.push_back(warning); }
  std::string text() const;  // one after the other

  // The first warning that announces a failure of every call, as of a tile larger than a constant extent.
  const std::string* fatal() const;

 private:
  std::vector<std::string> warnings_;
};

}  // namespace kiln::generators::host
