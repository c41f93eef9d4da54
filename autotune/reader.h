// The supervisor's side of the reader: the process that loads plugins and turns a generator into an Algorithm.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "autotune/process/child.h"
#include "autotune/search/proposer.h"
#include "dsl/algorithm.h"
#include "dsl/device.h"
#include "dsl/read_algorithm.h"

namespace kiln::autotune {

struct ReaderLimits {
  double request_s = 60;                                 // one generate(), both contexts
  std::int64_t address_space_bytes = std::int64_t{8} << 30;
};

// One reader process with its plugins loaded. Whatever plugin code does there (throw, print without end, crash, never return) is one clear error
// here; after a crash or a time-out the process is replaced, plugins and all, by the next request.
class Reader {
 public:
  // Nothing is started before the first request. `libraries`: shared objects with generators, in order. The target of every request is the
  // device's, with all its features.
  Reader(std::vector<std::string> libraries, Device device, ReaderLimits limits = {}, Launch launch = {});
  ~Reader();

  // All requests throw: UsageError (no such generator, wrong GeneratorParam, library that cannot be loaded), AlgorithmError (what cannot be kept;
  // plugin code that threw, crashed or ran out of time, with how it ended and the end of its output), EnvironmentError (no process).
  std::vector<std::string> generators();
  OperatorSignature signature(const std::string& generator);
  Algorithm read(const std::string& generator, const std::map<std::string, std::string>& params);

  // The search of the space that the plugin's author registered for this generator; nothing when there is none. It lives in the process: once that
  // is replaced, its functions throw AlgorithmError. It must not outlive the Reader.
  std::unique_ptr<Proposer> open_space(const Algorithm& algorithm, const Problem& problem, const SearchPlan& plan);

  std::string log() const;  // the end of what the reader and its plugins printed

 private:
  friend class PluginProposer;
  Json ask(const std::string& kind, const Json& body, const std::string& what);
  void start();
  [[noreturn]] void fail(const Exit& exit, const std::string& what);

  std::vector<std::string> libraries_;
  Device device_;
  ReaderLimits limits_;
  Launch launch_;
  std::unique_ptr<Child> child_;
  std::int64_t sequence_ = 0;
  int starts_ = 0;
};

}  // namespace kiln::autotune
