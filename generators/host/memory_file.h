// A file without a name or a disk, for programs and libraries that insist on paths: Halide writes objects there, the linker reads and writes it.
#pragma once

#include <string>
#include <string_view>

namespace kiln::generators::host {

class MemoryFile {
 public:
  explicit MemoryFile(const char* name);  // the name shows in /proc only. Throws EnvironmentError
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return descriptor_; }
  std::string path() const;  // of this process's descriptor: other programs may open it while this process lives
  void write(std::string_view bytes);
  std::string contents() const;

 private:
  int descriptor_;
};

}  // namespace kiln::generators::host
