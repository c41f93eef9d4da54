#include "autotune/worker/roles.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <cstdio>
#include <string>

namespace kiln::autotune {
namespace {

constexpr int kSocket = 3, kPage = 4;

// What a role starts itself (the linker) must not inherit the socket: it would stay open after the worker's death.
void keep_to_this_process(int fd) {
  const int flags = ::fcntl(fd, F_GETFD);
  if (flags >= 0) ::fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
}

bool is_socket(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
}

}  // namespace

std::optional<int> run_role_of(const Roles& roles, int argc, char** argv) {
  constexpr std::string_view kFlag = "--role=";
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (!word.starts_with(kFlag)) return std::nullopt;
  const auto role = roles.find(word.substr(kFlag.size()));
  if (role == roles.end() || !is_socket(kSocket)) {
    std::fputs("--role is how the program starts its own workers; it is of no use by hand\n", stderr);
    return 2;
  }
  ::prctl(PR_SET_NAME, ("kiln-" + std::string(role->first)).c_str());
  keep_to_this_process(kSocket);
  keep_to_this_process(kPage);
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // the last words before a crash are worth their system calls
  Channel channel(kSocket);
  return role->second(channel);
}

}  // namespace kiln::autotune
