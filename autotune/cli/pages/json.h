// What every page's JSON needs: keys in the order written, and null for what is not known.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace kiln::autotune::cli {

using Json = nlohmann::ordered_json;

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace kiln::autotune::cli
