// Tests in a process apart, because a kernel that never ends, or that breaks the device's context, can only be left by ending the process.
#pragma once

#include <string>
#include <vector>

namespace kiln::gpu {

// Runs the tests of this program in a process of its own. A test that ends it has failed, and costs no others but those of the same parameter, which are not
// run: the rest goes on in a new one. Call it after InitGoogleTest and before anything of CUDA, which does not outlive a fork, or any thread is there. The exit
// code.
int run_all_apart();

// What a filter of googletest leaves when these patterns are taken out.
std::string without(const std::string& filter, const std::vector<std::string>& patterns);

// All tests of a test's parameter, itself among them: "*/x" for All/A.b/x; a test without one: itself.
std::string pattern_of_parameter(const std::string& test);

}  // namespace kiln::gpu
