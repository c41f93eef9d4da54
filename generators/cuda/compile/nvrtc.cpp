#include "generators/cuda/compile/nvrtc.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <regex>

namespace kiln::generators::cuda::compile {

// As much of nvrtc.h as is used, with declarations of our own. A status is an nvrtcResult.
struct NvrtcLibrary {
  using Program = struct OpaqueProgram*;
  using Size = int (*)(Program, std::size_t*);
  using Read = int (*)(Program, char*);

  std::string path;
  const char* (*status_text)(int status) = nullptr;
  int (*version)(int* major, int* minor) = nullptr;
  int (*create)(Program*, const char* text, const char* name, int headers, const char* const* header_texts, const char* const* header_names) = nullptr;
  int (*compile)(Program, int count, const char* const* options) = nullptr;
  int (*destroy)(Program*) = nullptr;
  Size log_size = nullptr, ptx_size = nullptr, cubin_size = nullptr;
  Read log = nullptr, ptx = nullptr, cubin = nullptr;
};

namespace {

namespace fs = std::filesystem;

// nvrtcResult, the members that are told apart.
constexpr int kSuccess = 0, kOutOfMemory = 1, kCompilation = 6, kInternalError = 11;

constexpr const char* kSoname = "libnvrtc.so.13";
constexpr const char* kBuiltins = "libnvrtc-builtins.so.13.";
constexpr const char* kInWheel = "site-packages/nvidia/cu13/lib/libnvrtc.so.13";
constexpr const char* kCure =
    "\n`.ci/setup.sh` installs it into .venv, from the wheel nvidia-cuda-nvrtc; a CUDA Toolkit 13 has it too, in a folder that LD_LIBRARY_PATH can name";

template <class F>
void find(F& function, void* handle, const char* name, const std::string& place) {
  function = reinterpret_cast<F>(dlsym(handle, name));
  if (function == nullptr) throw NvrtcMissing(place + " is no NVRTC that can be used: it has no " + name + kCure);
}

std::string file_of(void* function, const std::string& place) {
  Dl_info found{};
  return dladdr(function, &found) != 0 && found.dli_fname != nullptr ? found.dli_fname : place;
}

NvrtcLibrary functions_of(void* handle, const std::string& place) {
  NvrtcLibrary library;
  find(library.status_text, handle, "nvrtcGetErrorString", place);
  find(library.version, handle, "nvrtcVersion", place);
  find(library.create, handle, "nvrtcCreateProgram", place);
  find(library.compile, handle, "nvrtcCompileProgram", place);
  find(library.destroy, handle, "nvrtcDestroyProgram", place);
  find(library.log_size, handle, "nvrtcGetProgramLogSize", place);
  find(library.log, handle, "nvrtcGetProgramLog", place);
  find(library.ptx_size, handle, "nvrtcGetPTXSize", place);
  find(library.ptx, handle, "nvrtcGetPTX", place);
  find(library.cubin_size, handle, "nvrtcGetCUBINSize", place);
  find(library.cubin, handle, "nvrtcGetCUBIN", place);
  library.path = file_of(reinterpret_cast<void*>(library.version), place);
  return library;
}

// NVRTC opens its other half by name alone, which finds it in the system's folders and not beside a wheel's library: once it is open, the name is known.
void open_builtins(const fs::path& folder) {
  std::error_code absent;
  for (const fs::directory_entry& file : fs::directory_iterator(folder, absent))
    if (file.path().filename().string().starts_with(kBuiltins)) dlopen(file.path().c_str(), RTLD_NOW | RTLD_LOCAL);  // one that fails is missed by NVRTC, in its words
}

std::shared_ptr<const NvrtcLibrary> load(const std::vector<std::string>& places) {
  std::string failures;
  for (const std::string& place : places) {
    if (void* const handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      auto library = std::make_shared<const NvrtcLibrary>(functions_of(handle, place));
      open_builtins(fs::path(library->path).parent_path());
      return library;
    }
    failures += "\n  " + std::string(dlerror());
  }
  throw NvrtcMissing("NVRTC, which compiles kernels for GPUs, is not here; looked for" + failures + kCure);
}

std::vector<const char*> pointers(const std::vector<std::string>& strings) {
  std::vector<const char*> result;
  for (const std::string& string : strings) result.push_back(string.c_str());
  return result;
}

class Program {
 public:
  Program(const NvrtcLibrary& library, const std::string& text, const std::string& name, const std::vector<PreludeFile>& headers) : library_(library) {
    std::vector<std::string> names, texts;  // the views need not end in a zero
    for (const PreludeFile& file : headers) {
      names.emplace_back(file.name);
      texts.emplace_back(file.text);
    }
    const int status = library.create(&program_, text.c_str(), name.c_str(), static_cast<int>(headers.size()), pointers(texts).data(), pointers(names).data());
    if (status != kSuccess) throw EnvironmentError(library.path + " takes no text: " + library.status_text(status));
  }
  ~Program() { library_.destroy(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  int compile(const std::vector<std::string>& options) const {
    return library_.compile(program_, static_cast<int>(options.size()), pointers(options).data());
  }
  std::string log() const { return words(library_.log_size, library_.log); }
  std::string ptx() const { return words(library_.ptx_size, library_.ptx); }
  std::string cubin() const { return bytes(library_.cubin_size, library_.cubin); }

 private:
  std::string bytes(NvrtcLibrary::Size size_of, NvrtcLibrary::Read read) const {
    std::size_t size = 0;
    if (size_of(program_, &size) != kSuccess) return {};
    std::string result(size, '\0');
    return read(program_, result.data()) == kSuccess ? result : std::string();
  }
  std::string words(NvrtcLibrary::Size size_of, NvrtcLibrary::Read read) const {
    std::string text = bytes(size_of, read);
    return text.substr(0, text.find('\0'));
  }

  const NvrtcLibrary& library_;
  NvrtcLibrary::Program program_ = nullptr;
};

}  // namespace

std::vector<std::string> nvrtc_places() {
  const fs::path lib = fs::path(KILN_VENV) / "lib";
  std::vector<std::string> places;
  std::error_code absent;
  for (const fs::directory_entry& python : fs::directory_iterator(lib, absent)) {
    const fs::path file = python.path() / kInWheel;
    if (python.path().filename().string().starts_with("python3") && fs::exists(file, absent)) places.push_back(file.string());
  }
  if (places.empty()) places.push_back((lib / "python3*" / kInWheel).string());  // for the message: no file has this name
  std::sort(places.begin(), places.end());
  places.insert(places.begin(), kSoname);
  return places;
}

Nvrtc::Nvrtc(const std::vector<std::string>& places) : library_(load(places)) {}

const std::string& Nvrtc::path() const { return library_->path; }

// The head of the PTX holds "Cuda compilation tools, release 13.0, V13.0.88"; nvrtcVersion knows 13 and 0.
std::string Nvrtc::version() const {
  static const std::regex kRelease(R"(release [\d.]+, V([\d.]*\d))");
  const Program nothing(*library_, "", "nothing.cu", {});
  std::smatch release;
  const std::string ptx = nothing.compile({"--gpu-architecture=compute_90"}) == kSuccess ? nothing.ptx() : "";
  if (std::regex_search(ptx, release, kRelease)) return release.str(1);
  int major = 0, minor = 0;
  library_->version(&major, &minor);
  return std::to_string(major) + "." + std::to_string(minor);
}

Translation Nvrtc::translate(const std::string& text, const std::string& name, const std::vector<PreludeFile>& headers,
                             const std::vector<std::string>& options) const {
  const Program program(*library_, text, name, headers);
  const int status = program.compile(options);
  const std::string log = program.log(), words = library_->status_text(status) + std::string(log.empty() ? "" : "\n") + log;
  if (status == kSuccess) return {Translation::Ending::done, program.cubin(), log};
  if (status == kCompilation) return {Translation::Ending::refused, {}, log};
  if (status == kInternalError || status == kOutOfMemory) return {Translation::Ending::crashed, {}, words};
  throw EnvironmentError(library_->path + " cannot compile: " + words);
}

}  // namespace kiln::generators::cuda::compile
