#include "autotune/process/device_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <thread>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "dsl/error.h"

namespace kiln::autotune {
namespace {

constexpr auto kRetry = std::chrono::milliseconds(100);

// An existing file is opened without O_CREAT: in a sticky folder the kernel refuses O_CREAT on another user's file.
int open_lock(const std::filesystem::path& path) {
  int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) {
    fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd >= 0) ::fchmod(fd, 0666);  // whatever the umask: every user of the machine shares the device
  }
  if (fd < 0) throw EnvironmentError(fmt::format("the lock file {} cannot be opened: {}", path.string(), std::strerror(errno)));
  return fd;
}

std::string holder_of(int fd) {
  char text[512];
  const ssize_t got = ::pread(fd, text, sizeof text, 0);
  return got > 0 ? std::string(text, static_cast<std::size_t>(got)) : "another process";
}

void write_holder(int fd, const std::string& purpose) {
  const std::time_t now = std::time(nullptr);
  const std::string text = fmt::format("process {} ({}) since {:%Y-%m-%d %H:%M:%S}", ::getpid(), purpose, fmt::localtime(now));
  [[maybe_unused]] const int cut = ::ftruncate(fd, 0);
  [[maybe_unused]] const ssize_t written = ::pwrite(fd, text.data(), text.size(), 0);
}

}  // namespace

std::filesystem::path DeviceLock::default_folder() { return ::access("/run/lock", W_OK) == 0 ? "/run/lock" : "/tmp"; }

DeviceLock::DeviceLock(const Digest& device, const std::string& purpose, const std::filesystem::path& folder, bool wait,
                       const std::function<void(const std::string&)>& waiting, const std::function<bool()>& stop)
    : fd_(open_lock(folder / fmt::format("kiln-device-{}.lock", device.short_hex()))) {
  bool told = false;
  while (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    const std::string held = fmt::format("device {} is measured by {}", device.short_hex(), holder_of(fd_));
    if (reason != EWOULDBLOCK && reason != EINTR) {
      ::close(fd_);
      throw EnvironmentError(fmt::format("device {} cannot be locked: {}", device.short_hex(), std::strerror(reason)));
    }
    if (!wait || (stop && stop())) {
      ::close(fd_);
      throw EnvironmentError(held + "; wait for it with --wait");
    }
    if (!told && waiting) waiting(held);
    told = true;
    std::this_thread::sleep_for(kRetry);
  }
  write_holder(fd_, purpose);
}

// The text stays in the file: it is only read while someone holds the lock, and every holder writes its own.
DeviceLock::~DeviceLock() { ::close(fd_); }

}  // namespace kiln::autotune
