// The values that cross between supervisor and workers, as JSON. Both ends are the same program, so a field that is missing is a bug of ours or a
// worker gone mad: reading throws, and the client treats the worker as broken.
#pragma once

#include <optional>
#include <string>

#include "autotune/process/channel.h"
#include "autotune/process/objects.h"
#include "dsl/problem.h"
#include "generators/build.h"

namespace kiln::autotune {

// JSON has no infinities and no NaN: those three travel as words.
Json number(double value);
double number_from(const Json& json);

Json to_json(const Problem& problem);
Problem problem_from_json(const Json& json);

Json to_json(const ObjectRef& object);
ObjectRef object_from_json(const Json& json);

Json to_json(const std::optional<generators::Rejection>& rejection);  // null for none
std::optional<generators::Rejection> rejection_from_json(const Json& json);

// Everything but the artifact, which travels as a file.
Json to_json(const generators::Build& build);
generators::Build build_from_json(const Json& json);

// An exception of dsl/error.h by its class, and back: `throw_error` throws the same class with the same text.
Json error_to_json(const std::exception& error);
[[noreturn]] void throw_error(const Json& json);

}  // namespace kiln::autotune
