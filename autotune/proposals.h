// What is tried next of one problem, each schedule once: seeds, the search of its space, edits of the best schedules, and suspects in batches of their
// own. Remembers every schedule that has an outcome, of this run or an earlier one.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "autotune/entrant.h"
#include "autotune/search/mixed_search.h"

namespace kiln::autotune {

// What was cut as too slow was timed all the same: roughly its ratio, nothing for any other rejection. A search that starts among slow candidates
// has to tell the less slow from the others.
std::optional<double> ratio_when_cut(const generators::Rejection& rejection, double baseline_ns);

class Proposals {
 public:
  // Takes over what earlier runs know of the problem.
  Proposals(Run& run, WorkItem item);

  // The search of the problem, told what became of earlier trials: of the plugin's own space where its author wrote one, else of ours. What a
  // plugin's space does wrong ends its points, not the run. The baseline's time turns the times of what was cut as too slow into ratios.
  void open(const SearchPlan& plan, double baseline_ns);

  // These and no others, in this order.
  void open(const std::vector<Wish>& planned);

  // Dropped when it is known or illegal.
  void add_seed(const Schedule& schedule, const std::string& origin);

  const std::vector<Wish>& seeds() const { return seeds_; }  // that are not proposed yet

  // The next `count` schedules without an outcome; one alone when it is a suspect. Empty: nothing is left.
  std::vector<Wish> next(std::size_t count);

  // A schedule has been built and checked, or was rejected on the way.
  void count(const Digest& schedule, const std::optional<generators::Rejection>& rejection);
  // One that was counted is rejected after all, by a race.
  void reject(const generators::Rejection& rejection);
  // What the search learns: the ratio of its last race, nothing when it has none.
  void observe(const Wish& wish, std::optional<double> ratio);

  bool knows(const Digest& schedule) const { return known_.contains(schedule); }
  bool has_resumed() const { return resumed_; }
  bool is_exhausted() const { return exhausted_; }
  int tried() const { return static_cast<int>(known_.size()); }
  const std::map<std::string, int>& rejected() const { return rejected_; }

 private:
  bool is_new(const Wish& wish, std::set<Digest>& batch);
  std::vector<Wish> suspects_to_retry() const;
  bool deserves_another_try(const db::KnownOutcome& known) const;
  std::unique_ptr<Proposer> make_proposer(const SearchPlan& plan) const;
  std::vector<PastSuggestion> past_suggestions(const std::string& space, double baseline_ns) const;
  std::optional<Idea> propose(const std::set<Digest>& batch);
  Wish wish_of(Idea idea) const;
  void note_failed_space(const std::string& why);

  Run& run_;
  WorkItem item_;
  std::set<Digest> known_;               // every schedule with an outcome
  std::map<std::string, int> rejected_;  // by reason
  std::vector<Wish> seeds_;              // not proposed yet
  std::set<Digest> suspects_;            // schedules under which an earlier run died
  std::vector<Wish> postponed_;          // suspects that were proposed again
  std::optional<MixedSearch> search_;    // once it is open
  bool resumed_ = false;
  bool exhausted_ = false;
};

}  // namespace kiln::autotune
