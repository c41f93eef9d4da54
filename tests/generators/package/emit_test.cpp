// Generated texts against goldens: they are read by people, so a change is to be seen.
#include "generators/package/emit.h"

#include <gtest/gtest.h>

#include "tests/autotune/cli/golden.h"
#include "tests/generators/package/plain_set.h"

namespace kiln::generators::package {
namespace {

KernelSet named_set() {
  KernelSet set = tests::plain_set();
  name_entries(set);
  return set;
}

TEST(emit, the_c_header_is_the_golden) { expect_golden(emit_header(named_set()), "package/plain.h"); }
TEST(emit, the_c_source_is_the_golden) { expect_golden(emit_source(named_set()), "package/plain.c"); }
TEST(emit, the_manifest_source_is_the_golden) { expect_golden(emit_manifest_source(named_set()), "package/plain_manifest.c"); }
TEST(emit, the_cpp_header_is_the_golden) { expect_golden(emit_cpp_header(named_set()), "package/plain.hpp"); }
TEST(emit, the_python_module_is_the_golden) { expect_golden(emit_python(named_set()), "package/plain.py"); }
TEST(emit, the_manifest_is_the_golden) { expect_golden(emit_manifest(named_set()), "package/manifest.json"); }
TEST(emit, the_cmake_package_is_the_golden) { expect_golden(emit_cmake(named_set()), "package/plainConfig.cmake"); }
TEST(emit, the_cmake_version_is_the_golden) { expect_golden(emit_cmake_version(named_set()), "package/plainConfigVersion.cmake"); }
TEST(emit, the_pkgconfig_file_is_the_golden) { expect_golden(emit_pkgconfig(named_set()), "package/plain.pc"); }

// One entry for CPUs, one for GPUs.
KernelSet mixed_set() {
  KernelSet set = tests::plain_set();
  set.name = "mixed";
  set.entries.push_back(tests::gpu_entry());
  name_entries(set);
  check(set);
  return set;
}

TEST(emit, with_gpus_the_c_header_is_the_golden) { expect_golden(emit_header(mixed_set()), "package/mixed.h"); }
TEST(emit, with_gpus_the_c_source_is_the_golden) { expect_golden(emit_source(mixed_set()), "package/mixed.c"); }
TEST(emit, with_gpus_the_cpp_header_is_the_golden) { expect_golden(emit_cpp_header(mixed_set()), "package/mixed.hpp"); }
TEST(emit, with_gpus_the_python_module_is_the_golden) { expect_golden(emit_python(mixed_set()), "package/mixed.py"); }
TEST(emit, with_gpus_the_manifest_is_the_golden) { expect_golden(emit_manifest(mixed_set()), "package/mixed.json"); }
TEST(emit, cubins_are_read_by_the_assembler) { expect_golden(emit_cubins(mixed_set()), "package/cubins.S"); }

TEST(emit, the_licence_names_both_authors) {
  EXPECT_NE(license_text().find("Kiln authors"), std::string::npos);
  EXPECT_NE(license_text().find("The Halide team"), std::string::npos);
}

}  // namespace
}  // namespace kiln::generators::package
