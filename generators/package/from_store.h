// From the choices in force to a kernel set: stored bytes alone, no compiler and no plugin.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "db/choices.h"
#include "db/store.h"
#include "generators/package/kernel_set.h"

namespace kiln::generators::package {

struct SetRequest {
  std::string name;
  std::string version = "0.1.0";
  std::vector<std::string> operators;           // empty: all that have choices
  std::map<std::string, std::string> c_names;   // operator, or an entry in words as describe() gives it -> C name
  std::vector<db::DeviceId> devices;            // whose choices are packed; empty: the only device with choices
  std::set<std::string> excluded;               // builds by key (hex) that failed in a package
};

// What a variant of the set came from, in the order of entries and variants: for the exporter's checks and its rows in the store.
struct Origin {
  std::size_t entry = 0, variant = 0;
  db::AlgorithmId algorithm{};
  db::BuildId build{};
  db::DeviceId device{};                        // whose choice it is
  Digest build_key;
  std::optional<db::ChoiceId> choice;           // absent for generic variants
  std::optional<db::TrialId> trial;
  std::vector<std::string> problems;            // it is to be checked on, as text: its own, both ends of its bucket, or the generic cases
};

struct CollectedSet {
  KernelSet set;
  std::vector<Origin> origins;
  std::vector<std::string> left_out;            // problems whose choice has no kernel to pack, with the reason
};

// Throws UsageError when nothing is chosen and when several devices have choices (lists them), DataError when the store lacks
// bytes it must have.
CollectedSet collect(db::Store& store, const SetRequest& request);

}  // namespace kiln::generators::package
