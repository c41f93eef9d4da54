#include "autotune/cli/verbs/verbs.h"

namespace kiln::autotune::cli {

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> all = {
      {"doctor", "what this machine can do, what is missing, how to get it", "kiln doctor", declare_doctor},
      {"list", "operators, spaces or devices that are known", "kiln list operators --load libmine.so", declare_list},
      {"tune", "search, check and measure until the time is up, then choose",
       "kiln tune matmul --problem 'matmul(m=256, n=1024, k=1024)' --for 10m", declare_tune},
      {"status", "what has been done, also while a tuner runs", "kiln status --db night.db", declare_status},
      {"best", "per problem the baseline, the best, and what the difference is worth", "kiln best --json", declare_best},
      {"choose", "what to ship and why; pin or ban a candidate", "kiln choose --ban 3f2a91c0 --why 'wrong on the old machines'", declare_choose},
      {"report", "a page about the runs: results, losses, random search, conditions", "kiln report --since 1b9e", declare_report},
      {"explain", "a candidate's resources, what binds it, what would help",
       "kiln explain --schedule my.sched --problem 'matmul(m=256, n=1024, k=1024)'", declare_explain},
      {"replay", "build, check and measure a stored candidate again", "kiln replay 3f2a91c0", declare_replay},
      {"export", "the chosen kernels as a C library that applications link", "kiln export --set night -o night-package", declare_export},
      {"bundle", "plan and build for a GPU that is elsewhere, with the program that measures there",
       "kiln bundle swiglu --problem 'swiglu(m=256, n=4096, bf16)' --device h200 -o h200-bundle", declare_bundle},
      measure_verb(),
      {"demand import", "take in files of counted problems", "kiln demand import calls.txt", declare_demand_import},
      {"demand show", "what is called how often, and which of it is tuned", "kiln demand show", declare_demand_show},
      {"db check", "is the store whole?", "kiln db check --db night.db", declare_db_check},
      {"db merge", "take in the results of other stores", "kiln db merge other.db", declare_db_merge},
      {"db export", "results for other tools", "kiln db export --format csv > results.csv", declare_db_export},
      {"db vacuum", "give back the space of deleted rows", "kiln db vacuum", declare_db_vacuum},
  };
  return all;
}

}  // namespace kiln::autotune::cli
