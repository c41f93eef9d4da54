#include "autotune/search/proposer.h"

#include "dsl/error.h"

namespace kiln::autotune {
namespace {

class SpaceProposer : public Proposer {
 public:
  SpaceProposer(schedules::Space space, const SearchPlan& plan) : space_(std::move(space)), search_(make_search(space_, plan)) {}

  const std::string& space() const override { return space_.name(); }

  std::optional<Suggestion> propose() override {
    const std::optional<Proposal> proposal = search_->propose();
    if (!proposal) return std::nullopt;
    return Suggestion{space_.schedule(proposal->point), print(proposal->point), proposal->phase};
  }

  void observe(const std::string& point, Outcome outcome) override { search_->observe(space_.parse(point), outcome); }

  void resume(const std::vector<PastSuggestion>& past) override {
    std::vector<Trial> trials;
    for (const PastSuggestion& one : past) {
      try {
        trials.push_back({space_.parse(one.point), one.phase, one.outcome});
      } catch (const UsageError&) {
        // Its schedule is known all the same, by its digest.
      }
    }
    search_->resume(trials);
  }

 private:
  schedules::Space space_;
  std::unique_ptr<Search> search_;
};

}  // namespace

std::unique_ptr<Proposer> make_proposer(schedules::Space space, const SearchPlan& plan) {
  return std::make_unique<SpaceProposer>(std::move(space), plan);
}

}  // namespace kiln::autotune
