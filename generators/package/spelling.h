// How names of a set are spelled in C, C++, CMake and Python.
#pragma once

#include <string>
#include <string_view>

#include "generators/package/kernel_set.h"

namespace kiln::generators::package {

bool is_identifier(std::string_view text);

// The name of a parameter or local: a reserved word of C, C++ or Python, or a name of the generated code, gets a `_` behind it.
std::string spelled(const std::string& name);

// "NIGHT" for "night".
std::string upper(std::string_view text);

// `matmul_silu` without its prefix is the entry's name in manifest and Python; with it, `night_matmul_silu` is the function.
std::string function_name(const KernelSet& set, const Entry& entry);

// "float", "int8_t", "uint16_t" (for f16 and bf16: their bits).
std::string c_type(DType type);

// What a dimension is called in comments: the symbol that stands there, else `A.1`. Halide's dimension number.
std::string dimension_name(const Entry& entry, const PackageArgument& argument, int dimension);

// "[m, k]": the shape of a DLTensor, outermost first.
std::string shape_text(const Entry& entry, const PackageArgument& argument);

// A text of generated code in which `$$` stands for "NIGHT" and `$` for "night": no language of ours uses the sign.
std::string with_names(const KernelSet& set, std::string text);
std::string replaced(std::string text, const std::string& from, const std::string& to);

// Text between quotes of a C or C++ literal.
std::string c_escaped(std::string_view text);

}  // namespace kiln::generators::package
