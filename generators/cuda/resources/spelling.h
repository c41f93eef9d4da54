// How numbers stand in the texts of these formulas, and the rejections that are made of them.
#pragma once

#include <cstdint>
#include <string>

#include "generators/rejection.h"

namespace kiln::generators::cuda::resources {

// "232,448".
std::string grouped(std::int64_t number);

// More was asked for than is allowed.
Rejection beyond(Reason reason, std::int64_t asked, std::int64_t allowed, std::string text);

// The numbers are both at least 0, `step` above 0.
constexpr std::int64_t divided_up(std::int64_t number, std::int64_t step) { return (number + step - 1) / step; }
constexpr std::int64_t rounded_up(std::int64_t number, std::int64_t step) { return divided_up(number, step) * step; }
constexpr std::int64_t rounded_down(std::int64_t number, std::int64_t step) { return number / step * step; }

}  // namespace kiln::generators::cuda::resources
