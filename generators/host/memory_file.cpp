// memfd_create and its path under /proc.
#include "generators/host/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "dsl/error.h"

namespace kiln::generators::host {

MemoryFile::MemoryFile(const char* name) : descriptor_(memfd_create(name, MFD_CLOEXEC)) {
  if (descriptor_ < 0) throw EnvironmentError(std::string("cannot make a file in memory: ") + std::strerror(errno));
}

MemoryFile::~MemoryFile() { close(descriptor_); }

std::string MemoryFile::path() const { return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(descriptor_); }

void MemoryFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw EnvironmentError("cannot write " + std::to_string(bytes.size()) + " bytes to a file in memory: " + std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string MemoryFile::contents() const {
  const off_t size = lseek(descriptor_, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(size > 0 ? size : 0), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = pread(descriptor_, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw EnvironmentError(std::string("cannot read a file in memory: ") + std::strerror(errno));
    done += static_cast<std::size_t>(count);
  }
  return text;
}

}  // namespace kiln::generators::host
