// The verbs of the program; each declares its flags and returns what it does. One file a verb, named after it.
#pragma once

#include "autotune/cli/verb.h"

namespace kiln::autotune::cli {

Action declare_doctor(CLI::App& flags);
Action declare_list(CLI::App& flags);
Action declare_tune(CLI::App& flags);
Action declare_status(CLI::App& flags);
Action declare_best(CLI::App& flags);
Action declare_choose(CLI::App& flags);
Action declare_report(CLI::App& flags);
Action declare_explain(CLI::App& flags);
Action declare_replay(CLI::App& flags);
Action declare_export(CLI::App& flags);
Action declare_bundle(CLI::App& flags);
Action declare_demand_import(CLI::App& flags);
Action declare_demand_show(CLI::App& flags);
Action declare_db_check(CLI::App& flags);
Action declare_db_merge(CLI::App& flags);
Action declare_db_export(CLI::App& flags);
Action declare_db_vacuum(CLI::App& flags);

Verb measure_verb();  // whole: the program of a bundle has no other

}  // namespace kiln::autotune::cli
