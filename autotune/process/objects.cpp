#include "autotune/process/objects.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "dsl/digest.h"
#include "dsl/error.h"

namespace kiln::autotune {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const char* what) {
  throw DataError(fmt::format("{} cannot be {}: {}", path.string(), what, std::strerror(errno)));
}

// Two processes, and two threads of one, write aside under different names.
std::filesystem::path aside_of(const std::filesystem::path& path) {
  static std::atomic<unsigned> count{0};
  return path.string() + fmt::format(".{}.{}.tmp", ::getpid(), count++);
}

void write_synced(const std::filesystem::path& path, std::string_view bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) refuse(path, "written");
  bool failed = false;
  while (!bytes.empty() && !failed) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written >= 0)
      bytes.remove_prefix(static_cast<std::size_t>(written));
    else
      failed = errno != EINTR;
  }
  failed = failed || ::fsync(fd) != 0;
  const int reason = errno;
  ::close(fd);
  if (!failed) return;
  ::unlink(path.c_str());
  errno = reason;
  refuse(path, "written");
}

}  // namespace

void write_whole(const std::filesystem::path& path, std::string_view bytes) {
  std::error_code ignored;  // what matters is whether the file can be opened
  std::filesystem::create_directories(path.parent_path(), ignored);
  const std::filesystem::path aside = aside_of(path);
  write_synced(aside, bytes);
  if (::rename(aside.c_str(), path.c_str()) == 0) return;
  const int reason = errno;
  ::unlink(aside.c_str());
  errno = reason;
  refuse(path, "renamed into place");
}

std::string read_whole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, "read");
  std::ostringstream bytes;
  bytes << file.rdbuf();
  if (file.bad()) refuse(path, "read");
  return std::move(bytes).str();
}

bool Objects::has_object(const std::string& hash) const { return std::filesystem::exists(folder_ / "objects" / (hash + ".o")); }

std::string Objects::put(std::string_view bytes, const char* kind, const char* ending) const {
  const std::string hash = content_digest(bytes).hex();
  const std::filesystem::path path = folder_ / kind / (hash + ending);
  if (!std::filesystem::exists(path)) write_whole(path, bytes);
  return hash;
}

std::string Objects::get(const std::string& hash, const char* kind, const char* ending) const {
  const std::filesystem::path path = folder_ / kind / (hash + ending);
  std::string bytes = read_whole(path);
  const std::string found = content_digest(bytes).hex();
  if (found != hash)
    throw DataError(fmt::format("{} is damaged: its bytes have the digest {}; delete it and it is built again", path.string(), found.substr(0, 12)));
  return bytes;
}

}  // namespace kiln::autotune
