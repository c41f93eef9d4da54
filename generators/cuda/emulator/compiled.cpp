#include "generators/cuda/emulator/compiled.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

extern char** environ;

namespace kiln::generators::cuda::emulator {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "kiln_emulator_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder can be made: " + std::string(std::strerror(errno)));
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, std::string_view text) const {
    const fs::path path = path_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream out(path, std::ios::binary);
    out << text;
    if (!out.flush()) throw std::runtime_error("cannot write " + path.string() + ": " + std::strerror(errno));
  }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path_ / name, std::ios::binary).rdbuf();
    return text.str();
  }

 private:
  fs::path path_;
};

pid_t spawn(std::vector<std::string> command, const std::string& log) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  std::vector<char*> argv;
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw CompilerMissing("the C++ compiler `" + command[0] + "`, which the emulator compiles kernels with, cannot be started (" + std::strerror(error) +
                          "): apt-get install g++");
  return child;
}

void run_compiler(const std::vector<std::string>& command, const Folder& folder) {
  const pid_t child = spawn(command, folder.file("log"));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::runtime_error("the compiler was lost: " + std::string(std::strerror(errno)));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error("`" + command[0] + "` refused a kernel's text:\n" + folder.read("log"));
}

// -fsanitize=thread only makes the compiler report plain loads and stores: the second command does not link the sanitizer. Faults are thrown through the
// kernel's frames; without exceptions these have no handlers that would stop one which the compiler does not expect, as from a load.
void build(const std::string& compiler, const Folder& folder) {
  run_compiler({compiler, "-std=c++20", "-O1", "-fPIC", "-fsanitize=thread", "-fno-exceptions", "-fasynchronous-unwind-tables", "-ftrivial-auto-var-init=pattern", "-w",
                "-Wno-psabi", "-I" + folder.file("device"), "-include", "language.cuh", "-c", folder.file("entry.cpp"), "-o", folder.file("kernel.o")},
               folder);
  run_compiler({compiler, "-shared", "-nostdlib", folder.file("kernel.o"), "-o", folder.file("kernel.so")}, folder);
}

}  // namespace

// The text lies in another folder than the prelude: a quoted include looks beside its includer first.
Compiled::Compiled(const std::string& text, const std::string& kernel, const std::string& compiler) {
  const Folder folder;
  for (const PreludeFile& file : prelude_files()) folder.write("device/" + std::string(file.name), file.text);
  folder.write("kernel.cu", text);
  folder.write("entry.cpp", "#include \"kernel.cu\"\nKILN_ENTRY(" + kernel + ")\n");
  build(compiler, folder);
  void* const opened = dlopen(folder.file("kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) throw std::runtime_error("a compiled kernel cannot be loaded: " + std::string(dlerror()));
  library_ = std::shared_ptr<void>(opened, [](void* library) { dlclose(library); });
  entry_ = reinterpret_cast<Entry>(dlsym(opened, "kiln_entry"));
}

}  // namespace kiln::generators::cuda::emulator
