// The GPUs that the tables are for.
#pragma once

#include <optional>
#include <string>

#include "generators/rejection.h"
#include "schedules/devices.h"

namespace kiln::generators::cuda::resources {

inline const Gpu& gpu_named(const std::string& name) { return *schedules::device_named(name).gpu; }

// "over_shared 279632 > 232448: the text"; "legal" when there is no rejection.
inline std::string said(const std::optional<Rejection>& rejection) {
  if (!rejection) return "legal";
  const auto number = [](const std::optional<double>& value) { return value ? std::to_string(static_cast<long long>(*value)) : std::string("-"); };
  return std::string(print(rejection->reason)) + " " + number(rejection->asked) + " > " + number(rejection->allowed) + ": " + rejection->text;
}

}  // namespace kiln::generators::cuda::resources
