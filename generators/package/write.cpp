#include "generators/package/write.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>
#include <utility>

#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <unistd.h>

#include "dsl/error.h"
#include "generators/package/embedded.h"
#include "generators/package/emit.h"
#include "generators/package/toolchain.h"
#include "generators/runtime/set_numbers.h"

namespace kiln::generators::package {

namespace {

namespace fs = std::filesystem;

std::string soname(const std::string& name) { return "lib" + name + ".so." + std::to_string(static_cast<int>(KILN_SET_ABI)); }

// Every file of a package depends on its name alone: what else lies in the target is not ours to replace.
std::set<fs::path> package_files(const std::string& name) {
  return {"LICENSE",
          "include/" + name + ".h",
          "include/" + name + ".hpp",
          "lib/lib" + name + ".a",
          "lib/lib" + name + ".so",
          "lib/" + soname(name),
          "lib/cmake/" + name + "/" + name + "Config.cmake",
          "lib/cmake/" + name + "/" + name + "ConfigVersion.cmake",
          "lib/pkgconfig/" + name + ".pc",
          "python/" + name + ".py",
          "share/" + name + "/manifest.json"};
}

void check_replaceable(const fs::path& target, const std::string& name) {
  if (!fs::exists(fs::symlink_status(target))) return;
  if (!fs::is_directory(target)) throw UsageError(target.string() + " is no folder; a package needs one for itself");
  const std::set<fs::path> ours = package_files(name);
  for (const auto& file : fs::recursive_directory_iterator(target)) {
    const fs::path path = file.path().lexically_relative(target);
    const bool is_cache = path.parent_path() == "python/__pycache__";
    if ((file.is_directory() && !file.is_symlink()) || is_cache || ours.contains(path)) continue;
    throw UsageError(target.string() + " holds " + path.string() + ", which is no file of package " + name + "; give -o a folder of its own");
  }
}

void write_file(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) throw DataError("could not write " + path.string() + ": " + std::strerror(errno));
}

void write_texts(const KernelSet& set, const fs::path& folder) {
  const std::string& name = set.name;
  write_file(folder / "LICENSE", license_text());
  write_file(folder / "include" / (name + ".h"), emit_header(set));
  write_file(folder / "include" / (name + ".hpp"), emit_cpp_header(set));
  write_file(folder / "lib/cmake" / name / (name + "Config.cmake"), emit_cmake(set));
  write_file(folder / "lib/cmake" / name / (name + "ConfigVersion.cmake"), emit_cmake_version(set));
  write_file(folder / "lib/pkgconfig" / (name + ".pc"), emit_pkgconfig(set));
  write_file(folder / "python" / (name + ".py"), emit_python(set));
  write_file(folder / "share" / name / "manifest.json", emit_manifest(set));
}

// The set's own sources and the runtime's, compiled by relative names so that the folder leaves no trace in the bytes.
std::vector<std::string> compile_sources(const KernelSet& set, const fs::path& build) {
  std::vector<std::string> sources = {set.name + ".c", set.name + "_manifest.c"}, objects;
  write_file(build / (set.name + ".h"), emit_header(set));
  write_file(build / sources[0], emit_source(set));
  write_file(build / sources[1], emit_manifest_source(set));
  for (const EmbeddedFile& file : embedded_files()) {
    if (!file.name.ends_with(".c") && !file.name.ends_with(".h")) continue;
    const std::string path = "generators/runtime/" + std::string(file.name);
    write_file(build / path, file.text);
    if (path.ends_with(".c") && (is_for_gpu(set) || path.find("/set_cuda") == std::string::npos)) sources.push_back(path);
  }
  for (const std::string& source : sources) {
    objects.push_back(source.substr(0, source.size() - 1) + "o");
    run_tool({"cc", "-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", "-fno-stack-protector", "-U_FORTIFY_SOURCE", "-Wall", "-Wextra", "-I.", "-c", source, "-o", objects.back()}, build);
  }
  return objects;
}

// The very bytes that were timed; only the name of the function changes, and no other name leaves the object.
std::vector<std::string> name_kernels(const KernelSet& set, const fs::path& build) {
  std::vector<std::string> names;
  const std::vector<KernelObject> objects = distinct_objects(set);
  for (std::size_t k = 0; k < objects.size(); ++k) {
    const std::string name = "kernel_" + std::to_string(k);
    const Variant& variant = *objects[k].variant;
    if (variant.launches) {
      write_file(build / (name + ".cubin"), variant.object);
      continue;
    }
    write_file(build / (name + ".timed.o"), variant.object);
    run_tool({"objcopy", "--redefine-sym", variant.symbol + "=" + name, "--keep-global-symbol=" + name, name + ".timed.o", name + ".o"}, build);
    names.push_back(name + ".o");
  }
  if (const std::string cubins = emit_cubins(set); !cubins.empty()) {
    write_file(build / "cubins.S", cubins);
    run_tool({"cc", "-c", "cubins.S", "-o", "cubins.o"}, build);
    names.push_back("cubins.o");
  }
  return names;
}

// One relocatable object whose only global names are the set's: two sets in one program share nothing.
void link(const KernelSet& set, const std::vector<std::string>& objects, const fs::path& build) {
  std::vector<std::string> join = {"ld", "-r", "-z", "noexecstack", "-o", "joined.o"};
  join.insert(join.end(), objects.begin(), objects.end());
  run_tool(join, build);
  const std::string object = set.name + "_set.o";
  run_tool({"objcopy", "--wildcard", "--keep-global-symbol=" + set.name + "_*", "--strip-unneeded", "joined.o", object}, build);
  run_tool({"ar", "rcsD", "lib" + set.name + ".a", object}, build);
  run_tool({"cc", "-shared", "-o", soname(set.name), "-Wl,-soname," + soname(set.name), "-Wl,-z,defs", "-Wl,-z,noexecstack", "-Wl,--build-id=none", object, "-lm",
            "-lpthread", "-ldl"},
           build);
}

void build_libraries(const KernelSet& set, const fs::path& folder) {
  const fs::path build = folder / "build", lib = folder / "lib";
  fs::create_directories(build);
  std::vector<std::string> objects = compile_sources(set, build);
  for (const std::string& kernel : name_kernels(set, build)) objects.push_back(kernel);
  link(set, objects, build);
  fs::rename(build / ("lib" + set.name + ".a"), lib / ("lib" + set.name + ".a"));
  fs::rename(build / soname(set.name), lib / soname(set.name));
  fs::create_symlink(soname(set.name), lib / ("lib" + set.name + ".so"));
  fs::remove_all(build);
}

fs::path make_staging(const fs::path& target) {
  const fs::path parent = target.parent_path();
  if (!parent.empty()) fs::create_directories(parent);
  std::string name = target.string() + ".XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw DataError("could not make a folder beside " + target.string() + ": " + std::strerror(errno));
  fs::permissions(name, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read | fs::perms::others_exec);
  return name;
}

}  // namespace

StagedPackage::StagedPackage(fs::path staging, fs::path target, std::string name) : staging_(std::move(staging)), target_(std::move(target)), name_(std::move(name)) {}

StagedPackage::StagedPackage(StagedPackage&& other) noexcept
    : staging_(std::exchange(other.staging_, {})), target_(std::move(other.target_)), name_(std::move(other.name_)) {}

StagedPackage::~StagedPackage() {
  std::error_code ignored;  // a folder that cannot be removed is left, under a name that says what it is
  if (!staging_.empty()) fs::remove_all(staging_, ignored);
}

fs::path StagedPackage::library() const { return staging_ / "lib" / soname(name_); }

void StagedPackage::publish() {
  check_replaceable(target_, name_);
  if (renameat2(AT_FDCWD, staging_.c_str(), AT_FDCWD, target_.c_str(), RENAME_NOREPLACE) == 0) {
    staging_.clear();
    return;
  }
  // The target exists: the two change places, and what is now in the staging folder is the old package.
  if (errno != EEXIST || renameat2(AT_FDCWD, staging_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) != 0) {
    throw DataError("could not put the package at " + target_.string() + ": " + std::strerror(errno));
  }
  fs::remove_all(std::exchange(staging_, {}));
}

StagedPackage stage(const KernelSet& given, const fs::path& target) {
  KernelSet set = given;
  name_entries(set);
  check(set);
  require_tools();
  const fs::path place = fs::absolute(target).lexically_normal();
  const fs::path folder = place.has_filename() ? place : place.parent_path();
  check_replaceable(folder, set.name);
  StagedPackage staged(make_staging(folder), folder, set.name);
  const fs::path staging = staged.library().parent_path().parent_path();
  write_texts(set, staging);
  build_libraries(set, staging);
  return staged;
}

void write(const KernelSet& set, const fs::path& target) { stage(set, target).publish(); }

}  // namespace kiln::generators::package
