// autoschedule: the schedule that one of Halide's autoschedulers finds for the problem's extents.
//   autoschedule(scheduler, key=value, …)               stands alone; a process with a capped memory makes the pipeline
//   legal when:  the scheduler ships with Halide and knows the keys: Halide itself accepts any key and ignores it.
//   numerics:    unknown.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "dsl/algorithm.h"
#include "dsl/directive.h"
#include "dsl/text_cursor.h"

namespace kiln::directive {

struct Autoschedule {
  static DirectiveSpec spec() {
    return {.name = "autoschedule",
            .sentence = "the schedule that one of Halide's autoschedulers finds",
            .signatures = {{{{"scheduler", ParameterKind::word}}},
                           {{{"scheduler", ParameterKind::word}, {"key=value", ParameterKind::key_value}}, 1}},
            .is_opaque = true,
            .numerics = NumericsEffect::unknown,
            .refuse_alone = refuse};
  }

  // The AutoschedulerParams that each one reads, of those that have a meaning on a CPU.
  static const std::map<std::string, std::vector<std::string>>& keys_by_scheduler() {
    static const std::map<std::string, std::vector<std::string>> kKeys = {
        {"Adams2019", {"parallelism", "beam_size", "random_dropout", "random_dropout_seed", "memory_limit"}},
        {"Li2018", {"parallelism"}},
        {"Mullapudi2016", {"parallelism", "last_level_cache_size", "balance"}},
    };
    return kKeys;
  }

  static std::string refuse(const Directive& directive, const Algorithm&) {
    const std::string& scheduler = std::get<std::string>(directive.arguments[0]);
    const auto known = keys_by_scheduler().find(scheduler);
    if (known == keys_by_scheduler().end()) {
      std::vector<std::string> names;
      for (const auto& [name, keys] : keys_by_scheduler()) names.push_back(name);
      return fmt::format("there is no autoscheduler '{}'; there are {}", scheduler, listed(names));
    }
    for (std::size_t i = 1; i < directive.arguments.size(); ++i) {
      const std::string& argument = std::get<std::string>(directive.arguments[i]);
      const std::string key = argument.substr(0, argument.find('='));
      if (std::find(known->second.begin(), known->second.end(), key) == known->second.end())
        return fmt::format("{} has no key '{}'; its keys are {}", scheduler, key, listed(known->second));
    }
    return {};
  }
};

}  // namespace kiln::directive
