// A kernel set onto disk: compiled and complete in a folder beside the target first, then put in its place in one step.
#pragma once

#include <filesystem>
#include <string>

#include "generators/package/kernel_set.h"

namespace kiln::generators::package {

// A finished package that nobody uses yet. Its folder vanishes with the value unless published.
class StagedPackage {
 public:
  StagedPackage(std::filesystem::path staging, std::filesystem::path target, std::string name);
  StagedPackage(StagedPackage&& other) noexcept;
  StagedPackage& operator=(StagedPackage&&) = delete;
  ~StagedPackage();

  std::filesystem::path library() const;  // the shared library, to be verified before publishing

  // Puts the package in the target's place; until then, and if this throws, the old package is untouched.
  void publish();

 private:
  std::filesystem::path staging_, target_;
  std::string name_;
};

// Writes every file of the package for `target` into a sibling folder. Needs cc, ld, objcopy and ar: EnvironmentError names the apt package of a
// missing one; DataError carries the words of one that failed. UsageError when `target` holds anything but an older package of the same set.
StagedPackage stage(const KernelSet& set, const std::filesystem::path& target);

// stage and publish, for sets that are verified already.
void write(const KernelSet& set, const std::filesystem::path& target);

}  // namespace kiln::generators::package
