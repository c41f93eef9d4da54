#include "autotune/search/recombine.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace kiln::autotune {
namespace {

using schedules::Point;

constexpr std::size_t kParents = 5;          // half of the children are of the best, a quarter of the next, and so on
constexpr int kTries = 40;
constexpr std::uint64_t kTwoStagesEvery = 4;

// The places of knobs that people choose, by stage.
std::vector<std::vector<std::size_t>> groups_of(const std::vector<schedules::KnobDeclaration>& knobs) {
  std::map<std::string, std::vector<std::size_t>> by_stage;
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    if (knobs[i].is_derived()) continue;
    const std::size_t dot = knobs[i].name.find('.');
    by_stage[dot == std::string::npos ? "" : knobs[i].name.substr(dot + 1)].push_back(i);
  }
  std::vector<std::vector<std::size_t>> groups;
  for (auto& [stage, places] : by_stage) groups.push_back(std::move(places));
  return groups;
}

std::vector<std::size_t> best_entries(const Ledger& ledger) {
  std::vector<std::size_t> entries;
  for (std::size_t i = 0; i < ledger.entries().size(); ++i)
    if (ledger.entries()[i].observed && ledger.entries()[i].trial.outcome) entries.push_back(i);
  std::sort(entries.begin(), entries.end(), [&](std::size_t a, std::size_t b) { return ledger.better(a, b); });
  if (entries.size() > kParents) entries.resize(kParents);
  return entries;
}

std::size_t choose(const std::vector<std::size_t>& entries, schedules::Random& random) {
  std::size_t place = 0;
  while (place + 1 < entries.size() && random.below(2) == 0) ++place;
  return entries[place];
}

}  // namespace

std::optional<Point> recombined(Ledger& ledger, Source source) {
  const std::vector<std::size_t> parents = best_entries(ledger);
  if (parents.empty() || (source == Source::good_point && parents.size() < 2)) return std::nullopt;
  schedules::Random& random = ledger.random();
  const std::vector<std::vector<std::size_t>> groups = groups_of(ledger.space().knobs());
  if (groups.size() < 2) return std::nullopt;  // the whole of another point is no new one
  for (int i = 0; i < kTries; ++i) {
    const std::size_t first = choose(parents, random);
    std::size_t second = first;
    while (source == Source::good_point && second == first) second = parents[random.below(parents.size())];
    const Point base = ledger.entries()[first].trial.point;
    const Point other = source == Source::draw ? ledger.space().sample_by_form(random) : ledger.entries()[second].trial.point;
    std::vector<std::size_t> taken = groups[random.below(groups.size())];
    if (random.below(kTwoStagesEvery) == 0) {
      const std::vector<std::size_t>& more = groups[random.below(groups.size())];
      taken.insert(taken.end(), more.begin(), more.end());
    }
    const Point child = ledger.space().with(base, other, taken);
    if (!ledger.find(child) && ledger.space().is_valid(child)) return child;
  }
  return std::nullopt;
}

}  // namespace kiln::autotune
