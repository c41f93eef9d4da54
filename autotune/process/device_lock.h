// One measuring worker per device across all processes of a machine: an flock on a file named after the device.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "dsl/digest.h"

namespace kiln::autotune {

// Held until destroyed, or until the process ends in any way.
class DeviceLock {
 public:
  // `folder` is where all users of the machine look, as default_folder(). Without patience throws EnvironmentError at once when another holds it:
  // "device cpu 3f2a… is measured by process 812 (kiln tune matmul) since 2026-01-02 03:04:05; wait for it with --wait". With patience `waiting`
  // is called once with that description, then the lock is awaited; a `stop` that answers true ends the wait with the same error.
  DeviceLock(const Digest& device, const std::string& purpose, const std::filesystem::path& folder, bool wait,
             const std::function<void(const std::string&)>& waiting = {}, const std::function<bool()>& stop = {});
  ~DeviceLock();
  DeviceLock(const DeviceLock&) = delete;
  DeviceLock& operator=(const DeviceLock&) = delete;

  static std::filesystem::path default_folder();  // /run/lock where it can be written, else /tmp

 private:
  int fd_ = -1;
};

}  // namespace kiln::autotune
