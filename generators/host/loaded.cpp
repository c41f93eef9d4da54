// `ld -shared` from one memory file into another, then dlopen of that: nothing touches a disk and nothing is left behind.
#include "generators/host/loaded.h"

#include <dlfcn.h>
#include <elf.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "dsl/error.h"
#include "generators/host/memory_file.h"

extern char** environ;

namespace kiln::generators::host {
namespace {

std::string system_words(int error) { return std::strerror(error); }

class SpawnActions {
 public:
  SpawnActions() { posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

void link(const MemoryFile& object, const MemoryFile& library) {
  const MemoryFile words("kiln-ld-output");
  SpawnActions actions;
  posix_spawn_file_actions_adddup2(actions.get(), words.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(actions.get(), words.descriptor(), STDERR_FILENO);
  const std::string from = object.path(), to = library.path();
  const char* const argv[] = {"ld", "-shared", "-o", to.c_str(), from.c_str(), nullptr};
  pid_t child = 0;
  const int error = posix_spawnp(&child, "ld", actions.get(), nullptr, const_cast<char* const*>(argv), environ);
  if (error == ENOENT) throw EnvironmentError("the linker `ld` is not on PATH; it loads every build: apt-get install binutils");
  if (error != 0) throw EnvironmentError("the linker `ld` cannot be started: " + system_words(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw EnvironmentError("the linker `ld` was lost: " + system_words(errno));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw Error("`ld -shared` refused a build:\n" + words.contents());
}

void link(const std::string& bytes, const MemoryFile& library) {
  MemoryFile object("kiln-object");
  object.write(bytes);
  link(object, library);
}

bool is_library(const std::string& bytes) {
  Elf64_Ehdr header{};
  if (bytes.size() < sizeof header) return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_type == ET_DYN;
}

}  // namespace

Artifact linked(const Artifact& object) {
  const MemoryFile library("kiln-build");
  link(object.bytes, library);
  Artifact artifact = object;
  artifact.bytes = library.contents();
  return artifact;
}

Loaded::Loaded(const Artifact& artifact) {
  auto library = std::make_unique<MemoryFile>("kiln-build");
  if (is_library(artifact.bytes)) library->write(artifact.bytes);
  else link(artifact.bytes, *library);
  void* opened = dlopen(library->path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) throw Error(std::string("a build cannot be loaded: ") + dlerror());
  // The file stays open as long as the library: dlopen knows libraries by path, and a reused descriptor would give the old one back.
  library_ = std::shared_ptr<void>(opened, [file = std::shared_ptr<MemoryFile>(std::move(library))](void* loaded) { dlclose(loaded); });
  function_ = reinterpret_cast<int (*)(void**)>(dlsym(opened, artifact.symbol.c_str()));
  if (function_ == nullptr) throw Error("a build has no function " + artifact.symbol + ": " + dlerror());
}

}  // namespace kiln::generators::host
