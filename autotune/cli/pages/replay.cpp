#include "autotune/cli/pages/replay.h"

#include <fmt/format.h>

#include "autotune/cli/pages/best.h"
#include "autotune/cli/pages/clocks.h"
#include "autotune/cli/pages/json.h"
#include "autotune/cli/text_table.h"
#include "autotune/cli/units.h"

namespace kiln::autotune::cli {
namespace {

std::string comparison(const ReplayOutcome& outcome) {
  if (outcome.is_baseline) return "it is the baseline\n";
  const Ratio& ratio = outcome.to_baseline;
  const double margin = tie_margin(outcome.floor);
  const bool is_tie = ratio.contains(1) || (ratio.value > 1 - margin && ratio.value < 1 + margin);
  std::string text = is_tie ? fmt::format("tie ({:.2f}–{:.2f})", 1 / ratio.high, 1 / ratio.low)
                            : print_speedup(1 / ratio.value, 1 / ratio.high, 1 / ratio.low);
  if (outcome.contended) text += ", contended: the machine was too noisy to say";
  if (outcome.earlier_ratio) text += fmt::format("; before: {:.2f}x", 1 / *outcome.earlier_ratio);
  return text + "\n";
}

}  // namespace

std::string print_replay(const ReplayOutcome& outcome) {
  std::string text = fmt::format("{}\ncandidate {}\n", outcome.problem, outcome.candidate);
  if (outcome.rejection) return text + fmt::format("rejected: {}\n{}", print(outcome.rejection->reason), indented(outcome.rejection->text, "  "));
  if (!outcome.value_ns || !outcome.baseline_ns) return text + "not measured: stopped before its race\n";
  text += fmt::format("{} a call; baseline ({}) {}; noise {}\n", print_ns(*outcome.value_ns), baseline_name(outcome.baseline_origin, outcome.baseline),
                      print_ns(*outcome.baseline_ns), print_percent(outcome.floor));
  text += comparison(outcome);
  if (outcome.clocks) text += "\n" + print_clocks(*outcome.clocks, outcome.baseline_clocks);
  return text;
}

std::string replay_json(const ReplayOutcome& outcome) {
  const bool is_timed = outcome.value_ns && outcome.baseline_ns;
  Json json = {{"run", outcome.run},
               {"problem", outcome.problem},
               {"candidate", outcome.candidate},
               {"baseline", baseline_name(outcome.baseline_origin, outcome.baseline)},
               {"baseline_ns", or_null(outcome.baseline_ns)},
               {"value_ns", or_null(outcome.value_ns)},
               {"speedup", nullptr},
               {"speedup_low", nullptr},
               {"speedup_high", nullptr},
               {"earlier_speedup", outcome.earlier_ratio ? Json(1 / *outcome.earlier_ratio) : Json(nullptr)},
               {"noise", outcome.floor},
               {"contended", outcome.contended},
               {"rejected", nullptr}};
  if (is_timed) {
    json["speedup"] = 1 / outcome.to_baseline.value;
    json["speedup_low"] = 1 / outcome.to_baseline.high;
    json["speedup_high"] = 1 / outcome.to_baseline.low;
  }
  if (outcome.rejection) json["rejected"] = {{"reason", print(outcome.rejection->reason)}, {"text", outcome.rejection->text}};
  json["clocks"] = outcome.clocks ? clocks_json(*outcome.clocks) : Json(nullptr);
  json["baseline_clocks"] = outcome.baseline_clocks ? clocks_json(*outcome.baseline_clocks) : Json(nullptr);
  return json.dump(2) + "\n";
}

}  // namespace kiln::autotune::cli
