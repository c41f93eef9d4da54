// The text files of a package, each a pure function of the set. One table of codes, entries and arguments stands behind all of them.
#pragma once

#include <string>

#include "generators/package/kernel_set.h"

namespace kiln::generators::package {

std::string emit_header(const KernelSet& set);         // include/set.h
std::string emit_cpp_header(const KernelSet& set);     // include/set.hpp
std::string emit_python(const KernelSet& set);         // python/set.py
std::string emit_manifest(const KernelSet& set);       // share/set/manifest.json
std::string emit_cmake(const KernelSet& set);          // lib/cmake/set/setConfig.cmake
std::string emit_cmake_version(const KernelSet& set);  // lib/cmake/set/setConfigVersion.cmake
std::string emit_pkgconfig(const KernelSet& set);      // lib/pkgconfig/set.pc
std::string license_text();                            // LICENSE

// The C sources of the library, beside the runtime's own.
std::string emit_source(const KernelSet& set);          // tables, and the functions of the header
std::string emit_manifest_source(const KernelSet& set); // the manifest inside the library

// Objects of the set, each once in order of first use, and which of them a variant calls: kernel_<index>. A GPU's is of one entry, whose arguments its
// launches name.
struct KernelObject {
  const Entry* entry = nullptr;
  const Variant* variant = nullptr;  // the first that calls it
};
std::vector<KernelObject> distinct_objects(const KernelSet& set);
std::size_t object_index(const std::vector<KernelObject>& objects, const Entry& entry, const Variant& variant);

// Assembly that holds the cubins, each as kernel_<index>_cubin; empty for a set of CPUs alone. It reads the files kernel_<index>.cubin beside it.
std::string emit_cubins(const KernelSet& set);

// Declarations that the header and the source share: `int night_matmul_run(const night_plan* plan, const void* A, float alpha, void* C)`.
std::string plan_signature(const KernelSet& set, const Entry& entry);
std::string run_signature(const KernelSet& set, const Entry& entry);
std::string call_signature(const KernelSet& set, const Entry& entry);

}  // namespace kiln::generators::package
