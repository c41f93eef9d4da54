// Canonical names: from Halide's, which differ from instance to instance, to ones that depend on the pipeline's structure and its author's
// words alone. Reading and rebuilding agree through this file.
#pragma once

#include <Halide.h>

#include <map>
#include <string>
#include <vector>

namespace kiln {

// The functions that the outputs need, each once, producers before consumers, in order of first use: Halide's own order follows names.
std::vector<Halide::Internal::Function> functions_of(const Halide::Pipeline& pipeline);

// Halide's unique_name(char) gives one letter and a counter; a user's own name of that form gets a `$n` instead, so the two cannot be confused.
bool is_made_up(const std::string& name);

// The input that this function does nothing but load, or null. Halide calls such a wrapper `<input>_im`.
const Halide::Internal::Call* wrapped_input(const Halide::Internal::Function& function);

struct StageNames {
  std::string stage;                                            // "blur#2", "A.in"
  std::map<std::string, std::string> loops;                     // Halide's name of a pure loop -> ours
  std::vector<std::map<std::string, std::string>> reductions;   // one map an update: "r12$x" -> "r.x"
};

// By Halide's name of the function.
using Names = std::map<std::string, StageNames>;

// `functions` in the order of functions_of, which decides who is `blur` and who is `blur#2`.
Names canonical_names(const std::vector<Halide::Internal::Function>& functions);

}  // namespace kiln
