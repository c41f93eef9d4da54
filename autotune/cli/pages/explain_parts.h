// What the pages of `kiln explain` say of any candidate, on whatever device.
#pragma once

#include <optional>
#include <string>

#include "autotune/cli/pages/json.h"
#include "autotune/explain.h"
#include "generators/rejection.h"

namespace kiln::autotune::cli {

// Problem, candidate, device, schedule.
std::string print_head(const ExplainSubject& subject, const Device& device);
std::string print_rejection(const generators::Rejection& rejection);
std::string print_known(const KnownTime& known);

// {operator, problem, candidate, schedule, device}
Json head_json(const ExplainSubject& subject, const Device& device);
Json rejection_json(const std::optional<generators::Rejection>& rejection);
Json known_json(const std::optional<KnownTime>& known);

}  // namespace kiln::autotune::cli
