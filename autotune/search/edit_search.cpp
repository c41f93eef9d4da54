#include "autotune/search/edit_search.h"

#include <algorithm>
#include <iterator>

namespace kiln::autotune {
namespace {

using schedules::Edit;

// Schedules that are edited at one time, none slower than this much of the best. Half of the proposals are of the best, a quarter of the next, and so on.
constexpr std::size_t kBases = 6;
constexpr double kWorthEditing = 1.5;
// Of so many proposals one takes two steps at once: what pays only together is not found one step at a time.
constexpr std::uint64_t kTwoStepsEvery = 3;
// Illegal and known ones among the edits cost microseconds, but not none.
constexpr int kLooks = 400;

}  // namespace

EditSearch::EditSearch(std::shared_ptr<const Algorithm> algorithm, const Problem& problem, const Device& device, std::uint64_t seed)
    : algorithm_(std::move(algorithm)), editor_(*algorithm_, problem, device), legality_(*algorithm_, &problem), random_(seed) {}

void EditSearch::learn(const Schedule& schedule, double ratio) {
  if (schedule.is_opaque()) return;
  const auto same = std::find_if(bases_.begin(), bases_.end(), [&](const Base& base) { return base.schedule == schedule; });
  if (same != bases_.end()) {
    same->ratio = ratio;
  } else {
    bases_.push_back({schedule, ratio});
  }
  std::stable_sort(bases_.begin(), bases_.end(), [](const Base& a, const Base& b) { return a.ratio < b.ratio; });
}

void EditSearch::open(Base& base) {
  base.is_open = true;
  for (Edit& edit : editor_.edits(base.schedule)) base.ahead[edit.kind].push_back(std::move(edit));
  for (auto& [kind, edits] : base.ahead) random_.shuffle(edits);
}

EditSearch::Base* EditSearch::choose_base() {
  Base* last = nullptr;
  std::size_t seen = 0;
  for (Base& base : bases_) {
    if (seen == kBases || base.ratio > kWorthEditing * bases_.front().ratio) break;
    if (!base.is_open) open(base);
    if (base.ahead.empty()) continue;
    ++seen;
    last = &base;
    if (random_.below(2) == 0) break;
  }
  return last;
}

// Each kind of edit has the same chance, however many edits it has.
std::optional<Edit> EditSearch::take(Base& base) {
  if (base.ahead.empty()) return std::nullopt;
  const auto kind = std::next(base.ahead.begin(), static_cast<std::ptrdiff_t>(random_.below(base.ahead.size())));
  Edit edit = std::move(kind->second.back());
  kind->second.pop_back();
  if (kind->second.empty()) base.ahead.erase(kind);
  return edit;
}

std::optional<Schedule> EditSearch::propose(const std::function<bool(const Digest&)>& is_known) {
  for (int look = 0; look < kLooks; ++look) {
    Base* base = choose_base();
    if (base == nullptr) return std::nullopt;
    std::optional<Edit> edit = take(*base);
    if (!edit) continue;
    if (legality_.find_illegal(edit->schedule)) continue;
    if (random_.below(kTwoStepsEvery) == 0) {
      std::vector<Edit> further = editor_.edits(edit->schedule);
      if (!further.empty()) {
        Edit& second = further[random_.below(further.size())];
        if (!legality_.find_illegal(second.schedule) && !is_known(digest(second.schedule))) return std::move(second.schedule);
      }
    }
    if (!is_known(digest(edit->schedule))) return std::move(edit->schedule);
  }
  return std::nullopt;
}

}  // namespace kiln::autotune
