// What a store has chosen for an algorithm of some structure: the exact problem, or the nearest one whose schedule is legal there too.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "db/store.h"
#include "dsl/read_algorithm_live.h"

namespace kiln::generators::halide_plugin {

enum class Missing : std::uint8_t {
  nearest,  // another problem's choice, with a warning
  error,
};

struct Request {
  std::string db;                     // the store's path, for messages
  Missing missing = Missing::nearest;
  std::string device;                 // the beginning of a device's digest, where the store knows several; empty: the only one
};

struct Chosen {
  Algorithm algorithm;                // as the store keeps it
  std::string problem;                // whose choice it is
  Schedule schedule;
  std::optional<std::string> warning; // why it is not the exact one
};

// Throws UsageError: no such algorithm, no choice, no estimates, several devices; each with what there is.
Chosen choose_for(db::Store& store, const LivePipeline& live, const Request& request);

}  // namespace kiln::generators::halide_plugin
