// Builds that outlive the program: Adams2019 may search for minutes, and whether it ends is an outcome to keep too.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "autotune/compile_pool.h"
#include "dsl/schedule.h"

namespace kiln::bench {

class KeptBuilds {
 public:
  // Objects and outcomes lie in `folder`; delete it to build everything again.
  KeptBuilds(Device device, const std::filesystem::path& folder, const autotune::Launch& launch)
      : device_(device), folder_(folder), objects_(folder), pool_(1, std::move(device), objects_, launch) {}

  const autotune::Objects& objects() const { return objects_; }

  // Builds in a process of its own under the widest limits of `kiln tune`; or tells what such a build came to before.
  autotune::CompileOutcome build(const std::shared_ptr<const Algorithm>& algorithm, const Problem& problem, const Schedule& schedule);

  // The f64 reference. Throws Error with the compiler's words.
  autotune::ObjectRef reference(const std::shared_ptr<const Algorithm>& algorithm);

 private:
  autotune::CompileOutcome run(autotune::CompileJob job);

  Device device_;
  std::filesystem::path folder_;
  autotune::Objects objects_;
  autotune::CompilePool pool_;
};

}  // namespace kiln::bench
