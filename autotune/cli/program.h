// The command line as a whole: from arguments to a verb's action.
#pragma once

#include <string>
#include <vector>

#include "autotune/cli/verb.h"

namespace kiln::autotune::cli {

// What the command line asks for. `text` alone (a help page, the version) is printed and ends with 0.
struct Asked {
  std::string text;
  Action action;
  Common common;
};

// `arguments` without the program's name; `db_from_environment` is $KILN_DB, empty when it is not set. Throws UsageError for an unknown verb or
// flag (naming the nearest), a flag without its value, a word that belongs to no flag.
Asked understand(const std::vector<Verb>& verbs, const std::vector<std::string>& arguments, const std::string& db_from_environment);

// The help page of a verb ("demand import"), of a group ("demand"), or of the program (empty).
std::string help_page(const std::vector<Verb>& verbs, const std::string& name);

// The arguments as a shell would read them back.
std::string as_typed(const std::vector<std::string>& arguments, const std::string& program = "kiln");

}  // namespace kiln::autotune::cli
