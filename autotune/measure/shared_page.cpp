#include "autotune/measure/shared_page.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>

#include "dsl/error.h"

namespace kiln::autotune {
namespace {

SharedPage* map(int fd) {
  void* mapped = ::mmap(nullptr, sizeof(SharedPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) throw EnvironmentError(std::string("the page shared with the measuring worker cannot be mapped: ") + std::strerror(errno));
  return static_cast<SharedPage*>(mapped);
}

}  // namespace

std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

SharedPageOwner::SharedPageOwner() : fd_(::memfd_create("kiln-running", MFD_CLOEXEC)) {
  if (fd_ < 0 || ::ftruncate(fd_, sizeof(SharedPage)) != 0) {
    const int reason = errno;
    if (fd_ >= 0) ::close(fd_);
    throw EnvironmentError(std::string("the page shared with the measuring worker cannot be made: ") + std::strerror(reason));
  }
  page_ = map(fd_);
}

SharedPageOwner::~SharedPageOwner() {
  ::munmap(page_, sizeof(SharedPage));
  ::close(fd_);
}

SharedPage& map_shared_page(int fd) { return *map(fd); }

}  // namespace kiln::autotune
