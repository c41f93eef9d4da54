// kiln choose
#include <CLI/CLI.hpp>

#include "autotune/cli/arguments.h"
#include "autotune/cli/open_store.h"
#include "autotune/cli/pages/choice.h"
#include "autotune/cli/print.h"
#include "autotune/cli/text_table.h"
#include "autotune/cli/verbs/verbs.h"
#include "db/demand.h"
#include "dsl/error.h"

namespace kiln::autotune::cli {
namespace {

struct Flags {
  std::string pin, ban, lift, why, problem, horizon;
};

std::vector<RulingWish> wishes(const Flags& flags) {
  using What = RulingWish::What;
  std::vector<RulingWish> all;
  for (const auto& [what, candidate] : {std::pair(What::pin, flags.pin), {What::ban, flags.ban}, {What::lift, flags.lift}})
    if (!candidate.empty()) all.push_back({what, candidate, flags.problem, flags.why});
  if (all.size() > 1) throw UsageError("--pin, --ban and --lift exclude each other");
  if (all.empty() && !flags.why.empty()) throw UsageError("--why belongs to --pin or --ban");
  if (all.empty() && !flags.problem.empty()) throw UsageError("--problem belongs to --pin, --ban or --lift");
  return all;
}

}  // namespace

Action declare_choose(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("--pin", flags->pin, "take this candidate whatever the numbers say, if it is right")->option_text("CANDIDATE");
  app.add_option("--ban", flags->ban, "never take this candidate; needs --why")->option_text("CANDIDATE");
  app.add_option("--lift", flags->lift, "end its pin or ban")->option_text("CANDIDATE");
  app.add_option("--why", flags->why, "the reason, kept with the pin or ban")->option_text("TEXT");
  app.add_option("--problem", flags->problem, "only for this problem")->option_text("P");
  app.add_option("--horizon", flags->horizon, "weigh the calls of this long (default 30d)")->option_text("TIME");
  return [flags](const Common& common) {
    const double horizon_s = flags->horizon.empty() ? db::kDefaultHorizon_s : parse_duration("--horizon", flags->horizon);
    const std::vector<RulingWish> asked = wishes(*flags);
    db::Store store = open_to_write(common);
    for (const RulingWish& wish : asked)
      for (const std::string& line : rule(store, wish)) print_note(line);
    const std::vector<ChoicePage> pages = choose_all(store, horizon_s);
    print_result(common.json ? choices_json(pages) : print_choices(pages, stdout_takes_colour()));
    return kDone;
  };
}

}  // namespace kiln::autotune::cli
