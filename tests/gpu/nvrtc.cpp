#include "nvrtc.h"

#include <dlfcn.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "missing.h"

namespace kiln::gpu {
namespace {

struct Nvrtc {
  using Program = struct NvrtcProgram*;
  int (*create)(Program*, const char* text, const char* name, int headers, const char* const* texts, const char* const* names);
  int (*compile)(Program, int options, const char* const* option);
  int (*log_size)(Program, std::size_t*);
  int (*log)(Program, char*);
  int (*cubin_size)(Program, std::size_t*);
  int (*cubin)(Program, char*);
  int (*destroy)(Program*);
};

Nvrtc opened() {
  void* library = nullptr;
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
    if (library == nullptr) library = dlopen(name, RTLD_NOW);
  if (library == nullptr) throw Missing("no NVRTC: " + std::string(dlerror()));
  Nvrtc n{};
  const auto find = [&](auto& f, const char* name) {
    f = reinterpret_cast<std::remove_reference_t<decltype(f)>>(dlsym(library, name));
    if (f == nullptr) throw Missing(std::string("NVRTC has no ") + name);
  };
  find(n.create, "nvrtcCreateProgram");
  find(n.compile, "nvrtcCompileProgram");
  find(n.log_size, "nvrtcGetProgramLogSize");
  find(n.log, "nvrtcGetProgramLog");
  find(n.cubin_size, "nvrtcGetCUBINSize");
  find(n.cubin, "nvrtcGetCUBIN");
  find(n.destroy, "nvrtcDestroyProgram");
  return n;
}

struct Headers {
  std::vector<std::string> names, texts;
  Headers() {
    for (const auto& file : std::filesystem::directory_iterator(std::string(KILN_TESTS_DIR) + "/../generators/cuda/device")) {
      std::ostringstream text;
      text << std::ifstream(file.path()).rdbuf();
      names.push_back(file.path().filename().string());
      texts.push_back(text.str());
    }
  }
};

std::vector<const char*> pointers(const std::vector<std::string>& strings) {
  std::vector<const char*> result;
  for (const std::string& s : strings) result.push_back(s.c_str());
  return result;
}

}  // namespace

std::string cubin_of(const std::string& text, const std::string& name) {
  static const Nvrtc nvrtc = opened();
  static const Headers headers;
  static std::map<std::string, std::string> compiled;  // by text
  if (const auto found = compiled.find(text); found != compiled.end()) return found->second;
  const auto names = pointers(headers.names), texts = pointers(headers.texts);
  Nvrtc::Program program = nullptr;
  if (nvrtc.create(&program, text.c_str(), name.c_str(), static_cast<int>(names.size()), texts.data(), names.data()) != 0) throw std::runtime_error("nvrtcCreateProgram failed");
  const char* options[] = {"-arch=sm_90a", "-std=c++20"};
  const int status = nvrtc.compile(program, 2, options);
  std::size_t bytes = 0;
  nvrtc.log_size(program, &bytes);
  std::string log(bytes, '\0');
  nvrtc.log(program, log.data());
  std::string cubin;
  if (status == 0) {
    nvrtc.cubin_size(program, &bytes);
    cubin.resize(bytes);
    nvrtc.cubin(program, cubin.data());
  }
  nvrtc.destroy(&program);
  if (status != 0 || log.find("C75") != std::string::npos) throw std::runtime_error("NVRTC about " + name + ":\n" + log);
  return compiled[text] = cubin;
}

}  // namespace kiln::gpu
