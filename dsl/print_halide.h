// A schedule as the C++ that Halide's users write: the body of a generator's schedule().
#pragma once

#include <string>

#include "dsl/algorithm.h"
#include "dsl/schedule.h"

namespace kiln {

// Declarations of the new loops, then one chain of calls for each line of the schedule's text. Funcs, inputs and the algorithm's own loops are
// called by their names; where a name is no C++ identifier (`blur#2`, an unnamed reduction's `r#2`), a comment says what it stands for. Of an
// opaque schedule only a comment. The schedule must be legal for the algorithm.
std::string print_halide(const Schedule& schedule, const Algorithm& algorithm);

// How a stage or loop is spelt there: "blur#2" is blur_2; "r.x", a member of an RDom, stays.
std::string halide_identifier(const std::string& name);

}  // namespace kiln
