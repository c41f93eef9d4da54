#include "autotune/cli/pages/choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "autotune/choose.h"
#include "autotune/cli/pages/best.h"
#include "autotune/cli/pages/json.h"
#include "autotune/cli/pages/rows.h"
#include "autotune/cli/text_table.h"
#include "autotune/cli/units.h"
#include "db/demand.h"
#include "db/status.h"
#include "dsl/error.h"

namespace kiln::autotune::cli {
namespace {

constexpr std::size_t kMostStandings = 6;

Standing standing_of(db::Store& store, const db::StoredVerdict& stored, const db::Placed& placed) {
  const db::ContenderRow& contender = stored.contenders[placed.contender];
  Standing standing;
  standing.candidate = db::schedule(store, contender.schedule).digest.short_hex();
  standing.origin = contender.contender.is_baseline ? contender.schedule_origin + ", baseline" : contender.schedule_origin;
  standing.standing = db::print(placed.standing);
  std::replace(standing.standing.begin(), standing.standing.end(), '_', ' ');
  if (!placed.against_baseline) return standing;
  standing.time_ns = placed.median_value_ns;
  standing.speedup = 1 / placed.against_baseline->ratio;
  standing.speedup_low = 1 / placed.against_baseline->hi;
  standing.speedup_high = 1 / placed.against_baseline->lo;
  return standing;
}

void set_served(ChoicePage& page, db::Store& store, const db::StoredChoice& choice) {
  page.decision = choice.row.decision;
  page.why = choice.row.why;
  page.calls = choice.row.calls.value_or(0);
  if (choice.row.baseline_ns && choice.row.ratio) page.saved_ns_per_call = *choice.row.baseline_ns * (1 - *choice.row.ratio);
  if (choice.row.baseline) {
    const db::ScheduleRow baseline = db::schedule(store, db::trial(store, *choice.row.baseline).schedule);
    page.baseline = baseline_name(baseline.origin, baseline.text);
  }
  if (!choice.serving_trial) return;
  const db::ScheduleRow served = db::schedule(store, db::trial(store, *choice.serving_trial).schedule);
  page.candidate = served.digest.short_hex();
  page.schedule = served.text;
}

ChoicePage choose_one(db::Store& store, const db::ResultKey& key, double horizon_s) {
  const auto before = db::choice_in_force(store, key.problem, key.device);
  const auto demand = db::demand_of(store, key.problem);
  const db::StoredChoice choice = choose(store, key, std::nullopt, demand ? demand->calls_per_s * horizon_s : 0, horizon_s);
  ChoicePage page;
  page.problem = db::problem(store, key.problem).text;
  page.device = db::device(store, key.device).model;
  page.is_new = !before || before->serving_trial != choice.serving_trial;
  page.rulings = db::rulings_in_force(store, key.problem, key.device);
  set_served(page, store, choice);
  const db::StoredVerdict stored = db::verdict(store, key);
  for (const db::Placed& placed : stored.verdict.order) page.order.push_back(standing_of(store, stored, placed));
  return page;
}

std::string print_order(const std::vector<Standing>& order, bool colour) {
  TextTable table;
  table.column("  candidate").column("from").column("standing").column("time", Align::right).column("speedup (95 %)");
  for (std::size_t i = 0; i < std::min(order.size(), kMostStandings); ++i) {
    const Standing& one = order[i];
    table.row({"  " + one.candidate, one.origin, one.standing, one.time_ns ? print_ns(*one.time_ns) : "-",
               one.speedup ? print_speedup(*one.speedup, *one.speedup_low, *one.speedup_high) : "-"});
  }
  std::string text = table.print(colour);
  if (order.size() > kMostStandings) text += fmt::format("  … {} more\n", order.size() - kMostStandings);
  return text;
}

std::string print_choice(const ChoicePage& page, bool colour) {
  std::string text = fmt::format("{}: {}\n", page.problem, page.candidate.empty() ? "nothing to ship" : page.candidate + (page.is_new ? " (new)" : ""));
  text += fmt::format("  {}: {}\n", page.decision, page.why);
  if (page.calls > 0 && page.saved_ns_per_call && *page.saved_ns_per_call > 0)
    text += fmt::format("  saves {} a call against {}, {} over {} calls\n", print_ns(*page.saved_ns_per_call), page.baseline,
                        print_ns(*page.saved_ns_per_call * page.calls), print_count(static_cast<std::int64_t>(page.calls)));
  for (const db::Ruling& ruling : page.rulings) text += fmt::format("  {} since {}: {}\n", ruling.kind, print_time(ruling.at), ruling.why);
  if (!page.order.empty()) text += print_order(page.order, colour);
  return text;
}

void require_one_problem(db::Store& store, const RulingWish& wish, const std::vector<db::CandidateName>& names) {
  if (wish.what == RulingWish::What::pin && names.size() > 1) one_candidate(store, wish.candidate, wish.problem);
}

std::string lift(db::Store& store, const db::CandidateName& name, bool& lifted) {
  std::string line;
  for (const db::DeviceId device : db::devices(store))
    for (const db::Ruling& ruling : db::rulings_in_force(store, name.problem, device)) {
      if (ruling.schedule != name.schedule) continue;
      db::lift_ruling(store, ruling.id);
      lifted = true;
      line = fmt::format("{}: the {} is lifted", db::problem(store, name.problem).text, ruling.kind);
    }
  return line;
}

std::string record(db::Store& store, const db::CandidateName& name, const RulingWish& wish) {
  const bool is_pin = wish.what == RulingWish::What::pin;
  db::Ruling ruling;
  ruling.kind = is_pin ? "pin" : "ban";
  ruling.problem = name.problem;
  ruling.schedule = name.schedule;
  ruling.why = wish.why.empty() ? "pinned with `kiln choose`" : wish.why;
  db::record_ruling(store, ruling);
  return fmt::format("{}: {} is {}", db::problem(store, name.problem).text, db::schedule(store, name.schedule).digest.short_hex(),
                     is_pin ? "pinned" : "banned: " + ruling.why);
}

}  // namespace

std::vector<std::string> rule(db::Store& store, const RulingWish& wish) {
  if (wish.what == RulingWish::What::ban && wish.why.empty())
    throw UsageError("--ban needs --why TEXT: a ban without its reason cannot be judged later");
  const std::vector<db::CandidateName> names = candidates_meant(store, wish.candidate, wish.problem);
  require_one_problem(store, wish, names);
  auto all = store.transaction("record a ruling in");
  std::vector<std::string> lines;
  bool lifted = false;
  for (const db::CandidateName& name : names) {
    const std::string line = wish.what == RulingWish::What::lift ? lift(store, name, lifted) : record(store, name, wish);
    if (!line.empty()) lines.push_back(line);
  }
  if (wish.what == RulingWish::What::lift && !lifted) throw UsageError(fmt::format("--lift {}: there is neither a pin nor a ban of it", wish.candidate));
  all.commit();
  return lines;
}

std::vector<ChoicePage> choose_all(db::Store& store, double horizon_s) {
  std::vector<ChoicePage> pages;
  for (const db::ResultKey& key : db::result_keys(store)) pages.push_back(choose_one(store, key, horizon_s));
  return pages;
}

std::string print_choices(const std::vector<ChoicePage>& pages, bool colour) {
  if (pages.empty()) return "nothing to choose from: no final race in this store\n";
  std::string text;
  for (const ChoicePage& page : pages) text += (text.empty() ? "" : "\n") + print_choice(page, colour);
  return text;
}

std::string choices_json(const std::vector<ChoicePage>& pages) {
  Json array = Json::array();
  for (const ChoicePage& page : pages) {
    Json order = Json::array(), rulings = Json::array();
    for (const Standing& one : page.order)
      order.push_back({{"candidate", one.candidate}, {"origin", one.origin}, {"standing", one.standing}, {"time_ns", or_null(one.time_ns)},
                       {"speedup", or_null(one.speedup)}, {"speedup_low", or_null(one.speedup_low)}, {"speedup_high", or_null(one.speedup_high)}});
    for (const db::Ruling& ruling : page.rulings) rulings.push_back({{"kind", ruling.kind}, {"why", ruling.why}, {"at", ruling.at}});
    array.push_back({{"problem", page.problem}, {"device", page.device}, {"decision", page.decision}, {"candidate", page.candidate},
                     {"schedule", page.schedule}, {"why", page.why}, {"baseline", page.baseline}, {"calls", page.calls},
                     {"saved_ns_per_call", or_null(page.saved_ns_per_call)}, {"is_new", page.is_new}, {"rulings", rulings}, {"order", order}});
  }
  return array.dump(2) + "\n";
}

}  // namespace kiln::autotune::cli
