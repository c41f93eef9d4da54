// What build systems read: CMake's package files, pkg-config, and the licence. All paths are relative to the file that holds them.
#include <fmt/format.h>

#include "generators/package/embedded.h"
#include "generators/package/emit.h"
#include "generators/runtime/set_numbers.h"

namespace kiln::generators::package {

std::string emit_cmake(const KernelSet& set) {
  return fmt::format(R"(# Kernel set {0} {1}. {0}::{0} is the static library, {0}::shared the shared one; link either, not both.
get_filename_component({0}_PREFIX "${{CMAKE_CURRENT_LIST_DIR}}/../../.." ABSOLUTE)
if(NOT TARGET {0}::{0})
  add_library({0}::{0} STATIC IMPORTED)
  set_target_properties({0}::{0} PROPERTIES
    IMPORTED_LOCATION "${{{0}_PREFIX}}/lib/lib{0}.a"
    IMPORTED_LINK_INTERFACE_LANGUAGES C
    INTERFACE_INCLUDE_DIRECTORIES "${{{0}_PREFIX}}/include"
    INTERFACE_LINK_LIBRARIES "m;pthread;dl")
  add_library({0}::shared SHARED IMPORTED)
  set_target_properties({0}::shared PROPERTIES
    IMPORTED_LOCATION "${{{0}_PREFIX}}/lib/lib{0}.so.{2}"
    IMPORTED_SONAME lib{0}.so.{2}
    INTERFACE_INCLUDE_DIRECTORIES "${{{0}_PREFIX}}/include")
endif()
)",
                     set.name, set.version, static_cast<int>(KILN_SET_ABI));
}

std::string emit_cmake_version(const KernelSet& set) {
  const std::string major = set.version.substr(0, set.version.find('.'));
  return fmt::format(R"(# The same major version, at least the version asked for, 64 bits.
set(PACKAGE_VERSION "{0}")
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION AND (NOT PACKAGE_FIND_VERSION OR PACKAGE_FIND_VERSION_MAJOR EQUAL {1}))
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(CMAKE_SIZEOF_VOID_P AND NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
  set(PACKAGE_VERSION_UNSUITABLE TRUE)
endif()
)",
                     set.version, major);
}

std::string emit_pkgconfig(const KernelSet& set) {
  return fmt::format(R"(prefix=${{pcfiledir}}/../..
libdir=${{prefix}}/lib
includedir=${{prefix}}/include

Name: {0}
Description: kernel set made by Kiln
Version: {1}
Cflags: -I${{includedir}}
Libs: -L${{libdir}} -l{0}
Libs.private: -lm -lpthread -ldl
)",
                     set.name, set.version);
}

std::string license_text() {
  return "This package holds a runtime and generated code of Kiln, and kernels that Halide compiled.\n\n== Kiln\n\n" + embedded_file("LICENSE") +
         "\n== Halide\n\n" + embedded_file("halide.txt");
}

}  // namespace kiln::generators::package
