// Running pipelines in tests: the same inputs for a generator's own pipeline and for what was rebuilt from it.
#pragma once

#include <Halide.h>

#include <map>
#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/rebuild.h"

namespace kiln::tests {

// Strict floats, so that equal algorithms give equal bits under any schedule that keeps the order of sums. By CPUID, never Halide's "host".
std::string test_target();

std::string plugin(const std::string& name);  // its path

// The generator as `halide` would build it, author's schedule included.
Pipeline original(const std::string& generator, const std::map<std::string, std::string>& params);

// Runs with inputs that depend on names and positions alone: inputs 64x64x3x3, outputs 48x48x3, as far as they have dimensions; scalars 0.75 or 2.
std::vector<Halide::Buffer<>> run(const Pipeline& pipeline, const Algorithm& algorithm);

// Reads the stages of a rebuilt pipeline under the names that it was given.
std::vector<Stage> stages_of(const Pipeline& pipeline);

// What Halide lowers it to, without names and with its lines sorted: programs that differ in names and in the order of what is independent are equal.
std::string program_of(Pipeline& pipeline);

std::string bytes_of(const std::vector<Halide::Buffer<>>& outputs);

// This test program again, running only `test`, which is disabled otherwise; `setting` reaches it through the environment variable KILN_TEST.
int spawn_self(const std::string& test, const std::string& setting);

}  // namespace kiln::tests
