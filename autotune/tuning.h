// One problem being tuned: its baseline, its batches, its finals. Everything learnt is in the store before the next step begins.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "autotune/entrant.h"
#include "schedules/space.h"

namespace kiln::autotune {

class Tuning {
 public:
  Tuning(Run& run, WorkItem item) : run_(run), item_(std::move(item)) {}

  const WorkItem& item() const { return item_; }

  // Reference, inputs, baseline, noise floor, what earlier runs know, the space and its search. False when neither a baseline nor anything else
  // could be built and run: the reasons are in the store and in a note.
  bool prepare();

  // Schedules to start from, tried before the search's own proposals: --try files, winners of neighbouring problems. Known and illegal ones are dropped.
  void add_seed(const Schedule& schedule, const std::string& origin);

  // Proposes, builds, checks and races a batch; false when nothing was left to propose.
  bool batch();

  // The best few against the baseline and what is chosen now, in fresh processes. Takes about `limit_s` at most.
  void finals(double limit_s);

  Prospect prospect() const;
  bool is_contended() const { return contended_; }
  bool has_resumed() const { return resumed_; }
  const std::string& subject() const { return prepared_.key; }
  double floor() const { return floor_; }
  // The best verified entrants so far, the baseline among them; best first.
  std::vector<Entrant> ranking() const;
  const Entrant& baseline() const { return *baseline_; }
  void tell(const std::string& phase, int done, int total) const;

 private:
  struct Settled {
    Entrant entrant;
    RaceResult result;
  };
  bool find_baseline();
  std::optional<Entrant> first_that_runs(const std::vector<Wish>& wishes);
  void measure_floor();
  bool deserves_another_try(const db::KnownOutcome& known) const;
  void remember();
  void open_search();
  std::vector<Wish> next_wishes(std::size_t count);
  std::vector<Wish> suspects_to_retry();
  std::vector<Entrant> admit(const std::vector<Wish>& wishes);
  std::vector<Settled> race(const std::vector<Entrant>& entrants, RaceOptions options);
  void screen_and_rank(std::vector<Entrant> entrants);
  void settle(Entrant entrant, const std::optional<generators::Rejection>& rejection);
  void observe(const Wish& wish, std::optional<double> ratio);
  std::optional<Entrant> incumbent() const;

  Run& run_;
  WorkItem item_;
  ObjectRef reference_;
  Prepared prepared_;
  std::optional<Entrant> baseline_;
  double baseline_ns_ = 0;
  double floor_ = 0;
  Clock::time_point floor_measured_{};
  bool contended_ = false;
  bool resumed_ = false;
  std::vector<Entrant> known_;            // verified and timed, the baseline left out
  std::map<Digest, bool> tried_;          // every schedule with an outcome; true: it is timed
  std::map<std::string, int> rejected_;
  int tried_count_ = 0;
  std::vector<Wish> seeds_;               // not proposed yet
  std::set<Digest> suspects_;             // schedules under which an earlier run died
  std::vector<Wish> postponed_;           // suspects that were proposed again: each waits for a batch of its own
  std::unique_ptr<Search> search_;
  std::string space_name_;
  std::optional<schedules::Space> space_;
  std::vector<double> best_after_batch_;
  double latest_batch_s_ = 1;
  bool exhausted_ = false;
  std::uint64_t races_ = 0;
};

}  // namespace kiln::autotune
