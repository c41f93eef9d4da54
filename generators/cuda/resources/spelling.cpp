#include "generators/cuda/resources/spelling.h"

#include <utility>

namespace kiln::generators::cuda::resources {

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

Rejection beyond(Reason reason, std::int64_t asked, std::int64_t allowed, std::string text) {
  return {.reason = reason, .asked = static_cast<double>(asked), .allowed = static_cast<double>(allowed), .text = std::move(text)};
}

}  // namespace kiln::generators::cuda::resources
